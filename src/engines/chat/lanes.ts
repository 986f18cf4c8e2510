import { ApiError } from "../../errors/index.ts";

interface Waiting<Lane> {
	give(lane: Lane): void;
}

/**
 * The engine's sequences, one for each request that runs. Who finds none free waits in line; a line that is
 * full turns the caller away at once.
 */
export class Lanes<Lane> {
	readonly #free: Lane[];
	readonly #line: Waiting<Lane>[] = [];
	readonly #maxWaiting: number;
	readonly #total: number;
	/** Mean time of a request, in ms, of the recent ones. */
	#meanMs = 5_000;

	constructor(lanes: readonly Lane[], maxWaiting: number) {
		this.#free = [...lanes];
		this.#total = lanes.length;
		this.#maxWaiting = maxWaiting;
	}

	get busy(): boolean {
		return this.#free.length < this.#total;
	}

	get waiting(): number {
		return this.#line.length;
	}

	/**
	 * Runs `work` on a lane of its own.
	 * @param choose which of the free lanes suits best
	 * @throws ApiError MODEL_OVERLOADED where the line is full; the signal's reason where the caller leaves the line
	 */
	async run<T>(
		signal: AbortSignal,
		choose: (free: readonly Lane[]) => Lane | undefined,
		work: (lane: Lane) => Promise<T>,
	): Promise<T> {
		signal.throwIfAborted();
		const lane = this.#take(choose) ?? (await this.#wait(signal));
		const startedAt = performance.now();
		try {
			return await work(lane);
		} finally {
			this.#meanMs = this.#meanMs * 0.8 + (performance.now() - startedAt) * 0.2;
			const next = this.#line.shift();
			if (next) next.give(lane);
			else this.#free.push(lane);
		}
	}

	#take(choose: (free: readonly Lane[]) => Lane | undefined): Lane | undefined {
		const lane = choose(this.#free);
		if (lane !== undefined) this.#free.splice(this.#free.indexOf(lane), 1);
		return lane;
	}

	#wait(signal: AbortSignal): Promise<Lane> {
		if (this.#line.length >= this.#maxWaiting) {
			const seconds = Math.ceil((this.#meanMs * (this.#line.length + 1)) / this.#total / 1000);
			throw new ApiError("MODEL_OVERLOADED", {
				message: `The embedded model is busy and ${this.#line.length} requests wait; try again shortly`,
				retryAfterSeconds: Math.min(Math.max(seconds, 1), 60),
			});
		}
		return new Promise((resolve, reject) => {
			const onAbort = () => {
				this.#line.splice(this.#line.indexOf(waiting), 1);
				reject(signal.reason);
			};
			const waiting: Waiting<Lane> = {
				give: (lane) => {
					signal.removeEventListener("abort", onAbort);
					resolve(lane);
				},
			};
			this.#line.push(waiting);
			signal.addEventListener("abort", onAbort, { once: true });
		});
	}
}
