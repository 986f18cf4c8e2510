/**
 * An endpoint is a declaration; the pipeline (pipeline.ts) runs them all along one road. Plain endpoints
 * answer at once and cost nothing. Metered ones are admitted (model, capabilities, media), rate-limited, held
 * for their worst case, worked on and posted.
 */
import type { Static, TSchema } from "typebox";
import type { Right } from "../access/index.ts";
import type { Caller, Hold, HoldContext, Posted, PostInput, RateLimit } from "../budgets/port.ts";
import type { ApiError, ErrorCode } from "../errors/index.ts";
import { inTurns, type LongStrings, stringifyInSteps } from "../wire/index.ts";
import type { Call } from "./call.ts";
import type { FieldFile, FormFile, FormRules } from "./parse-form.ts";

/** Who may call: `none` without any credential, `key` with a Bearer key, `wallet` with a wallet's signature. */
export type CallerKind = "none" | "key" | "wallet";

/** What goes back, before the pipeline adds the headers that every answer has. */
export interface Answer {
	readonly status: number;
	readonly type: string;
	readonly body: string | Uint8Array | ReadableStream | null;
	readonly headers?: Readonly<Record<string, string>>;
	/** Of a body that is kept and goes out again: its compressed forms, by their names, filled as they are asked for. */
	readonly packed?: Map<string, Uint8Array>;
}

/** An answer with a JSON body. */
export function json(value: unknown, status = 200, headers?: Readonly<Record<string, string>>): Answer {
	return { status, type: "application/json", body: JSON.stringify(value), ...(headers ? { headers } : {}) };
}

/** The same for a large value, written in turns of the event loop. */
export async function largeJson(value: unknown): Promise<Answer> {
	return { status: 200, type: "application/json", body: await inTurns(stringifyInSteps(value)) };
}

/** The caller's input after its schemas. */
export interface Input<Body, Query> {
	readonly body: Body;
	/** The body's bytes as they came; of a large JSON body without the rest of its long strings. */
	readonly raw: Uint8Array;
	/** Strings of which `body` and `raw` have only the beginning (large bodies). */
	readonly long: LongStrings;
	readonly query: Query;
	readonly params: Readonly<Record<string, string>>;
	/** The file of a form; null where there is none. */
	readonly file: FormFile | null;
	/** All files of a form, in its order. */
	readonly files: readonly FieldFile[];
}

/** The end of a metered request's money: posted or voided once, whoever comes first. */
export interface Settlement {
	/** Amount held. */
	readonly heldNano: number;
	/** Posts the real price; null where it was settled before. The pipeline waits for its durability. */
	post(input: PostInput): Posted | null;
	void(): void;
	readonly settled: boolean;
}

/** A metered request past all checks of its content. */
export interface Admission {
	readonly model: string | null;
	/** Minute window: subject (usually the model's id), its limit and the prompt's estimate in tokens. */
	readonly rate: AdmissionRate;
	/**
	 * Asked after the rate limits and before the hold: an answer that this very request got before. It is sent as
	 * it is, without a hold and without a post.
	 */
	replay?(): Promise<Answer | null>;
	hold(context: HoldContext): Hold | Promise<Hold>;
	/**
	 * Does the work and settles. A whole answer must be posted when this resolves; an answer with a stream
	 * settles by itself before its last event, and says when it has ended (`ended`).
	 */
	work(settlement: Settlement): Promise<MeteredAnswer>;
}

/** A minute window of an account. */
export interface MinuteWindow {
	/** null: each model has one of its own. */
	readonly subject: string | null;
	readonly limit: RateLimit;
}

/** What a request takes of its minute window. */
export interface AdmissionRate {
	readonly subject: string;
	readonly limit: RateLimit;
	readonly promptTokens: number;
	/** Gives the refusal the form of this route; the route's answers then have no x-ratelimit-* headers of their own. */
	refused?(error: ApiError): ApiError;
}

export interface MeteredAnswer extends Answer {
	/** Present where `body` is a stream: resolves when it has ended and settled. */
	readonly ended?: Promise<void>;
}

/** The 200 answer, for the API document. */
export interface DeclaredAnswer {
	readonly type: string;
	readonly schema?: TSchema;
	readonly description: string;
	/** Its other media types. */
	readonly others?: Readonly<Record<string, TSchema>>;
	/** Present where it can be a stream of events: the JSON that is the data of one, under a name for generated clients. */
	readonly events?: { readonly name: string; readonly schema: TSchema; readonly lastData?: string };
}

interface Declaration<Body extends TSchema, Query extends TSchema> {
	readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
	/** Below /api/v1 (or what else its application is for), in Hono's syntax. */
	readonly path: string;
	/** Short name: in post records, logs and key restrictions. */
	readonly name: string;
	readonly tag: string;
	readonly summary: string;
	readonly description?: string;
	/** True on routes that an OpenAI SDK calls: `error` is an object there. */
	readonly openAi: boolean;
	/** True on routes that an Anthropic SDK calls: its error form, its header for the key, and the request's id as it reads it. */
	readonly anthropic?: boolean;
	/** True on routes that x402 clients pay on: `error` is the machine code there, and `message` the text. */
	readonly x402?: boolean;
	readonly callers: readonly CallerKind[];
	/** `ADMIN` where an INFERENCE key is refused, `OPERATOR` where ADMIN keys of other accounts than the operator's are too. */
	readonly right?: Right;
	/** Its Idempotency-Key header, for the API document: `readIdempotencyKey` reads it. */
	readonly idempotencyKey?: "required" | "optional";
	readonly body?: {
		readonly schema: Body;
		readonly maxBytes: number;
		/** True: null of a field is told apart from its absence, and the schema says what it means. */
		readonly keepNulls?: boolean;
		/** Members beside those of the schema that are known, so that other spellings of them are refused. */
		readonly alsoKnown?: TSchema;
		/** Names that callers mistake for a field's: the message about the unknown field names the right one. */
		readonly misnamed?: Readonly<Record<string, string>>;
		/**
		 * Says the same as the schema has it, for bodies that clients send in another form; null where the body is in ours.
		 * It sees the body before its schema does. Throws 400.
		 */
		rewrite?(body: Readonly<Record<string, unknown>>, long: LongStrings): Readonly<Record<string, unknown>> | null;
		/** Media types beside application/json that are JSON here. */
		readonly mediaTypes?: readonly string[];
		/** True: the endpoint reads the bytes itself (`Input.raw`); the schema is for the API document. */
		readonly raw?: boolean;
		/** Present: the body is a form with files (multipart/form-data), and its texts are what the schema checks. */
		readonly form?: FormRules;
	};
	/** Checks what the path names, before anybody is asked who they are. Throws. */
	checkPath?(params: Readonly<Record<string, string>>): void;
	/** Checks headers, and the caller's rules for what the path names, before the body is read. Throws. */
	checkRequest?(call: Call, params: Readonly<Record<string, string>>): void;
	/**
	 * True where the request may cost nothing: an account without money is then not refused before its body is read. A plain
	 * endpoint that has it refuses callers without money as a metered one does.
	 */
	mayBeFree?(call: Call): boolean;
	/** True where the answer may be one that was paid before: then a wallet without money is not refused either. */
	mayReplay?(call: Call): boolean;
	/** False: refusals are not counted as failures of the caller, and do not block it. Default true. */
	readonly failureGuard?: boolean;
	readonly query?: Query;
	/** Errors of its work that the declaration does not show, for the API document. */
	readonly codes?: readonly ErrorCode[];
	/** The same by status, where 404 is NOT_FOUND and 504 is REQUEST_TIMEOUT. */
	readonly errors?: readonly number[];
	readonly answer?: DeclaredAnswer;
}

export interface PlainEndpoint<Body extends TSchema = TSchema, Query extends TSchema = TSchema> extends Declaration<Body, Query> {
	readonly kind: "plain";
	/** True: counts against `limits.listRequestsPerMinute`. */
	readonly listLimit: boolean;
	/** A limit of its own in the place of that one, for each account. */
	readonly minuteLimit?: { readonly subject: string; readonly requests: () => number };
	run(input: Input<Static<Body>, Static<Query>>, call: Call): Answer | Promise<Answer>;
}

export interface MeteredEndpoint<Body extends TSchema = TSchema, Query extends TSchema = TSchema>
	extends Declaration<Body, Query> {
	readonly kind: "metered";
	/**
	 * The minute window that a refusal tells of while the model, and so the request's own window, is not known. Left out:
	 * the route's answers have no x-ratelimit-* headers.
	 */
	minuteWindow?(caller: Caller): MinuteWindow;
	admit(input: Input<Static<Body>, Static<Query>>, call: Call): Admission | Promise<Admission>;
}

export type Endpoint = PlainEndpoint | MeteredEndpoint;

/** Declares an endpoint that costs nothing. */
export function plain<Body extends TSchema, Query extends TSchema>(
	declaration: Omit<PlainEndpoint<Body, Query>, "kind">,
): Endpoint {
	return { ...declaration, kind: "plain" } as unknown as Endpoint;
}

/** Declares an endpoint that runs the whole metered road. */
export function metered<Body extends TSchema, Query extends TSchema>(
	declaration: Omit<MeteredEndpoint<Body, Query>, "kind">,
): Endpoint {
	return { ...declaration, kind: "metered" } as unknown as Endpoint;
}
