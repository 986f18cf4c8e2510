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
	/** Memory for results; 0: none is kept, concurrent calls are still shared. */
	readonly maxBytes: number;
	readonly clock?: typeof systemTimerClock;
}

/** Since the start, by item. Hit ratio: hits / (hits + misses). */
export interface RpcCacheStats {
	/** Answered from memory. */
	readonly hits: number;
	/** Might have been kept, and were not there. */
	readonly misses: number;
	/** Joined a call under way that asked the same. */
	readonly shared: number;
	readonly entries: number;
	readonly bytes: number;
}

const GATHERING_BYTES = 64 * 1024 * 1024;

/** An item of a batch that goes out, and where its outcome belongs. */
interface Outgoing {
	readonly index: number;
	readonly item: RpcItem;
	readonly keepable: CacheableCall | null;
}

/**
 * Upstreams behind a cache (docs/rpc.md, Cache): what stays true is answered from memory, and reads that ask the same at
 * the same time share one call. Sends go straight through, and so do batches with one in them.
 */
export class CachedUpstreams implements RpcUpstreams {
	readonly #inner: RpcUpstreams;
	readonly #cache: AnswerCache;
	readonly #flights: PendingCalls;
	/** Of big answers that are read whole for several. */
	readonly #gathering = new SharedBytes(GATHERING_BYTES);
	#shared = 0;

	constructor(inner: RpcUpstreams, heads: RpcHeads, { maxBytes, clock = systemTimerClock }: CacheOptions) {
		this.#inner = inner;
		this.#cache = new AnswerCache(heads, maxBytes, clock);
		this.#flights = new PendingCalls(clock);
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

	/** Takes another bound for its memory: what is too much is forgotten. */
	resize(maxBytes: number): void {
		this.#cache.resize(maxBytes);
	}

	/** Hears of the chains' heads no more. */
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
		const keepable = this.#cache.cacheable(network, item, key);
		const kept = keepable && this.#cache.find(keepable);
		if (kept) return { outcome: { kind: "result", value: kept }, upstream: null, retries: 0 };
		const running = this.#flights.find(key, network.slug);
		if (running !== null) {
			this.#shared++;
			const answer = await this.#flights.join(running, call);
			return answer === null || answer.outcome.kind === "missing" ? this.#inner.single(call) : answer;
		}
		const flight = this.#startSingle(call, key, keepable);
		// The first who waits gets the stream, where it is one.
		return (await this.#flights.join(flight, call)) as SingleAnswer;
	}

	async batch(call: RpcCall): Promise<RpcAnswer<readonly RpcOutcome[]>> {
		if (call.items.some(({ method }) => method.send !== null)) return this.#withSend(call, () => this.#inner.batch(call));
		call.signal.throwIfAborted();
		const outcomes: (RpcOutcome | null)[] = call.items.map(() => null);
		const outgoing: Outgoing[] = [];
		const joined: { readonly index: number; readonly flight: PendingCall }[] = [];
		const trip = new SharedCall();
		const whole = Promise.withResolvers<RpcAnswer<readonly RpcOutcome[]>>();
		whole.promise.catch(() => {});
		for (const [index, item] of call.items.entries()) {
			const key = callKey(call.network, item);
			const keepable = key === null ? null : this.#cache.cacheable(call.network, item, key);
			const value = keepable && this.#cache.find(keepable);
			const flight = value || key === null ? null : this.#flights.find(key, call.network.slug);
			if (value) outcomes[index] = { kind: "result", value };
			else if (flight !== null) {
				this.#shared++;
				joined.push({ index, flight });
			} else {
				if (key !== null) this.#startItem(call, key, keepable, trip, whole.promise, outgoing.length);
				outgoing.push({ index, item, keepable });
			}
		}
		const [own, ...shared] = await Promise.all([
			outgoing.length === 0 ? null : this.#send(call, outgoing, trip, whole),
			...joined.map(({ flight }) => this.#outcomeOf(flight, call)),
		]);
		for (const [position, { index }] of outgoing.entries()) outcomes[index] = own?.outcome[position] ?? { kind: "missing" };
		const again: Outgoing[] = [];
		for (const [position, { index }] of joined.entries()) {
			const outcome = shared[position] ?? null;
			const item = call.items[index];
			if (outcome !== null) outcomes[index] = outcome;
			else if (item !== undefined) again.push({ index, item, keepable: null });
		}
		const late = again.length === 0 ? null : await this.#inner.batch(itemsOf(call, again, null));
		for (const [position, { index }] of again.entries()) outcomes[index] = late?.outcome[position] ?? { kind: "missing" };
		return {
			outcome: outcomes.map((outcome) => outcome ?? { kind: "missing" }),
			upstream: own?.upstream ?? late?.upstream ?? null,
			retries: own?.retries ?? late?.retries ?? 0,
		};
	}

	#startSingle(call: RpcCall, key: string, keepable: CacheableCall | null): PendingCall {
		const trip = new SharedCall();
		const answer = this.#inner.single(itemsOf(call, null, trip)).then((answered) => this.#fromCache(answered, trip, keepable));
		answer.catch(() => trip.end());
		return this.#flights.start(key, call.network.slug, trip, answer, staysTrue(keepable));
	}

	/** The upstreams' answer, kept where it stays true. One that comes as a stream is read whole where several wait for it. */
	async #fromCache(
		{ outcome, upstream, retries }: SingleAnswer,
		trip: SharedCall,
		keepable: CacheableCall | null,
	): Promise<SingleAnswer> {
		if (isStream(outcome)) {
			if (trip.abandoned) outcome.cancel();
			else trip.signal.addEventListener("abort", () => outcome.cancel(), { once: true });
		}
		const isShared = outcome.kind === "result-stream" && trip.waiting > 1;
		const now = isShared ? await gatherShared(outcome, this.#gathering, trip.signal) : outcome;
		if (now instanceof Uint8Array || !isStream(now)) {
			trip.end();
			const whole = now instanceof Uint8Array ? ({ kind: "result", value: now } as const) : now;
			if (keepable !== null && whole.kind === "result") this.#cache.put(keepable, whole.value, upstream);
			return { outcome: whole, upstream, retries };
		}
		const tap = keepable !== null && now.kind === "result-stream" ? this.#cache.tap(keepable, upstream) : null;
		const stream = tapStream(now, {
			piece: (bytes) => tap?.piece(bytes),
			end: (isWhole) => {
				tap?.end(isWhole);
				trip.end();
			},
		});
		return { outcome: stream, upstream, retries };
	}

	/** Lets others join an item of a batch that is about to go out. */
	#startItem(
		{ network }: RpcCall,
		key: string,
		keepable: CacheableCall | null,
		trip: SharedCall,
		whole: Promise<RpcAnswer<readonly RpcOutcome[]>>,
		position: number,
	): void {
		const answer = whole.then(({ outcome, upstream, retries }): SingleAnswer => {
			return { outcome: outcome[position] ?? { kind: "missing" }, upstream, retries };
		});
		answer.catch(() => {});
		this.#flights.start(key, network.slug, trip, answer, staysTrue(keepable));
	}

	/** Sends what is not here in one batch, for this call and all that have joined. */
	#send(
		call: RpcCall,
		outgoing: readonly Outgoing[],
		trip: SharedCall,
		whole: PromiseWithResolvers<RpcAnswer<readonly RpcOutcome[]>>,
	): Promise<RpcAnswer<readonly RpcOutcome[]>> {
		const waited = trip.wait(whole.promise, call, (answer) => answer);
		const run = async () => {
			try {
				const answer = await this.#inner.batch(itemsOf(call, outgoing, trip));
				for (const [position, { keepable }] of outgoing.entries()) {
					const outcome = answer.outcome[position];
					if (keepable === null || outcome?.kind !== "result") continue;
					this.#cache.put(keepable, outcome.value, outcome.upstream ?? null);
				}
				whole.resolve(answer);
			} catch (error) {
				whole.reject(error);
			} finally {
				trip.end();
			}
		};
		void run();
		return waited;
	}

	/** What came of another's call; null where that does not help this one: it failed, or cannot be shared. */
	async #outcomeOf(flight: PendingCall, call: RpcCall): Promise<RpcOutcome | null> {
		try {
			const answer = await flight.call.wait(flight.answer, call, (value) => value);
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
			this.#flights.sendEnded(network.slug);
		}
	}
}

function staysTrue(keepable: CacheableCall | null): boolean {
	return keepable !== null && keepable.keep.kind !== "found";
}

/** The call with these items of it, or all: on a trip that others may join, or else on its own. */
function itemsOf(call: RpcCall, items: readonly Outgoing[] | null, trip: SharedCall | null): RpcCall {
	return {
		network: call.network,
		items: items === null ? call.items : items.map(({ item }) => item),
		requestId: call.requestId,
		tenant: call.tenant,
		signal: trip === null ? call.signal : trip.signal,
		onSent: (upstream) => (trip === null ? call.onSent?.(upstream) : trip.sent(upstream)),
	};
}
