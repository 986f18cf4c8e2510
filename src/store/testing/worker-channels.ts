/** Several workers of one SQLite store in one process: their messages are copied, as between processes. */
import type { JournalOptions } from "../../journal/index.ts";
import { type OpenedStore, openStore } from "../index.ts";
import type { HostedWorker } from "../sqlite/hosted-worker.ts";
import type { StoreChannel } from "../store-channel.ts";
import type { FromThread, ToThread } from "../thread-protocol.ts";
import { WorkerStores } from "../worker-stores.ts";

export class WorkerChannels {
	readonly #dir: string;
	readonly #stores: WorkerStores;
	readonly #workers = new Map<number, HostedWorker>();

	private constructor(dir: string, stores: WorkerStores) {
		this.#dir = dir;
		this.#stores = stores;
	}

	static async open(dir: string, workers: number): Promise<WorkerChannels> {
		return new WorkerChannels(dir, await WorkerStores.open({ dataDir: dir, durability: "process", workers }));
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
		return this.#stores.close();
	}

	#channel(worker: number): StoreChannel {
		let handle: (message: FromThread) => void = () => {};
		const hosted = this.#stores.worker(worker, (message) => {
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
