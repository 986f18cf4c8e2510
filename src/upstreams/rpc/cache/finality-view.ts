import type { RpcFinality, RpcHeads } from "../head-port.ts";

/** The finality at the start of a call. It must still hold when the call ends. */
export interface FinalityProof {
	readonly finality: RpcFinality | null;
	readonly setBacks: number;
}

/** The finality of the networks, and how often it has gone back. */
export class FinalityView {
	readonly #heads: RpcHeads;
	readonly #last = new Map<string, number>();
	readonly #setBacks = new Map<string, number>();
	readonly #onSetBack: (network: string, block: number) => void;
	#end: (() => void) | null = null;

	/** `onSetBack` is called with the new final block when the final block of a network goes back. */
	constructor(heads: RpcHeads, onSetBack: (network: string, block: number) => void) {
		this.#heads = heads;
		this.#onSetBack = onSetBack;
	}

	/** Starts to listen. Heads are followed only while somebody listens. */
	listen(): void {
		this.#end ??= this.#heads.onFinality((network, finality) => this.#observe(network, finality));
	}

	block(network: string): number | null {
		return this.#heads.finality(network)?.block ?? null;
	}

	proof(network: string): FinalityProof {
		const finality = this.#heads.finality(network);
		this.#observe(network, finality);
		return { finality, setBacks: this.#setBacksOf(network) };
	}

	/**
	 * Returns true if the block was final when the call began and still is. The upstream that answered must be known to
	 * have had the block by then.
	 */
	holds({ finality, setBacks }: FinalityProof, network: string, block: number, upstream: string | null): boolean {
		if (finality === null || upstream === null || setBacks !== this.#setBacksOf(network)) return false;
		const now = this.block(network);
		return now !== null && block <= finality.block && block <= now && finality.upstreams.has(upstream);
	}

	close(): void {
		this.#end?.();
		this.#end = null;
	}

	#observe(network: string, finality: RpcFinality | null): void {
		if (finality === null) return;
		const before = this.#last.get(network);
		if (before === finality.block) return;
		this.#last.set(network, finality.block);
		if (before === undefined || finality.block > before) return;
		this.#setBacks.set(network, this.#setBacksOf(network) + 1);
		this.#onSetBack(network, finality.block);
	}

	#setBacksOf(network: string): number {
		return this.#setBacks.get(network) ?? 0;
	}
}
