/** The SQLite store of a server with several workers: the process that starts them owns it. */
import type { Durability } from "../journal/index.ts";
import { databasePath } from "./data-folder.ts";
import { STORE_TIMES, synchronousOf } from "./open-store.ts";
import { asStoreFault } from "./sqlite/damage.ts";
import { type DataLock, lockDataFolder, waitForWorkers } from "./sqlite/data-lock.ts";
import { HostedWorker } from "./sqlite/hosted-worker.ts";
import { SqliteHost } from "./sqlite/sqlite-host.ts";
import { refuseLostStore } from "./store-lost.ts";
import type { FromThread } from "./thread-protocol.ts";

export interface WorkerStoresOptions {
	readonly dataDir: string;
	readonly durability: Durability;
	/** Number of workers that will connect. */
	readonly workers: number;
}

export class WorkerStores {
	readonly #host: SqliteHost;
	readonly #lock: DataLock;

	private constructor(host: SqliteHost, lock: DataLock) {
		this.#host = host;
		this.#lock = lock;
	}

	/**
	 * Locks the data folder, opens the database, and applies what workers left in their journals that do not run any
	 * more. Throws what `openStore` throws.
	 */
	static async open({ dataDir, durability, workers }: WorkerStoresOptions): Promise<WorkerStores> {
		const lock = lockDataFolder(dataDir);
		try {
			waitForWorkers(dataDir);
			refuseLostStore(dataDir);
			const options = { ...STORE_TIMES, dataDir, synchronous: synchronousOf(durability), shared: true };
			return new WorkerStores(await SqliteHost.open(options, workers), lock);
		} catch (error) {
			lock.release();
			throw asStoreFault(databasePath(dataDir), error);
		}
	}

	/** Returns the store thread of one run of a worker; `send` passes its messages on to the worker. */
	worker(number: number, send: (message: FromThread) => void): HostedWorker {
		return new HostedWorker(this.#host, number, send);
	}

	/** Writes a checkpoint and closes. The workers have ended. */
	async close(): Promise<void> {
		try {
			await this.#host.close();
		} finally {
			this.#lock.release();
		}
	}
}
