/** A worker that ran at least this long is started again at once. */
const STEADY_MS = 10_000;
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** The pause before a worker's next start, which doubles while its runs end early. */
export class RestartDelay {
	#nextMs = 0;

	/** Returns the pause after a run of this length, in milliseconds. */
	after(ranMs: number): number {
		if (ranMs >= STEADY_MS) this.#nextMs = 0;
		const pauseMs = this.#nextMs;
		this.#nextMs = Math.min(LONGEST_MS, Math.max(FIRST_MS, pauseMs * 2));
		return pauseMs;
	}
}
