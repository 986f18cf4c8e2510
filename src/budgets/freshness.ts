/**
 * Whether a cached object is as its last change notice left it. Stale from a notice until a read that was asked
 * for after it has been answered: a read that was under way when the notice came may not hold the change.
 */
export class Freshness {
	#notices = 0;
	#known = 0;

	get stale(): boolean {
		return this.#known !== this.#notices;
	}

	changed(): void {
		this.#notices++;
	}

	/** Call in the turn in which a read goes out; hand the mark to `read` when it is answered. */
	mark(): number {
		return this.#notices;
	}

	read(mark: number): void {
		this.#known = mark;
	}
}
