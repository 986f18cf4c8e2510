/**
 * Tracks whether a cached object includes its last change. The object is stale from a change notice until a read that
 * began after the notice is answered: a read that was already running may miss the change.
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

	/** Call in the turn in which a read goes out, and pass the mark to `read` when it is answered. */
	mark(): number {
		return this.#notices;
	}

	read(mark: number): void {
		this.#known = mark;
	}
}
