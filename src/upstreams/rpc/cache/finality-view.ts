import type { RpcFinality, RpcHeads } from "../head-port.ts";

/** What was proven when a call began: what it says of later must still hold when it ends. */
export interface FinalityProof {
	readonly finality: RpcFinality | null;
	readonly setBacks: number;
}

/** The finality of the networks, and whether it has gone back. */
export class FinalityView {
	readonly #heads: RpcHeads;
	readonly #last = new Map<string, number>();
	readonly #setBacks = new Map<string, number>();
	readonly #onSetBack: (network: string, block: number) => void;
	#end: (() => void) | null = null;

	/** `onSetBack` is told when the final block of a network goes back, with the new one. */
	constructor(heads: RpcHeads, onSetBack: (network: string, block: number) => void) {
		this.#heads = heads;
		this.#onSetBack = onSetBack;
	}

	/** Heads are followed only for those who listen. */
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
	 * True where the block was final when the call began and still is, and the upstream that answered is known to have
	 * had it by then.
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
