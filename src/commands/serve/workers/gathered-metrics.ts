import type { WorkerMetrics } from "../../../observability/metrics/index.ts";
import type { Timers } from "../../../telemetry/clock.ts";

/** A worker that does not answer in this time is left out. */
const PATIENCE_MS = 3_000;

interface Gathering {
	readonly pages: WorkerMetrics[];
	readonly waitingFor: Set<number>;
	readonly finish: () => void;
}

/** Gathers the metrics of all workers for the one that is scraped. */
export class GatheredMetrics {
	readonly #timers: Timers;
	readonly #gatherings = new Map<number, Gathering>();
	#lastId = 0;

	constructor(timers: Timers) {
		this.#timers = timers;
	}

	/**
	 * Calls `request` for each worker, and resolves with the pages of those that answered, in the order of their
	 * numbers.
	 */
	gather(workers: readonly number[], request: (worker: number, id: number) => void): Promise<readonly WorkerMetrics[]> {
		const id = ++this.#lastId;
		return new Promise((resolve) => {
			const pages: WorkerMetrics[] = [];
			const finish = () => {
				cancel();
				this.#gatherings.delete(id);
				resolve(pages.sort((a, b) => a.worker - b.worker));
			};
			const cancel = this.#timers.after(PATIENCE_MS, finish);
			this.#gatherings.set(id, { pages, waitingFor: new Set(workers), finish });
			for (const worker of workers) request(worker, id);
			if (workers.length === 0) finish();
		});
	}

	/** Handles a worker's answer. */
	answered(id: number, page: WorkerMetrics): void {
		const gathering = this.#gatherings.get(id);
		if (gathering?.waitingFor.delete(page.worker) !== true) return;
		gathering.pages.push(page);
		if (gathering.waitingFor.size === 0) gathering.finish();
	}

	/** Handles the end of a worker: nothing waits for it. */
	ended(worker: number): void {
		for (const { waitingFor, finish } of [...this.#gatherings.values()])
			if (waitingFor.delete(worker) && waitingFor.size === 0) finish();
	}
}
