export interface Deadline {
	readonly atMs: number;
	readonly expire: () => void;
}

/**
 * Many deadlines that are seldom reached, behind one timer: adding or removing one costs a set operation. They expire up to
 * `grainMs` late. The timer runs only while there are deadlines, and keeps no process alive.
 */
export class Deadlines {
	readonly #pending = new Set<Deadline>();
	readonly #grainMs: number;
	#timer: ReturnType<typeof setInterval> | null = null;
	#idleTicks = 0;

	constructor(grainMs: number) {
		this.#grainMs = grainMs;
	}

	/** Calls `expire` once `afterMs` have passed, unless it is removed before. */
	add(afterMs: number, expire: () => void): Deadline {
		const deadline = { atMs: performance.now() + afterMs, expire };
		this.#pending.add(deadline);
		if (this.#timer === null) {
			this.#timer = setInterval(() => this.#look(), Math.min(this.#grainMs, afterMs));
			this.#timer.unref();
		}
		return deadline;
	}

	remove(deadline: Deadline): void {
		this.#pending.delete(deadline);
	}

	#look(): void {
		const now = performance.now();
		for (const deadline of this.#pending) {
			if (deadline.atMs > now) continue;
			this.#pending.delete(deadline);
			deadline.expire();
		}
		this.#idleTicks = this.#pending.size === 0 ? this.#idleTicks + 1 : 0;
		if (this.#idleTicks < 10 || this.#timer === null) return;
		clearInterval(this.#timer);
		this.#timer = null;
		this.#idleTicks = 0;
	}
}
