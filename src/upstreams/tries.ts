import { ApiError } from "../errors/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Clock } from "./clock.ts";
import { asFailure, type Fetch, postChat } from "./connect.ts";
import { full, given, mostTelling, timedOut, type UpstreamFailure } from "./failures.ts";
import type { Endpoint, UpstreamNode } from "./node.ts";
import type { Candidate, Pool } from "./pool.ts";
import type { ChatForward } from "./port.ts";
import { shapeChatBody } from "./request-body.ts";
import { Watch } from "./watch.ts";

/** Time limits in milliseconds (`timeouts` of the config). */
export interface ChatTimeouts {
	readonly chatFirstByteMs: number;
	readonly chatIdleMs: number;
	readonly chatUnaryMs: number;
	readonly chatStreamTriesMs: number;
}

/** What the tries of a call work with. */
export interface TryTools {
	readonly pool: Pool;
	readonly fetch: Fetch;
	readonly clock: Clock;
	readonly log: Log;
	readonly timeouts: ChatTimeouts;
	readonly maxAnswerBytes: number;
	readonly maxEventBytes: number;
}

/** One try at one upstream: its place in the pool, its time, its health report. Ended exactly once. */
export class Try {
	readonly node: UpstreamNode;
	readonly watch: Watch;
	readonly #pool: Pool;
	readonly #giveBack: () => void;
	#ended = false;

	constructor(node: UpstreamNode, watch: Watch, pool: Pool, giveBack: () => void) {
		this.node = node;
		this.watch = watch;
		this.#pool = pool;
		this.#giveBack = giveBack;
	}

	/** Frees what the try holds. `report`: how the upstream did; null where that is not known (the caller left). */
	end(report: "good" | UpstreamFailure | null): void {
		if (this.#ended) return;
		this.#ended = true;
		this.watch.close();
		this.#giveBack();
		if (report === "good") this.#pool.good(this.node);
		else if (report) this.#pool.failed(this.node, report);
	}
}

/** The tries of one call, over the candidates of its model in the pool's order. */
export class Tries {
	readonly #call: ChatForward;
	readonly #tools: TryTools;
	readonly #failures: UpstreamFailure[] = [];
	#sent = 0;

	constructor(call: ChatForward, tools: TryTools) {
		this.#call = call;
		this.#tools = tools;
	}

	/** Tries before the one under way. */
	get retries(): number {
		return Math.max(0, this.#sent - 1);
	}

	/**
	 * Runs `attempt` on one candidate after another until one succeeds. Throws an ApiError as the failure table
	 * says once all have failed or one has failed for good, or the reason of the call's signal.
	 */
	async run<T>(
		attempt: (response: Response, current: Try) => Promise<T>,
		limit: (watch: Watch, node: UpstreamNode) => void,
	): Promise<T> {
		const { signal, model, members, raw } = this.#call;
		for (const candidate of this.#tools.pool.candidates(model.targets, stickyKeyOf(raw, members))) {
			signal.throwIfAborted();
			const giveBack = this.#tools.pool.take(candidate.node);
			if (!giveBack) {
				this.#failures.push(full(`${candidate.node.name} runs as many calls as it may`));
				continue;
			}
			const watch = new Watch(signal, this.#tools.clock);
			const current = new Try(candidate.node, watch, this.#tools.pool, giveBack);
			limit(watch, candidate.node);
			try {
				return await attempt(await this.#send(candidate, watch), current);
			} catch (error) {
				this.#failed(current, error);
			}
		}
		throw mostTelling(this.#failures).answer;
	}

	/** Ends the try; throws where no other upstream may be asked. */
	#failed(current: Try, error: unknown): void {
		const { signal } = this.#call;
		if (signal.aborted) {
			current.watch.abort(signal.reason);
			current.end(null);
			throw signal.reason;
		}
		const failure = error instanceof ApiError ? given(error) : asFailure(error, current.watch);
		current.watch.abort(failure);
		current.end(failure);
		logFailure(this.#tools.log, this.#call.requestId, current.node.name, failure);
		this.#failures.push(failure);
		if (failure.final) throw failure.answer;
	}

	async #send(candidate: Candidate, watch: Watch): Promise<Response> {
		const { node } = candidate;
		const endpoint = await reachable(node, watch.signal);
		const body = shapeChatBody(this.#call, candidate.model, node.dialect);
		watch.signal.throwIfAborted();
		this.#sent++;
		this.#call.onSent(node.name);
		return postChat(
			this.#tools.fetch,
			{ node, endpoint, body, requestId: this.#call.requestId, stream: this.#call.stream },
			watch,
		);
	}
}

/** The address, waited for no longer than the try may take: the embedded engine starts at first use. */
async function reachable(node: UpstreamNode, signal: AbortSignal): Promise<Endpoint> {
	const endpoint = node.endpoint();
	if (!(endpoint instanceof Promise)) return endpoint;
	const aborted = Promise.withResolvers<never>();
	const onAbort = () => aborted.reject(signal.reason ?? timedOut("no engine in time"));
	if (signal.aborted) onAbort();
	else signal.addEventListener("abort", onAbort, { once: true });
	try {
		return await Promise.race([endpoint, aborted.promise]);
	} finally {
		signal.removeEventListener("abort", onAbort);
	}
}

/** The caller's routing hint (docs/chat.md): the same key finds the same upstream. */
function stickyKeyOf(raw: Uint8Array, members: ChatForward["members"]): string | undefined {
	const member = members.findLast(({ key }) => key === "prompt_cache_key");
	if (!member || member.valueEnd - member.valueStart > 1024) return undefined;
	return new TextDecoder().decode(raw.subarray(member.valueStart, member.valueEnd));
}

/** Account faults are the operator's to mend: they stand out. A refused request is the caller's matter. */
export function logFailure(log: Log, requestId: string, upstream: string, failure: UpstreamFailure): void {
	const fields = { requestId, upstream, kind: failure.kind, detail: failure.message };
	if (failure.kind === "account") log.error(fields, "an upstream refuses our account: check its key, credit and quota");
	else if (failure.kind === "request" || failure.kind === "given") log.debug(fields, "an upstream refused a request");
	else log.warn(fields, "an upstream failed");
}
