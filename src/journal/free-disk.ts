/** Watches the free space of the data folder, so that the hot path only reads a boolean. */
import { statfs } from "node:fs/promises";

export class FreeDisk {
	readonly #dir: string;
	readonly #minBytes: number;
	readonly #timer: Timer;
	#freeBytes = Number.POSITIVE_INFINITY;

	constructor(dir: string, minBytes: number, everyMs: number) {
		this.#dir = dir;
		this.#minBytes = minBytes;
		this.#timer = setInterval(() => void this.check(), everyMs);
		this.#timer.unref();
	}

	/** True if the last check found less free space than required. */
	get low(): boolean {
		return this.#freeBytes < this.#minBytes;
	}

	/**
	 * Checks the free space now. A file system that does not report it counts as having space, since a failed write is
	 * noticed anyway.
	 */
	async check(): Promise<void> {
		try {
			const stat = await statfs(this.#dir);
			this.#freeBytes = stat.bavail * stat.bsize;
		} catch {
			this.#freeBytes = Number.POSITIVE_INFINITY;
		}
	}

	stop(): void {
		clearInterval(this.#timer);
	}
}
