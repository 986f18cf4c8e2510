import type { Timers } from "../../../telemetry/clock.ts";
import type { WorkerAnswer } from "../../../telemetry/worker-peers.ts";

/** A worker that does not answer in this time is left out. */
const PATIENCE_MS = 3_000;

interface Gathering {
	readonly answers: WorkerAnswer[];
	readonly waitingFor: Set<number>;
	readonly finish: () => void;
}

/** Gathers what all workers answer to a question of one. */
export class GatheredAnswers {
	readonly #timers: Timers;
	readonly #gatherings = new Map<number, Gathering>();
	#lastId = 0;

	constructor(timers: Timers) {
		this.#timers = timers;
	}

	/**
	 * Calls `request` for each worker, and resolves with the answers, in the order of their
	 * numbers.
	 */
	gather(workers: readonly number[], request: (worker: number, id: number) => void): Promise<readonly WorkerAnswer[]> {
		const id = ++this.#lastId;
		return new Promise((resolve) => {
			const answers: WorkerAnswer[] = [];
			const finish = () => {
				cancel();
				this.#gatherings.delete(id);
				resolve(answers.sort((a, b) => a.worker - b.worker));
			};
			const cancel = this.#timers.after(PATIENCE_MS, finish);
			this.#gatherings.set(id, { answers, waitingFor: new Set(workers), finish });
			for (const worker of workers) request(worker, id);
			if (workers.length === 0) finish();
		});
	}

	/** Handles a worker's answer. */
	answered(id: number, answer: WorkerAnswer): void {
		const gathering = this.#gatherings.get(id);
		if (gathering?.waitingFor.delete(answer.worker) !== true) return;
		gathering.answers.push(answer);
		if (gathering.waitingFor.size === 0) gathering.finish();
	}

	/** Handles the end of a worker: nothing waits for it. */
	ended(worker: number): void {
		for (const { waitingFor, finish } of [...this.#gatherings.values()])
			if (waitingFor.delete(worker) && waitingFor.size === 0) finish();
	}
}
