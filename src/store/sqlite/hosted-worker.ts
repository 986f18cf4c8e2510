import type { Database } from "bun:sqlite";
import type { StoreThread } from "../core/store-thread.ts";
import { type FromThread, sentError, type ToThread } from "../thread-protocol.ts";
import type { SqliteHost } from "./sqlite-host.ts";

/** The store thread of one worker, as the process that owns the store runs it. */
export class HostedWorker {
	readonly #host: SqliteHost;
	readonly #worker: number;
	readonly #send: (message: FromThread) => void;
	#thread: Promise<StoreThread<Database>> | null = null;

	constructor(host: SqliteHost, worker: number, send: (message: FromThread) => void) {
		this.#host = host;
		this.#worker = worker;
		this.#send = send;
	}

	/** Handles a message of the worker. */
	async receive(message: ToThread): Promise<void> {
		if (message.type === "clock") return;
		try {
			if (message.type === "open") this.#thread = this.#host.connect(this.#worker, this.#send);
			const thread = await this.#thread;
			if (message.type !== "open") thread?.receive(message);
		} catch (error) {
			this.#send({ type: "fatal", error: sentError(error) });
		}
	}

	/**
	 * Handles the end of the worker's process, however it came: applies what its journal still holds, and frees its
	 * leases. Throws errors of the store and of the journal: the worker's next start tries again.
	 */
	async ended(): Promise<void> {
		const thread = await this.#thread?.catch(() => null);
		await thread?.abandon();
		await this.#host.end(this.#worker);
	}
}
