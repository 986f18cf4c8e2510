import { Histogram } from "../../telemetry/histogram.ts";

const EVERY_MS = 500;
const LAG_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const;

/** Measures how late timers run, which is how long the event loop was blocked. It starts with the first scrape. */
export class LoopLag {
	readonly seconds = new Histogram(LAG_SECONDS);
	#timer: ReturnType<typeof setInterval> | null = null;

	start(): void {
		if (this.#timer !== null) return;
		let dueAt = performance.now() + EVERY_MS;
		this.#timer = setInterval(() => {
			const now = performance.now();
			this.seconds.add(Math.max(0, now - dueAt) / 1_000);
			dueAt = now + EVERY_MS;
		}, EVERY_MS);
		this.#timer.unref();
	}

	stop(): void {
		if (this.#timer !== null) clearInterval(this.#timer);
		this.#timer = null;
	}
}
