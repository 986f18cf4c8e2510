import type { MetricsFormat, MetricsPeers, WorkerMetrics } from "../../../observability/metrics/index.ts";
import type { StoreChannel } from "../../../store/index.ts";
import { StoreThreadError } from "../../../store/index.ts";
import { type FromWorker, JOINS_VARIABLE, type ToWorker, WORKER_VARIABLE } from "./messages.ts";

/** A worker's way to its supervisor. */
export class WorkerLink implements MetricsPeers {
	readonly number: number;
	/** True where other workers serve already: this one must take no connection before it can answer. */
	readonly joins = process.env[JOINS_VARIABLE] === "1";
	readonly #requested = new Map<number, (pages: readonly WorkerMetrics[]) => void>();
	#lastId = 0;
	#onStore: (message: Extract<ToWorker, { type: "store" }>["message"]) => void = () => {};
	#onStoreLost: (error: Error) => void = () => {};
	#readMetrics: ((format: MetricsFormat) => Promise<string>) | null = null;

	private constructor(number: number) {
		this.number = number;
		process.on("message", (message: ToWorker) => this.#receive(message));
		process.on("disconnect", () => this.#supervisorEnded());
	}

	/** Returns the link of a process that a supervisor has started; null in any other process. */
	static fromEnvironment(): WorkerLink | null {
		const number = process.env[WORKER_VARIABLE];
		return number === undefined || process.send === undefined ? null : new WorkerLink(Number(number));
	}

	/** Returns the way to the store thread that the supervisor runs for this worker. */
	storeChannel(): StoreChannel {
		return {
			send: (message) => this.#send({ type: "store", message }),
			receive: (handle, failed) => {
				this.#onStore = handle;
				this.#onStoreLost = failed;
			},
			close: () => {
				this.#onStore = () => {};
				this.#onStoreLost = () => {};
			},
		};
	}

	/** Notifies the supervisor that this worker answers requests. */
	serving(url: string): void {
		this.#send({ type: "serving", url });
	}

	serveMetrics(read: (format: MetricsFormat) => Promise<string>): void {
		this.#readMetrics = read;
	}

	collectMetrics(format: MetricsFormat): Promise<readonly WorkerMetrics[]> {
		const id = ++this.#lastId;
		return new Promise((resolve) => {
			this.#requested.set(id, resolve);
			this.#send({ type: "all-metrics", id, format });
		});
	}

	#receive(message: ToWorker): void {
		switch (message.type) {
			case "store":
				this.#onStore(message.message);
				return;
			case "ping":
				this.#send({ type: "pong" });
				return;
			case "metrics":
				void this.#answerMetrics(message.id, message.format);
				return;
			case "all-metrics":
				this.#requested.get(message.id)?.(message.pages);
				this.#requested.delete(message.id);
		}
	}

	async #answerMetrics(id: number, format: MetricsFormat): Promise<void> {
		const text = (await this.#readMetrics?.(format)) ?? "";
		this.#send({ type: "metrics", id, text });
	}

	/** Without its supervisor a worker has no store on SQLite, and nobody who would start it again. */
	#supervisorEnded(): void {
		this.#onStoreLost(new StoreThreadError("the process that started this worker has ended"));
		process.exit(1);
	}

	#send(message: FromWorker): void {
		if (process.connected) process.send?.(message);
	}
}
