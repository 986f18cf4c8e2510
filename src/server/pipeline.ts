/**
 * The pipeline of a request, top to bottom. The order of the checks is that of docs/api.md:
 *
 *   path, method (app.ts) → what the path names → credential → failure guard
 *   → account, key type, endpoint, address rules → place, minimum balance
 *   → headers, rules for what the path names → content type → size, slow upload → JSON → schema
 *   → model, capabilities, media (admit) → key's model rule → rate limits → replay → money (hold)
 *   → work → post → answer
 *
 * A hold ends with its request, whatever happens. No success is sent before its post is durable.
 * Every answer has its X-Request-ID, and every error is one of the table.
 */

import { checkModelRule } from "../access/index.ts";
import type { Caller, RateState } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import { FairQueue, type Places } from "../fairness/index.ts";
import { type Nano, nano } from "../ledger/nano.ts";
import { type Checker, checker } from "../schema/index.ts";
import { type KnownMembers, LongStrings, nextTurn } from "../wire/index.ts";
import { Call } from "./call.ts";
import { CallerLeft, CLIENT_LEFT_ANSWER, requireConnected } from "./client-left.ts";
import type { Connection } from "./connection.ts";
import { bodyCoding, decompressBody } from "./decompress-body.ts";
import type {
	AdmissionRate,
	Answer,
	Endpoint,
	Input,
	MeteredAnswer,
	MeteredEndpoint,
	MinuteWindow,
	PlainEndpoint,
} from "./endpoint.ts";
import { asApiError, errorBody, errorForm, errorHeaders, errorStatus } from "./error-body.ts";
import { refuseIdempotencyKey } from "./idempotency-key.ts";
import { checkCaller, identify } from "./identify.ts";
import { knownMembersOf, refuseAmbiguousMembers } from "./known-members.ts";
import { pacedAnswer } from "./paced-answer.ts";
import {
	checkInput,
	parseable,
	parseJsonObject,
	refuseOtherModel,
	requireJson,
	withoutByteOrderMark,
	withoutNulls,
} from "./parse-body.ts";
import { type FieldFile, formOrJson, readForm, requireForm } from "./parse-form.ts";
import { type QueryRules, queryRules, readQuery } from "./parse-query.ts";
import type { PipelineDeps, PipelineSettings } from "./pipeline-deps.ts";
import { readBody } from "./read-body.ts";
import { createRequestId } from "./request-id.ts";
import { RequestObserver } from "./request-observer.ts";
import { answerHeaders, compressAhead, respond } from "./respond.ts";
import { settlementOf } from "./settle.ts";
import { noteStreamEnd } from "./stream-ends.ts";

/** The steps of larger bodies each get a turn of the event loop. */
const ONE_TURN_BYTES = 131_072;

/** Reads such bodies one at a time; one more may run for a caller that has none under way. */
const LARGE_BODIES = new FairQueue({
	places: 1,
	reserve: true,
	maxWaiting: 1_024,
	overflow: () =>
		new ApiError("SERVICE_UNAVAILABLE", { message: "Too many large bodies at once; try again shortly", retryAfterSeconds: 1 }),
});

/** An endpoint with its schemas compiled. */
export interface PreparedEndpoint {
	readonly endpoint: Endpoint;
	readonly body: Checker<NonNullable<Endpoint["body"]>["schema"]> | null;
	readonly query: QueryRules;
	readonly required: ReadonlySet<string>;
	/** The member names of a JSON body that may be spelled one way only; null without such a body. */
	readonly known: KnownMembers | null;
}

export function prepareEndpoint(endpoint: Endpoint): PreparedEndpoint {
	const { body } = endpoint;
	const schema = body?.schema as { required?: string[] } | undefined;
	return {
		endpoint,
		body: body ? checker(body.schema) : null,
		query: queryRules(endpoint, endpoint.query ? checker(endpoint.query) : null),
		required: new Set(schema?.required ?? []),
		known: body === undefined ? null : knownMembersOf(body.schema, ...(body.alsoKnown === undefined ? [] : [body.alsoKnown])),
	};
}

/** Runs one request through the whole pipeline. Never rejects. */
export async function handleRequest(
	prepared: PreparedEndpoint,
	request: Request,
	params: Readonly<Record<string, string>>,
	connection: Connection,
	deps: PipelineDeps,
): Promise<Response> {
	const { endpoint } = prepared;
	const call = new Call(createRequestId(), endpoint, request, deps.clock.wallMs(), connection);
	const settings = deps.settings();
	call.observer = observerOf(call, settings, deps);
	let answer: MeteredAnswer;
	try {
		call.observer?.step("identify");
		endpoint.checkPath?.(params);
		const reading = identify(call, settings, deps);
		if (reading !== null) await whileIdentifying(call, reading, deps.places);
		call.takePlace(deps.places);
		if (call.caller !== null) checkCaller(call, call.caller);
		endpoint.checkRequest?.(call, params);
		if (endpoint.kind === "metered") {
			answer = await runMetered(prepared, endpoint, params, call, settings, deps);
		} else {
			const paying =
				endpoint.mayBeFree === undefined || call.caller === null ? null : requirePayable(call, endpoint, call.caller, deps);
			if (paying !== null) await paying;
			const input = await readInput(prepared, params, call, settings, deps);
			const counting = takeMinuteRequest(call, endpoint, settings, deps);
			if (counting !== null) call.rate = counting instanceof Promise ? await counting : counting;
			call.observer?.step("work");
			answer = await endpoint.run(input, call);
		}
	} catch (thrown) {
		answer = errorAnswer(call, thrown, deps);
		call.rate ??= refusalRate(call, settings, deps);
	}
	const { headers, observer } = call;
	observer?.answered(answer.status);
	deps.traffic?.note(
		answer.status,
		deps.clock.wallMs() - call.admittedAtMs,
		headers["x-service-model-id"],
		headers["x-service-model-router"],
	);
	if (deps.log.level === "debug" || deps.log.level === "trace") logAnswer(call, answer, deps);
	let { ended } = answer;
	const packing = compressAhead(answer, request);
	if (packing !== null) answer = await packing;
	const response = respond(answer, answerHeaders(call.requestId, call, settings), request, settings, (bytes) => {
		const paced = pacedAnswer(bytes, call.signal, settings.upload);
		ended = paced?.ended;
		return paced?.body ?? null;
	});
	if (ended === undefined) call.end();
	else {
		noteStreamEnd(response, ended);
		void ended.then(() => call.end());
	}
	return response;
}

/**
 * Headers that may hold a key. A caller without them may send a payment. Its proof can take a minute, and it has no
 * account.
 */
const KEY_HEADERS = ["authorization", "x-api-key"] as const;

/** Identifies the caller. Until then the request counts in the share of its network. */
async function whileIdentifying(call: Call, reading: Promise<void>, places: Places): Promise<void> {
	try {
		const { headers } = call.request;
		const mayBeAccount = call.sessionKeyHash !== undefined || KEY_HEADERS.some((name) => headers.has(name));
		call.takePlace(places, call.pendingWallet ?? (mayBeAccount ? "unidentified" : undefined));
	} catch (error) {
		reading.catch(() => {});
		throw error;
	}
	try {
		await reading;
	} finally {
		call.leavePlace();
	}
}

async function runMetered(
	prepared: PreparedEndpoint,
	endpoint: MeteredEndpoint,
	params: Readonly<Record<string, string>>,
	call: Call,
	settings: PipelineSettings,
	deps: PipelineDeps,
): Promise<MeteredAnswer> {
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	if (endpoint.idempotencyKey === undefined) refuseIdempotencyKey(call.request);
	const full = deps.workRefusal();
	if (full !== null)
		throw new ApiError("SERVICE_UNAVAILABLE", { message: full.message, retryAfterSeconds: full.retryAfterSeconds });
	const paying = requirePayable(call, endpoint, caller, deps);
	if (paying !== null) await paying;
	const input = await readInput(prepared, params, call, settings, deps);
	const { observer } = call;
	observer?.step("admit");
	const admission = await endpoint.admit(input, call);
	observer?.admitted(admission.model);
	const { rate } = admission;
	if (rate.refused === undefined) call.window = rate;
	if (admission.model !== null) checkModelRule(caller, admission.model);
	observer?.step("limit");
	const counting = consumeRateLimit(caller, rate, deps);
	// This is awaited only if nodes share the window; elsewhere the request continues in the same turn.
	const rateState = counting instanceof Promise ? await counting : counting;
	if (rate.refused === undefined) call.rate = rateState;
	const replayed = admission.replay === undefined ? null : await admission.replay();
	if (replayed !== null) return replayed;
	observer?.step("hold");
	let hold: Awaited<ReturnType<typeof admission.hold>>;
	try {
		hold = await admission.hold({
			requestId: call.requestId,
			route: endpoint.name,
			model: admission.model,
			admittedAtMs: call.admittedAtMs,
		});
	} catch (error) {
		deps.budgets.settleTokens(caller, rate.subject, rate.promptTokens, 0, rateState);
		throw error;
	}
	const onPost = observer === null ? undefined : (...args: Parameters<RequestObserver["posted"]>) => observer.posted(...args);
	const settlement = settlementOf(deps.budgets, caller, { ...rate, state: rateState }, hold, onPost);
	observer?.step("work");
	let answer: MeteredAnswer | undefined;
	try {
		answer = await admission.work(settlement);
		// The cost of a stream is not known yet. With its whole hold deducted, the reported balance is never too high.
		if (caller.wallet !== null)
			call.balanceRemaining = caller.balances().usd - (answer.ended === undefined ? 0 : settlement.heldNano);
		if (answer.ended !== undefined) return answer;
		if (settlement.durable === null) throw new Error(`${endpoint.name} answered without a post`);
		observer?.step("post");
		await settlement.durable;
		return answer;
	} finally {
		if (answer?.ended === undefined) settlement.void();
	}
}

/** Bodies up to this size are read before their cost is known, if the caller has money. */
const SMALL_BODY_BYTES = 16_384;
const SMALLEST_AMOUNT: Nano = nano(1);

/**
 * Refuses a caller that cannot pay anything before its body is read, unless the request may cost nothing. A wallet
 * without money always pays. If this node knows of no money, it holds the smallest amount, so that the store checks the
 * balance. Returns null if no wait is needed.
 * @throws ApiError 402
 */
function requirePayable(call: Call, endpoint: Endpoint, caller: Caller, deps: PipelineDeps): Promise<void> | null {
	const { headers } = call.request;
	const { usd, diem } = caller.balances();
	const isSmall = Number(headers.get("content-length") ?? Number.NaN) <= SMALL_BODY_BYTES;
	if (isSmall && usd + diem > 0) return null;
	if (endpoint.mayBeFree?.(call) === true && (caller.wallet === null || endpoint.mayReplay?.(call) === true)) return null;
	const { requestId, admittedAtMs } = call;
	const hold = deps.budgets.hold(caller, { requestId, route: endpoint.name, model: null, admittedAtMs }, SMALLEST_AMOUNT);
	if (hold instanceof Promise) return hold.then((held) => held.void());
	hold.void();
	return null;
}

function consumeRateLimit(
	caller: Caller,
	{ subject, limit, promptTokens, refused }: AdmissionRate,
	deps: PipelineDeps,
): RateState | Promise<RateState> {
	const refuse = (error: unknown): never => {
		throw refused !== undefined && error instanceof ApiError ? refused(error) : error;
	};
	try {
		const counting = deps.budgets.countRequest(caller, subject, limit, promptTokens);
		return counting instanceof Promise ? counting.catch(refuse) : counting;
	} catch (error) {
		return refuse(error);
	}
}

async function readInput(
	prepared: PreparedEndpoint,
	params: Readonly<Record<string, string>>,
	call: Call,
	settings: PipelineSettings,
	deps: PipelineDeps,
): Promise<Input<never, never>> {
	const input = await parseInput(prepared, params, call, settings, deps);
	if (prepared.endpoint.method !== "GET") await requireConnected(call.signal);
	return input;
}

async function parseInput(
	prepared: PreparedEndpoint,
	params: Readonly<Record<string, string>>,
	call: Call,
	settings: PipelineSettings,
	deps: PipelineDeps,
): Promise<Input<never, never>> {
	const { endpoint } = prepared;
	call.observer?.step("receive");
	const query = readQuery(call.request.url, prepared.query);
	let raw: Uint8Array = new Uint8Array(0);
	let body: Record<string, unknown> = {};
	let long = LongStrings.none;
	let files: readonly FieldFile[] = [];
	const coding = endpoint.body === undefined ? null : bodyCoding(call.request.headers.get("content-encoding"));
	const form = endpoint.body?.form;
	const contentType = call.request.headers.get("content-type");
	const boundary = form === undefined ? null : form.orJson === true ? formOrJson(contentType) : requireForm(contentType);
	if (endpoint.body !== undefined && form !== undefined && boundary !== null && prepared.body !== null) {
		raw = await readUnpacked(endpoint.body.maxBytes, coding, call, settings, deps);
		({ body, files } = readForm(raw, boundary, prepared.body.schema, form));
		refuseOtherModel(body, fieldsOf(endpoint.body.schema));
		checkInput(prepared.body, body, endpoint.body.misnamed);
	} else if (endpoint.body !== undefined && prepared.body !== null) {
		requireJson(contentType, endpoint.body.mediaTypes);
		raw = withoutByteOrderMark(await readUnpacked(endpoint.body.maxBytes, coding, call, settings, deps));
		if (endpoint.body.raw === true)
			return { body, raw, long, query, params, file: null, files } as unknown as Input<never, never>;
		({ body, raw, long } = await readJsonInTurn(prepared, raw, call, deps));
	}
	const file = files.find(({ field }) => field === form?.file) ?? null;
	return { body, raw, long, query, params, file, files } as unknown as Input<never, never>;
}

/** Reads and decompresses the body, within the route's limit and the caller's share of the memory. */
async function readUnpacked(
	maxBytes: number,
	coding: string | null,
	call: Call,
	{ upload }: PipelineSettings,
	{ bodyMemory }: PipelineDeps,
): Promise<Uint8Array> {
	const share = bodyMemory.share(call.tenant);
	call.bodyShare = share;
	const raw = await readBody(call.request, maxBytes, upload, call, share);
	return coding === null ? raw : decompressBody(raw, coding, maxBytes, share);
}

interface JsonInput {
	readonly body: Record<string, unknown>;
	readonly raw: Uint8Array;
	readonly long: LongStrings;
}

/** Reads large bodies one after the other; callers take turns. A caller that is blocked by then is refused. */
function readJsonInTurn(prepared: PreparedEndpoint, raw: Uint8Array, call: Call, deps: PipelineDeps): Promise<JsonInput> {
	if (raw.length <= ONE_TURN_BYTES) return readJson(prepared, raw);
	return LARGE_BODIES.run(call, async () => {
		const guarded = prepared.endpoint.failureGuard !== false;
		if (guarded && call.caller !== null) deps.budgets.checkGuard(`key:${call.caller.key.id}`);
		return readJson(prepared, raw);
	});
}

/** Parses and checks a JSON body. The steps of a large one each get a turn of the event loop. */
async function readJson({ endpoint, body: schema, known, required }: PreparedEndpoint, raw: Uint8Array): Promise<JsonInput> {
	const isLarge = raw.length > ONE_TURN_BYTES;
	const cutting = parseable(raw);
	const { json, cuts } = cutting instanceof Promise ? await cutting : cutting;
	if (isLarge) await nextTurn();
	const parsing = parseJsonObject(json);
	const object = parsing instanceof Promise ? await parsing : parsing;
	if (isLarge) await nextTurn();
	if (known !== null) refuseAmbiguousMembers(known, json);
	const requested = endpoint.body?.keepNulls === true ? object : withoutNulls(object, required);
	if (isLarge) await nextTurn();
	const long = cuts.length > 0 ? new LongStrings(raw, cuts) : LongStrings.none;
	const rewritten = endpoint.body?.rewrite?.(requested, long) ?? null;
	const body = (rewritten ?? requested) as Record<string, unknown>;
	if (endpoint.body !== undefined) refuseOtherModel(body, fieldsOf(endpoint.body.schema));
	if (schema !== null) checkInput(schema, body, endpoint.body?.misnamed);
	if (isLarge) await nextTurn();
	return { body, raw: rewritten === null ? json : Buffer.from(JSON.stringify(rewritten)), long };
}

function fieldsOf(schema: object): Readonly<Record<string, unknown>> {
	return (schema as { readonly properties?: Readonly<Record<string, unknown>> }).properties ?? {};
}

function takeMinuteRequest(call: Call, endpoint: PlainEndpoint, settings: PipelineSettings, deps: PipelineDeps) {
	const { caller } = call;
	const window = plainWindow(endpoint, settings);
	return caller === null || window === null ? null : deps.budgets.countRequest(caller, window.subject, window.limit, 0);
}

/** Returns the state of the minute window in which a refused request would have counted; null if it has none. */
function refusalRate({ caller, endpoint, window }: Call, settings: PipelineSettings, deps: PipelineDeps): RateState | null {
	if (caller === null) return null;
	const rateWindow = window ?? (endpoint.kind === "metered" ? endpoint.minuteWindow?.(caller) : plainWindow(endpoint, settings));
	return rateWindow ? deps.budgets.rateState(caller, rateWindow.subject, rateWindow.limit) : null;
}

function plainWindow(
	{ minuteLimit, listLimit }: PlainEndpoint,
	settings: PipelineSettings,
): (MinuteWindow & { readonly subject: string }) | null {
	if (minuteLimit !== undefined) return { subject: minuteLimit.subject, limit: { requestsPerMinute: minuteLimit.requests() } };
	return listLimit ? { subject: "list", limit: { requestsPerMinute: settings.listRequestsPerMinute } } : null;
}

function observerOf(call: Call, { logRequests }: PipelineSettings, deps: PipelineDeps): RequestObserver | null {
	const { counts, tracer } = deps;
	if (counts === undefined) return null;
	const { endpoint, request, requestId } = call;
	// The trace has the declared path, since the path as sent may contain private data.
	const trace = tracer?.()?.begin(requestId, `${endpoint.method} ${endpoint.path}`, request.headers.get("traceparent")) ?? null;
	trace?.root.set("turnpike.endpoint", endpoint.name);
	trace?.root.set("turnpike.request_id", requestId);
	trace?.root.set("http.request.method", endpoint.method);
	trace?.root.set("http.route", endpoint.path);
	return new RequestObserver(call, counts, trace, logRequests === true ? deps.log : null);
}

function logAnswer(call: Call, answer: Answer, deps: PipelineDeps): void {
	const { requestId, endpoint, caller, admittedAtMs } = call;
	const tookMs = deps.clock.wallMs() - admittedAtMs;
	deps.log.debug({ requestId, endpoint: endpoint.name, status: answer.status, keyId: caller?.key.id, tookMs }, "answered");
}

const FAILURE_STATUSES = new Set([400, 401, 403, 404, 413, 415, 422]);

function errorAnswer(call: Call, thrown: unknown, deps: PipelineDeps): Answer {
	if (thrown instanceof CallerLeft) return CLIENT_LEFT_ANSWER;
	const { wallets } = deps;
	let error = asApiError(thrown);
	if (error.code === "PAYMENT_REQUIRED" && call.caller?.wallet != null && wallets !== null)
		error = wallets.topUpNeeded(call, call.caller, error);
	if (FAILURE_STATUSES.has(error.status) && call.endpoint.failureGuard !== false)
		deps.budgets.countFailure(call.caller === null ? call.network : `key:${call.caller.key.id}`);
	noteExceeded(call, error, deps);
	call.observer?.failed(error.code);
	const form = errorForm(call.endpoint);
	const fields = { requestId: call.requestId, endpoint: call.endpoint.name, status: error.status, code: error.code };
	if (error.status >= 500 && !call.signal.aborted) deps.log.warn({ ...fields, cause: causeText(error) }, error.message);
	else deps.log.debug(fields, "refused");
	return {
		status: errorStatus(error.code, form),
		type: "application/json",
		body: JSON.stringify(errorBody(error, form)),
		headers: errorHeaders(error),
	};
}

function noteExceeded({ caller, endpoint, admittedAtMs }: Call, error: ApiError, deps: PipelineDeps): void {
	const { limit } = error.options;
	// A wallet without an account has no log.
	if (limit === undefined || caller === null || caller.account.id === caller.wallet) return;
	deps.exceededLimits.note({
		accountId: caller.account.id,
		keyId: caller.key.id,
		modelId: endpoint.kind === "metered" ? (limit.subject ?? endpoint.name) : endpoint.name,
		tier: caller.account.tier,
		kind: limit.kind,
		atMs: admittedAtMs,
	});
}

function causeText(error: ApiError): string | undefined {
	const { cause } = error;
	if (cause === undefined) return undefined;
	return cause instanceof Error
		? error.code === "UNKNOWN_ERROR"
			? (cause.stack ?? cause.message)
			: cause.message
		: String(cause);
}
