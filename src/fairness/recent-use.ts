/** Of the time that passes, the share by which what was used is forgotten: whoever uses a place less than that owes nothing. */
const FORGOTTEN_SHARE = 0.25;
/** Parties that are kept in mind; past it those that owe nothing are dropped. */
const MAX_KEPT = 10_000;

interface Use {
	readonly ms: number;
	readonly atMs: number;
}

/** How long each party has used places lately. */
export class RecentUse {
	readonly #uses = new Map<string, Use>();
	readonly #nowMs: () => number;

	constructor(nowMs: () => number) {
		this.#nowMs = nowMs;
	}

	/** Adds the time that a piece of a party's work had a place. */
	add(party: string, ms: number): void {
		const used = this.of(party) + ms;
		this.#uses.set(party, { ms: used, atMs: this.#nowMs() });
		if (this.#uses.size <= MAX_KEPT) return;
		for (const other of [...this.#uses.keys()]) if (this.of(other) === 0) this.#uses.delete(other);
	}

	/** Milliseconds. */
	of(party: string): number {
		const use = this.#uses.get(party);
		return use === undefined ? 0 : Math.max(0, use.ms - (this.#nowMs() - use.atMs) * FORGOTTEN_SHARE);
	}
}
