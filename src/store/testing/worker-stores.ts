/** Several workers of one SQLite store in one process: their messages are copied, as between processes. */
import type { JournalOptions } from "../../journal/index.ts";
import { type OpenedStore, openStore } from "../index.ts";
import { HostedWorker } from "../sqlite/hosted-worker.ts";
import { SqliteHost } from "../sqlite/sqlite-host.ts";
import type { StoreChannel } from "../store-channel.ts";
import type { FromThread, ToThread } from "../thread-protocol.ts";

export class WorkerStores {
	readonly #dir: string;
	readonly host: SqliteHost;
	readonly #workers = new Map<number, HostedWorker>();

	private constructor(dir: string, host: SqliteHost) {
		this.#dir = dir;
		this.host = host;
	}

	static async open(dir: string, workers: number): Promise<WorkerStores> {
		const host = await SqliteHost.open(
			{
				dataDir: dir,
				synchronous: "NORMAL",
				changesEveryMs: 20,
				checkpointEveryMs: 1_000,
				callPatienceMs: 5_000,
				shared: true,
			},
			workers,
		);
		return new WorkerStores(dir, host);
	}

	connect(worker: number, journal: Partial<Omit<JournalOptions, "dir" | "start">> = {}): Promise<OpenedStore> {
		return openStore({
			dataDir: this.#dir,
			worker,
			channel: this.#channel(worker),
			journal: { minFreeDiskBytes: 0, segmentBytes: 1 << 20, ...journal },
		});
	}

	/** Ends a worker as a kill does: nothing more of it reaches the store but its journal. */
	async kill(worker: number): Promise<void> {
		await this.#workers.get(worker)?.ended();
		this.#workers.delete(worker);
	}

	close(): Promise<void> {
		return this.host.close();
	}

	#channel(worker: number): StoreChannel {
		let handle: (message: FromThread) => void = () => {};
		const hosted = new HostedWorker(this.host, worker, (message) => {
			const copy = structuredClone(message);
			setImmediate(() => handle(copy));
		});
		this.#workers.set(worker, hosted);
		return {
			send: (message: ToThread) => {
				const copy = structuredClone(message);
				setImmediate(() => void hosted.receive(copy));
			},
			receive: (to) => {
				handle = to;
			},
			close: () => {
				handle = () => {};
			},
		};
	}
}
