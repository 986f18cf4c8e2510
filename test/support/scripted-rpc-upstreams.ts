/** Upstreams of chains whose answers a test gives by hand, and the heads of chains that it moves. */
import { CachedUpstreams } from "../../src/upstreams/rpc/cache/cached-upstreams.ts";
import type { RpcFinality, RpcHeads } from "../../src/upstreams/rpc/head-port.ts";
import type { RpcAnswer, RpcCall, RpcItem, RpcOutcome, RpcStream, RpcUpstreams } from "../../src/upstreams/rpc/port.ts";
import { callOf, itemOf, networkOf } from "./rpc-calls.ts";

export const result = (value: unknown): RpcOutcome => ({ kind: "result", value: Buffer.from(JSON.stringify(value)) });
export const failed = (code: number): RpcOutcome => ({ kind: "error", value: Buffer.from(JSON.stringify({ code })), code });

/** What a waiting call of the script is answered with. */
export interface ScriptedCall {
	readonly items: readonly RpcItem[];
	readonly batch: boolean;
	readonly signal: AbortSignal;
	answer(...outcomes: (RpcOutcome | RpcStream)[]): void;
	fail(error: Error): void;
	/** Tells the caller that the bytes go out. */
	sent(): void;
}

/** Upstreams whose answers a test gives by hand, or by a function of the item. */
export class ScriptedUpstreams implements RpcUpstreams {
	readonly calls: ScriptedCall[] = [];
	/** The member of the pool that answers. */
	upstream = "one";
	/** What an answer waits for that is known already. */
	gate: () => Promise<void> = () => Promise.resolve();
	#answer: ((item: RpcItem) => RpcOutcome | RpcStream) | null;

	constructor(answer: ((item: RpcItem) => RpcOutcome | RpcStream) | null = null) {
		this.#answer = answer;
	}

	/** Items that reached the upstreams so far. */
	get items(): number {
		return this.calls.reduce((sum, { items }) => sum + items.length, 0);
	}

	networks = () => ["ethereum-mainnet"];
	online = () => ["ethereum-mainnet"];
	lookUp = async () => "absent" as const;

	async single(one: RpcCall): Promise<RpcAnswer<RpcOutcome | RpcStream>> {
		const { upstream } = this;
		const [outcome = { kind: "missing" }] = await this.#ask(one, false);
		return { outcome, upstream, retries: 0 };
	}

	async batch(all: RpcCall): Promise<RpcAnswer<readonly RpcOutcome[]>> {
		const { upstream } = this;
		const outcome = (await this.#ask(all, true)) as RpcOutcome[];
		return { outcome: outcome.map((one) => (one.kind === "result" ? { ...one, upstream } : one)), upstream, retries: 0 };
	}

	#ask(call: RpcCall, batch: boolean): Promise<(RpcOutcome | RpcStream)[]> {
		const { items, signal } = call;
		const { promise, resolve, reject } = Promise.withResolvers<(RpcOutcome | RpcStream)[]>();
		const answered = this.#answer === null ? null : items.map(this.#answer);
		this.calls.push({
			items,
			batch,
			signal,
			answer: (...outcomes) => resolve(outcomes),
			fail: reject,
			sent: () => call.onSent?.(this.upstream),
		});
		signal.addEventListener("abort", () => reject(signal.reason), { once: true });
		if (answered !== null) void this.gate().then(() => resolve(answered));
		return promise;
	}
}

/** Heads that a test moves. */
export class SetHeads implements RpcHeads {
	#finality: RpcFinality | null = null;
	readonly #listeners = new Set<(network: string, finality: RpcFinality | null) => void>();

	get listeners(): number {
		return this.#listeners.size;
	}

	set(block: number | null, ...upstreams: string[]): void {
		this.#finality = block === null ? null : { block, upstreams: new Set(upstreams.length === 0 ? ["one"] : upstreams) };
		for (const listener of this.#listeners) listener("ethereum-mainnet", this.#finality);
	}

	finality = () => this.#finality;

	onFinality(listener: (network: string, finality: RpcFinality | null) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}
}

export const BALANCE = (block: unknown = "0x10"): RpcItem => itemOf("eth_getBalance", ["0xaa", block]);

export function call(
	items: readonly RpcItem[],
	signal = new AbortController().signal,
	network = networkOf("ethereum-mainnet"),
): RpcCall {
	return callOf(items, { signal, network });
}

/** A cache before these upstreams, whose chain is final up to block 100, in a time that `pass` moves. */
export function madeCache(inner: ScriptedUpstreams, maxBytes = 64 * 1_048_576) {
	const heads = new SetHeads();
	heads.set(100);
	let nowMs = 0;
	const clock = { monotonicMs: () => nowMs, after: () => () => {} };
	const cached = new CachedUpstreams(inner, heads, { maxBytes, clock });
	const pass = (ms: number): void => {
		nowMs += ms;
	};
	return { heads, cached, pass };
}
