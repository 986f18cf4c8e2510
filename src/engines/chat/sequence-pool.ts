import { ApiError } from "../../errors/index.ts";
import { FairQueue, type Requester } from "../../fairness/index.ts";

/**
 * The engine's sequences, one for each running request. Requests wait in a queue that tenants share; a full queue refuses at
 * once. The last lane is for a tenant without a running request.
 */
export class SequencePool<Lane> {
	readonly #free: Lane[];
	readonly #gate: FairQueue;
	readonly #places: number;
	/** Mean duration of recent requests, in ms. */
	#meanMs = 5_000;

	/** @param lanes one more than the number of concurrent requests of one tenant */
	constructor(lanes: readonly Lane[], maxWaiting: number) {
		this.#free = [...lanes];
		this.#places = Math.max(1, lanes.length - 1);
		this.#gate = new FairQueue({
			places: this.#places,
			reserve: lanes.length > 1,
			maxWaiting,
			overflow: () => this.#overflow(),
		});
	}

	get busy(): boolean {
		return this.#gate.running > 0;
	}

	get waiting(): number {
		return this.#gate.waiting;
	}

	/**
	 * Runs `work` on a lane of its own.
	 * @param choose returns the best of the free lanes
	 * @throws {ApiError} MODEL_OVERLOADED if the queue is full; the signal's reason if the caller leaves it
	 */
	run<T>(
		requester: Requester,
		choose: (free: readonly Lane[]) => Lane | undefined,
		work: (lane: Lane) => Promise<T>,
	): Promise<T> {
		return this.#gate.run(requester, async () => {
			const lane = choose(this.#free);
			if (lane === undefined) throw new Error("more requests run than there are lanes");
			this.#free.splice(this.#free.indexOf(lane), 1);
			const startedAt = performance.now();
			try {
				return await work(lane);
			} finally {
				this.#meanMs = this.#meanMs * 0.8 + (performance.now() - startedAt) * 0.2;
				this.#free.push(lane);
			}
		});
	}

	#overflow(): ApiError {
		const seconds = Math.ceil((this.#meanMs * (this.waiting + 1)) / this.#places / 1000);
		return new ApiError("MODEL_OVERLOADED", {
			message: `The embedded model is busy and ${this.waiting} requests wait; try again shortly`,
			retryAfterSeconds: Math.min(Math.max(seconds, 1), 60),
		});
	}
}
