/**
 * An endpoint is a declaration; one pipeline (pipeline.ts) runs them all. Plain endpoints answer at once and cost
 * nothing. Metered ones are admitted (model, capabilities, media), rate-limited, held for their worst case, worked on
 * and posted.
 */
import type { Static, TSchema } from "typebox";
import type { Right } from "../access/index.ts";
import type { Caller, Hold, HoldContext, Posted, PostInput, RateLimit } from "../budgets/port.ts";
import type { ApiError, ErrorCode } from "../errors/index.ts";
import { inTurns, type LongStrings, stringifyInSteps } from "../wire/index.ts";
import type { Call } from "./call.ts";
import type { FieldFile, FormFile, FormRules } from "./parse-form.ts";

/**
 * Credentials that callers may use: `none` for no credential, `key` for a Bearer key, `wallet` for a wallet's
 * signature.
 */
export type CallerKind = "none" | "key" | "wallet";

/** The answer of an endpoint, before the pipeline adds the headers that every answer has. */
export interface Answer {
	readonly status: number;
	readonly type: string;
	readonly body: string | Uint8Array | ReadableStream | null;
	readonly headers?: Readonly<Record<string, string>>;
	/** The compressed forms of a cached body by coding, filled on first use. */
	readonly packed?: Map<string, Uint8Array>;
}

/** Returns an answer with a JSON body. */
export function json(value: unknown, status = 200, headers?: Readonly<Record<string, string>>): Answer {
	return { status, type: "application/json", body: JSON.stringify(value), ...(headers ? { headers } : {}) };
}

/** Returns an answer with a large JSON body, written in turns of the event loop. */
export async function largeJson(value: unknown): Promise<Answer> {
	return { status: 200, type: "application/json", body: await inTurns(stringifyInSteps(value)) };
}

/** The caller's input after its schemas have checked it. */
export interface Input<Body, Query> {
	readonly body: Body;
	/** The body's bytes as received. In a large JSON body, long strings are cut to their beginning. */
	readonly raw: Uint8Array;
	/** The long strings of a large body; `body` and `raw` have only their beginnings. */
	readonly long: LongStrings;
	readonly query: Query;
	readonly params: Readonly<Record<string, string>>;
	/** The file of a form; null if there is none. */
	readonly file: FormFile | null;
	/** All files of a form, in the form's order. */
	readonly files: readonly FieldFile[];
}

/** Settles the money of a metered request: it is posted or voided once, by the first call. */
export interface Settlement {
	/** Amount held. */
	readonly heldNano: number;
	/** Posts the real price; returns null if the request was settled before. The pipeline waits for its durability. */
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
	 * Returns the stored answer to an earlier identical request, if any. It is sent as it is, without a hold and without
	 * a post. Called after the rate limits and before the hold.
	 */
	replay?(): Promise<Answer | null>;
	hold(context: HoldContext): Hold | Promise<Hold>;
	/**
	 * Does the work and settles. A whole answer must be posted when this resolves. A streamed answer settles before its
	 * last event, and `ended` resolves when it has ended.
	 */
	work(settlement: Settlement): Promise<MeteredAnswer>;
}

/** A minute window of an account. */
export interface MinuteWindow {
	/** null: each model has its own window. */
	readonly subject: string | null;
	readonly limit: RateLimit;
}

/** The part of its minute window that a request uses. */
export interface AdmissionRate {
	readonly subject: string;
	readonly limit: RateLimit;
	readonly promptTokens: number;
	/** Converts the refusal to the form of this route; its answers then have no x-ratelimit-* headers of their own. */
	refused?(error: ApiError): ApiError;
}

export interface MeteredAnswer extends Answer {
	/** Present if `body` is a stream: resolves when it has ended and settled. */
	readonly ended?: Promise<void>;
}

/** The 200 answer, as the API document describes it. */
export interface DeclaredAnswer {
	readonly type: string;
	readonly schema?: TSchema;
	readonly description: string;
	/** Further media types of the answer. */
	readonly others?: Readonly<Record<string, TSchema>>;
	/**
	 * Present if the answer can be a stream of events: the JSON schema of an event's data, under a name for generated
	 * clients.
	 */
	readonly events?: { readonly name: string; readonly schema: TSchema; readonly lastData?: string };
}

interface Declaration<Body extends TSchema, Query extends TSchema> {
	readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
	/** The path below /api/v1, or below the prefix of its application, in Hono's syntax. */
	readonly path: string;
	/** Short name for post records, logs and key restrictions. */
	readonly name: string;
	readonly tag: string;
	readonly summary: string;
	readonly description?: string;
	/** True on routes that an OpenAI SDK calls: `error` is an object there. */
	readonly openAi: boolean;
	/**
	 * True on routes that an Anthropic SDK calls: its error form, its key header, and its header for the request's id.
	 */
	readonly anthropic?: boolean;
	/** True on routes that x402 clients pay on: `error` is the machine code there, and `message` the text. */
	readonly x402?: boolean;
	readonly callers: readonly CallerKind[];
	/** `ADMIN` refuses INFERENCE keys; `OPERATOR` refuses also ADMIN keys of accounts other than the operator's. */
	readonly right?: Right;
	/**
	 * `required` or `optional` if the endpoint accepts an Idempotency-Key header, for the API document.
	 * `readIdempotencyKey` reads it.
	 */
	readonly idempotencyKey?: "required" | "optional";
	readonly body?: {
		readonly schema: Body;
		readonly maxBytes: number;
		/** True: a null field differs from an absent one, and the schema defines its meaning. */
		readonly keepNulls?: boolean;
		/** Members known beside those of the schema; other spellings of them are refused. */
		readonly alsoKnown?: TSchema;
		/** Wrong names that callers use for a field. The message about the unknown field names the right one. */
		readonly misnamed?: Readonly<Record<string, string>>;
		/**
		 * Converts a body that clients send in another form to the schema's form; returns null if it has that form
		 * already. Runs before the schema checks the body.
		 * @throws ApiError 400
		 */
		rewrite?(body: Readonly<Record<string, unknown>>, long: LongStrings): Readonly<Record<string, unknown>> | null;
		/** Media types that count as JSON here, beside application/json. */
		readonly mediaTypes?: readonly string[];
		/** True: the endpoint reads the bytes itself (`Input.raw`); the schema is for the API document. */
		readonly raw?: boolean;
		/** Present: the body is a form with files (multipart/form-data), and the schema checks its text fields. */
		readonly form?: FormRules;
	};
	/** Checks what the path names, before the caller is identified. Throws. */
	checkPath?(params: Readonly<Record<string, string>>): void;
	/** Checks headers, and the caller's rules for what the path names, before the body is read. Throws. */
	checkRequest?(call: Call, params: Readonly<Record<string, string>>): void;
	/**
	 * Returns true if the request may cost nothing. An account without money is then not refused before its body is
	 * read. A plain endpoint with this member refuses callers without money as a metered one does.
	 */
	mayBeFree?(call: Call): boolean;
	/**
	 * Returns true if the answer may be one that was paid before. A wallet without money is then not refused either.
	 */
	mayReplay?(call: Call): boolean;
	/** False: refusals do not count as failures of the caller, and do not block it. Default true. */
	readonly failureGuard?: boolean;
	readonly query?: Query;
	/** Error codes of the work that the declaration does not show, for the API document. */
	readonly codes?: readonly ErrorCode[];
	/** Further errors by status, where 404 is NOT_FOUND and 504 is REQUEST_TIMEOUT. */
	readonly errors?: readonly number[];
	readonly answer?: DeclaredAnswer;
}

export interface PlainEndpoint<Body extends TSchema = TSchema, Query extends TSchema = TSchema> extends Declaration<Body, Query> {
	readonly kind: "plain";
	/** True: requests count against `limits.listRequestsPerMinute`. */
	readonly listLimit: boolean;
	/** A limit of its own for each account, in place of `listLimit`. */
	readonly minuteLimit?: { readonly subject: string; readonly requests: () => number };
	run(input: Input<Static<Body>, Static<Query>>, call: Call): Answer | Promise<Answer>;
}

export interface MeteredEndpoint<Body extends TSchema = TSchema, Query extends TSchema = TSchema>
	extends Declaration<Body, Query> {
	readonly kind: "metered";
	/**
	 * Returns the minute window that a refusal reports while the model is not known. Left out: the route's refusals have
	 * no x-ratelimit-* headers.
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

/** Declares an endpoint that runs the whole metered pipeline. */
export function metered<Body extends TSchema, Query extends TSchema>(
	declaration: Omit<MeteredEndpoint<Body, Query>, "kind">,
): Endpoint {
	return { ...declaration, kind: "metered" } as unknown as Endpoint;
}
