import { systemTimerClock } from "../../../telemetry/timer-clock.ts";
import type { RpcHeads } from "../head-port.ts";
import type { RpcAnswer, RpcCall, RpcItem, RpcLookUp, RpcOutcome, RpcUpstreams } from "../port.ts";
import { AnswerCache, type CacheableCall } from "./answer-cache.ts";
import { callKey } from "./call-key.ts";
import { gatherShared } from "./gather-shared.ts";
import { isStream, type PendingCall, PendingCalls, type SingleAnswer } from "./pending-calls.ts";
import { SharedCall } from "./shared-call.ts";
import { SharedBytes } from "./stream-copy.ts";
import { tapStream } from "./tapped-stream.ts";

export interface CacheOptions {
	/** Memory for results in bytes. At 0 no result is stored, but concurrent calls are still shared. */
	readonly maxBytes: number;
	readonly clock?: typeof systemTimerClock;
}

/** Counts of items since the start. Hit ratio: hits / (hits + misses). */
export interface RpcCacheStats {
	/** Items answered from memory. */
	readonly hits: number;
	/** Cacheable items that were not in memory. */
	readonly misses: number;
	/** Items that joined an equal call in progress. */
	readonly shared: number;
	readonly entries: number;
	readonly bytes: number;
}

const GATHERING_BYTES = 64 * 1024 * 1024;

/** An item of a batch that goes upstream, and the position of its outcome. */
interface Outgoing {
	readonly index: number;
	readonly item: RpcItem;
	readonly cacheableCall: CacheableCall | null;
}

/**
 * Puts a cache in front of the upstreams (docs/rpc.md, Cache).
 * Results that stay true are answered from memory, and equal reads at the same time share one call.
 * Sends, and batches that contain one, go straight to the upstreams.
 */
export class CachedUpstreams implements RpcUpstreams {
	readonly #inner: RpcUpstreams;
	readonly #cache: AnswerCache;
	readonly #pendingCalls: PendingCalls;
	/** The memory for large answers that are read whole for several callers. */
	readonly #gathering = new SharedBytes(GATHERING_BYTES);
	#shared = 0;

	constructor(inner: RpcUpstreams, heads: RpcHeads, { maxBytes, clock = systemTimerClock }: CacheOptions) {
		this.#inner = inner;
		this.#cache = new AnswerCache(heads, maxBytes, clock);
		this.#pendingCalls = new PendingCalls(clock);
	}

	networks(): readonly string[] {
		return this.#inner.networks();
	}

	online(): string[] {
		return this.#inner.online();
	}

	lookUp(...args: Parameters<RpcUpstreams["lookUp"]>): Promise<RpcLookUp> {
		return this.#inner.lookUp(...args);
	}

	stats(): RpcCacheStats {
		const { counts, entries, bytes } = this.#cache;
		return { hits: counts.hits, misses: counts.misses, shared: this.#shared, entries, bytes };
	}

	/** Changes the memory limit. Entries above the new limit are removed. */
	resize(maxBytes: number): void {
		this.#cache.resize(maxBytes);
	}

	/** Stops listening to the chains' heads. */
	close(): void {
		this.#cache.close();
	}

	async single(call: RpcCall): Promise<SingleAnswer> {
		const [item] = call.items;
		if (item === undefined) throw new Error("a call without an item");
		if (item.method.send !== null) return this.#withSend(call, () => this.#inner.single(call));
		call.signal.throwIfAborted();
		const { network } = call;
		const key = callKey(network, item);
		if (key === null) return this.#inner.single(call);
		const cacheableCall = this.#cache.cacheable(network, item, key);
		const cached = cacheableCall && this.#cache.find(cacheableCall);
		if (cached) return { outcome: { kind: "result", value: cached }, upstream: null, retries: 0 };
		const running = this.#pendingCalls.find(key, network.slug);
		if (running !== null) {
			this.#shared++;
			const answer = await this.#pendingCalls.join(running, call);
			return answer === null || answer.outcome.kind === "missing" ? this.#inner.single(call) : answer;
		}
		const pendingCall = this.#startSingle(call, key, cacheableCall);
		// If the outcome is a stream, the first waiting caller gets it.
		return (await this.#pendingCalls.join(pendingCall, call)) as SingleAnswer;
	}

	async batch(call: RpcCall): Promise<RpcAnswer<readonly RpcOutcome[]>> {
		if (call.items.some(({ method }) => method.send !== null)) return this.#withSend(call, () => this.#inner.batch(call));
		call.signal.throwIfAborted();
		const outcomes: (RpcOutcome | null)[] = call.items.map(() => null);
		const outgoing: Outgoing[] = [];
		const joined: { readonly index: number; readonly pendingCall: PendingCall }[] = [];
		const sharedCall = new SharedCall();
		const whole = Promise.withResolvers<RpcAnswer<readonly RpcOutcome[]>>();
		whole.promise.catch(() => {});
		for (const [index, item] of call.items.entries()) {
			const key = callKey(call.network, item);
			const cacheableCall = key === null ? null : this.#cache.cacheable(call.network, item, key);
			const value = cacheableCall && this.#cache.find(cacheableCall);
			const pendingCall = value || key === null ? null : this.#pendingCalls.find(key, call.network.slug);
			if (value) outcomes[index] = { kind: "result", value };
			else if (pendingCall !== null) {
				this.#shared++;
				joined.push({ index, pendingCall });
			} else {
				if (key !== null) this.#startItem(call, key, cacheableCall, sharedCall, whole.promise, outgoing.length);
				outgoing.push({ index, item, cacheableCall });
			}
		}
		const [own, ...shared] = await Promise.all([
			outgoing.length === 0 ? null : this.#send(call, outgoing, sharedCall, whole),
			...joined.map(({ pendingCall }) => this.#outcomeOf(pendingCall, call)),
		]);
		for (const [position, { index }] of outgoing.entries()) outcomes[index] = own?.outcome[position] ?? { kind: "missing" };
		const again: Outgoing[] = [];
		for (const [position, { index }] of joined.entries()) {
			const outcome = shared[position] ?? null;
			const item = call.items[index];
			if (outcome !== null) outcomes[index] = outcome;
			else if (item !== undefined) again.push({ index, item, cacheableCall: null });
		}
		const late = again.length === 0 ? null : await this.#inner.batch(itemsOf(call, again, null));
		for (const [position, { index }] of again.entries()) outcomes[index] = late?.outcome[position] ?? { kind: "missing" };
		return {
			outcome: outcomes.map((outcome) => outcome ?? { kind: "missing" }),
			upstream: own?.upstream ?? late?.upstream ?? null,
			retries: own?.retries ?? late?.retries ?? 0,
		};
	}

	#startSingle(call: RpcCall, key: string, cacheableCall: CacheableCall | null): PendingCall {
		const sharedCall = new SharedCall();
		const answer = this.#inner
			.single(itemsOf(call, null, sharedCall))
			.then((answered) => this.#fromCache(answered, sharedCall, cacheableCall));
		answer.catch(() => sharedCall.end());
		return this.#pendingCalls.start(key, call.network.slug, sharedCall, answer, staysTrue(cacheableCall));
	}

	/**
	 * Returns the upstreams' answer, and stores it if it stays true. A stream is read whole if several callers wait for
	 * it.
	 */
	async #fromCache(
		{ outcome, upstream, retries }: SingleAnswer,
		sharedCall: SharedCall,
		cacheableCall: CacheableCall | null,
	): Promise<SingleAnswer> {
		if (isStream(outcome)) {
			if (sharedCall.abandoned) outcome.cancel();
			else sharedCall.signal.addEventListener("abort", () => outcome.cancel(), { once: true });
		}
		const isShared = outcome.kind === "result-stream" && sharedCall.waiting > 1;
		const now = isShared ? await gatherShared(outcome, this.#gathering, sharedCall.signal) : outcome;
		if (now instanceof Uint8Array || !isStream(now)) {
			sharedCall.end();
			const whole = now instanceof Uint8Array ? ({ kind: "result", value: now } as const) : now;
			if (cacheableCall !== null && whole.kind === "result") this.#cache.put(cacheableCall, whole.value, upstream);
			return { outcome: whole, upstream, retries };
		}
		const tap = cacheableCall !== null && now.kind === "result-stream" ? this.#cache.tap(cacheableCall, upstream) : null;
		const stream = tapStream(now, {
			piece: (bytes) => tap?.piece(bytes),
			end: (isWhole) => {
				tap?.end(isWhole);
				sharedCall.end();
			},
		});
		return { outcome: stream, upstream, retries };
	}

	/** Lets other calls join an item of a batch that is about to go upstream. */
	#startItem(
		{ network }: RpcCall,
		key: string,
		cacheableCall: CacheableCall | null,
		sharedCall: SharedCall,
		whole: Promise<RpcAnswer<readonly RpcOutcome[]>>,
		position: number,
	): void {
		const answer = whole.then(({ outcome, upstream, retries }): SingleAnswer => {
			return { outcome: outcome[position] ?? { kind: "missing" }, upstream, retries };
		});
		answer.catch(() => {});
		this.#pendingCalls.start(key, network.slug, sharedCall, answer, staysTrue(cacheableCall));
	}

	/** Sends the items that are not in memory in one batch, for this call and all that have joined. */
	#send(
		call: RpcCall,
		outgoing: readonly Outgoing[],
		sharedCall: SharedCall,
		whole: PromiseWithResolvers<RpcAnswer<readonly RpcOutcome[]>>,
	): Promise<RpcAnswer<readonly RpcOutcome[]>> {
		const waited = sharedCall.wait(whole.promise, call, (answer) => answer);
		const run = async () => {
			try {
				const answer = await this.#inner.batch(itemsOf(call, outgoing, sharedCall));
				for (const [position, { cacheableCall }] of outgoing.entries()) {
					const outcome = answer.outcome[position];
					if (cacheableCall === null || outcome?.kind !== "result") continue;
					this.#cache.put(cacheableCall, outcome.value, outcome.upstream ?? null);
				}
				whole.resolve(answer);
			} catch (error) {
				whole.reject(error);
			} finally {
				sharedCall.end();
			}
		};
		void run();
		return waited;
	}

	/**
	 * Returns the outcome of another caller's call. Returns null if it is of no use here: it failed, or cannot be shared.
	 */
	async #outcomeOf(pendingCall: PendingCall, call: RpcCall): Promise<RpcOutcome | null> {
		try {
			const answer = await pendingCall.call.wait(pendingCall.answer, call, (value) => value);
			return isStream(answer.outcome) || answer.outcome.kind === "missing" ? null : answer.outcome;
		} catch {
			call.signal.throwIfAborted();
			return null;
		}
	}

	async #withSend<T>({ network }: RpcCall, run: () => Promise<T>): Promise<T> {
		try {
			return await run();
		} finally {
			this.#pendingCalls.sendEnded(network.slug);
		}
	}
}

function staysTrue(cacheableCall: CacheableCall | null): boolean {
	return cacheableCall !== null && cacheableCall.keep.kind !== "found";
}

/**
 * Returns the call with only these items, or with all. It runs on the shared call if there is one, and alone otherwise.
 */
function itemsOf(call: RpcCall, items: readonly Outgoing[] | null, sharedCall: SharedCall | null): RpcCall {
	return {
		network: call.network,
		items: items === null ? call.items : items.map(({ item }) => item),
		requestId: call.requestId,
		tenant: call.tenant,
		signal: sharedCall === null ? call.signal : sharedCall.signal,
		onSent: (upstream) => (sharedCall === null ? call.onSent?.(upstream) : sharedCall.sent(upstream)),
	};
}
