import type { StoreChannel } from "../../../store/index.ts";
import { StoreThreadError } from "../../../store/index.ts";
import type { WorkerAnswer, WorkerPeers } from "../../../telemetry/worker-peers.ts";
import { type FromWorker, JOINS_VARIABLE, type ToWorker, WORKER_VARIABLE } from "./messages.ts";

/** A worker's way to its supervisor. */
export class WorkerLink implements WorkerPeers {
	readonly number: number;
	/** True where other workers serve already: this one must take no connection before it can answer. */
	readonly joins = process.env[JOINS_VARIABLE] === "1";
	readonly #gathering = new Map<number, (answers: readonly WorkerAnswer[]) => void>();
	readonly #handlers = new Map<string, (input: string) => unknown>();
	#lastId = 0;
	#onStore: (message: Extract<ToWorker, { type: "store" }>["message"]) => void = () => {};
	#onStoreLost: (error: Error) => void = () => {};

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

	answer(question: string, handler: (input: string) => unknown): void {
		this.#handlers.set(question, handler);
	}

	gather(question: string, input = ""): Promise<readonly WorkerAnswer[]> {
		const id = ++this.#lastId;
		return new Promise((resolve) => {
			this.#gathering.set(id, resolve);
			this.#send({ type: "gather", id, question, input });
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
			case "ask":
				void this.#answer(message);
				return;
			case "gathered":
				this.#gathering.get(message.id)?.(message.answers);
				this.#gathering.delete(message.id);
		}
	}

	/** Answers a question that has a handler yet; without an answer, the gathering goes on after a while. */
	async #answer({ id, question, input }: Extract<ToWorker, { type: "ask" }>): Promise<void> {
		const answer = await this.#handlers.get(question)?.(input);
		if (answer !== undefined) this.#send({ type: "answer", id, answer });
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
