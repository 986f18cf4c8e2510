/** Of the time that passes, the share by which what was used is forgotten: whoever uses less than that owes nothing. */
const FORGOTTEN_SHARE = 0.25;
/** Parties that are kept in mind; past it those that owe nothing are dropped. */
const MAX_KEPT = 10_000;

interface Use {
	readonly ms: number;
	readonly atMs: number;
}

/** How much time each party has used lately, of places or of processors. */
export class RecentUse {
	readonly #uses = new Map<string, Use>();
	readonly #monotonicMs: () => number;

	constructor(monotonicMs: () => number) {
		this.#monotonicMs = monotonicMs;
	}

	/** Adds what a piece of a party's work has used. */
	add(party: string, ms: number): void {
		const used = this.of(party) + ms;
		this.#uses.set(party, { ms: used, atMs: this.#monotonicMs() });
		if (this.#uses.size <= MAX_KEPT) return;
		for (const other of [...this.#uses.keys()]) if (this.of(other) === 0) this.#uses.delete(other);
	}

	/** How long until a party has used no more than `mostMs`; 0: it has not. */
	waitMs(party: string, mostMs: number): number {
		return Math.max(0, this.of(party) - mostMs) / FORGOTTEN_SHARE;
	}

	/** Milliseconds. */
	of(party: string): number {
		const use = this.#uses.get(party);
		return use === undefined ? 0 : Math.max(0, use.ms - (this.#monotonicMs() - use.atMs) * FORGOTTEN_SHARE);
	}
}
