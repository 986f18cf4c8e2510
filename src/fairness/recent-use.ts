/** The rate at which use is forgotten, as a share of the elapsed time: a party that uses less than that has no recent use. */
const FORGOTTEN_SHARE = 0.25;
/** The number of parties in memory; above it those without recent use are dropped. */
const MAX_KEPT = 10_000;

interface Use {
	readonly ms: number;
	readonly atMs: number;
}

/** Counts how much time each party has used lately, of places or of processors. */
export class RecentUse {
	readonly #uses = new Map<string, Use>();
	readonly #monotonicMs: () => number;

	constructor(monotonicMs: () => number) {
		this.#monotonicMs = monotonicMs;
	}

	/** Adds the time that a piece of a party's work used. */
	add(party: string, ms: number): void {
		const used = this.of(party) + ms;
		this.#uses.set(party, { ms: used, atMs: this.#monotonicMs() });
		if (this.#uses.size <= MAX_KEPT) return;
		for (const other of [...this.#uses.keys()]) if (this.of(other) === 0) this.#uses.delete(other);
	}

	/** Returns how long until a party's recent use is at most `mostMs`; 0: it already is. */
	waitMs(party: string, mostMs: number): number {
		return Math.max(0, this.of(party) - mostMs) / FORGOTTEN_SHARE;
	}

	/** Returns a party's recent use in milliseconds. */
	of(party: string): number {
		const use = this.#uses.get(party);
		return use === undefined ? 0 : Math.max(0, use.ms - (this.#monotonicMs() - use.atMs) * FORGOTTEN_SHARE);
	}
}
