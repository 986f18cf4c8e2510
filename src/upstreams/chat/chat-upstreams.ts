import type { UpstreamConfig } from "../../config/schema.ts";
import type { Log } from "../../telemetry/log.ts";
import { systemTimerClock, type TimerClock } from "../../telemetry/timer-clock.ts";
import type { Tracer } from "../../telemetry/tracing/port.ts";
import { type AttemptDeps, Attempts, type ChatAttemptDeps, type ChatTimeouts } from "../attempts.ts";
import { CountsByUpstream } from "../call-counts.ts";
import { cancelBody } from "../connect.ts";
import type { Fetch } from "../fetch.ts";
import { Pool } from "../pool.ts";
import type { PublicFetch } from "../public-fetch/port.ts";
import { embeddedServer, type UpstreamServer, type UpstreamStatus } from "../upstream-server.ts";
import { beginsAsArray, beginsAsEvents, isChunkLines } from "./body-beginning.ts";
import { chatAttempt } from "./chat-attempt.ts";
import { DIALECT_TABLE, type DialectName } from "./dialects.ts";
import { completionOfEvents } from "./other-form.ts";
import type { ChatForward, ChatUpstreams, WholeAnswer } from "./port.ts";
import { UpstreamStream } from "./stream.ts";
import { checkedCompletion, readWhole } from "./whole-answer.ts";

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_EVENT_BYTES = 4 * 1024 * 1024;
const PROBE_MS = 5_000;

export interface ChatUpstreamsOptions {
	readonly upstreams: Readonly<Record<string, UpstreamConfig>>;
	readonly timeouts: ChatTimeouts;
	readonly log: Log;
	/** Our own engine, as the upstream `embedded`. `endpoint` may wait for its start, and throw an ApiError. */
	readonly embedded?: {
		endpoint(): Promise<{ readonly url: string; readonly key: string }>;
		/** The engine's dialect; default generic. */
		readonly dialect?: DialectName;
	};
	readonly fetch?: Fetch;
	/** Writes traces; null: nothing does. */
	readonly tracer?: () => Tracer | null;
	/** Reads addresses that callers name, for providers that read none. Without it the addresses are sent unchanged. */
	readonly fetchPublic?: () => PublicFetch;
	readonly clock?: TimerClock;
	readonly random?: () => number;
	/** Maximum bytes of a whole answer, and of one event of a stream. */
	readonly maxAnswerBytes?: number;
	readonly maxEventBytes?: number;
}

/** Chat upstreams with the operator's actions. */
export interface RunningChatUpstreams extends ChatUpstreams {
	/** Replaces upstreams and time limits; calls under way finish with the old ones. */
	reload(upstreams: Readonly<Record<string, UpstreamConfig>>, timeouts?: ChatTimeouts): void;
	/** The pool and its dependencies, for calls of other kinds to the same servers: they share health and call counts. */
	readonly attemptDeps: AttemptDeps;
	/** Outcomes of calls by upstream. */
	readonly counts: CountsByUpstream;
	/** Returns the state of every upstream, for status pages. */
	snapshot(): UpstreamStatus[];
	/** Stops the probes. Calls under way continue. */
	close(): void;
}

/** Creates the chat forwarding over the configured upstreams (docs/chat.md). */
export function createChatUpstreams(options: ChatUpstreamsOptions): RunningChatUpstreams {
	const { log, embedded, random, clock = systemTimerClock, fetch = globalThis.fetch } = options;
	const counts = new CountsByUpstream();
	const { tracer } = options;
	const pool = new Pool({
		upstreams: options.upstreams,
		clock,
		probe: (server) => probe(fetch, clock, server),
		onChange: (server) => {
			if (server.health.state === "out") counts.of(server.name).ejections++;
			logHealthChange(log, server);
		},
		...(random ? { random } : {}),
		...(embedded
			? { embedded: embeddedServer("embedded", () => embedded.endpoint(), DIALECT_TABLE[embedded.dialect ?? "generic"]) }
			: {}),
	});
	let deps: ChatAttemptDeps = {
		pool,
		fetch,
		clock,
		log,
		counts,
		tracer,
		timeouts: options.timeouts,
		fetchPublic: options.fetchPublic,
		maxAnswerBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES,
		maxEventBytes: options.maxEventBytes ?? MAX_EVENT_BYTES,
	};
	return {
		attemptDeps: { pool, fetch, clock, log, counts, tracer },
		counts,
		whole: (call) => unary(call, deps),
		stream: (call) => new UpstreamStream(call, deps),
		reload(upstreams, timeouts) {
			pool.replace(upstreams);
			if (timeouts) deps = { ...deps, timeouts };
		},
		snapshot: () => pool.snapshot(),
		close: () => pool.close(),
	};
}

function unary(call: ChatForward, deps: ChatAttemptDeps): Promise<WholeAnswer> {
	const { clock, timeouts, maxAnswerBytes, maxEventBytes } = deps;
	const triesEndMs = clock.monotonicMs() + timeouts.chatUnaryMs;
	const attempts = new Attempts(chatAttempt(call, deps), deps);
	return attempts.run(
		async (response, current) => {
			const body = await readWhole(response, maxAnswerBytes);
			const isStream = beginsAsEvents(body) || beginsAsArray(body) === true || isChunkLines(body);
			const whole = isStream ? await completionOfEvents(body, maxEventBytes) : body;
			const checked = await checkedCompletion(await current.server.mask.answerBytes(whole), response.status, call.choices);
			current.end("good");
			return { upstream: current.server.name, ...checked, retries: attempts.retries };
		},
		(timeout, server) => {
			const ownEndMs = clock.monotonicMs() + (server.limits.unaryMs ?? Number.POSITIVE_INFINITY);
			timeout.limit(Number.POSITIVE_INFINITY, "answer", Math.min(triesEndMs, ownEndMs));
		},
	);
}

/** Returns true if GET /models answers, even with 404. */
async function probe(fetch: Fetch, clock: TimerClock, server: UpstreamServer): Promise<boolean> {
	const controller = new AbortController();
	const cancelTimer = clock.after(PROBE_MS, () => controller.abort());
	try {
		const endpoint = await server.endpoint();
		const response = await fetch(`${endpoint.url}/models`, {
			...endpoint.init,
			headers: endpoint.probeHeaders,
			keepalive: false,
			signal: controller.signal,
		});
		cancelBody(response.body);
		// A provider refuses a request without its key, which shows that it is up.
		if (server.provider !== null) return response.status < 500;
		return response.ok || response.status === 404 || response.status === 405;
	} catch {
		return false;
	} finally {
		cancelTimer();
	}
}

function logHealthChange(log: Log, server: UpstreamServer): void {
	const fields = { upstream: server.name, state: server.health.state, lastFault: server.health.lastFault };
	if (server.health.state === "out") log.warn(fields, "an upstream is taken out after consecutive faults");
	else log.info(fields, "an upstream is back");
}
