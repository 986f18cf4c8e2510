import type { Config } from "../../config/index.ts";
import { openMode } from "../../journal/owner-only.ts";
import { makeDataFolder, type OpenedStore, openStore, workerFolder, workerNumbers } from "../../store/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { withStoreFaults } from "../store-fault.ts";
import { warnIfStoreIsSlow } from "./startup-errors.ts";
import { workerCount } from "./workers/worker-count.ts";
import type { WorkerLink } from "./workers/worker-link.ts";

const MEBIBYTE = 1_048_576;
/** The files are readable by the owner only, but others see their names, sizes and times. */
const OPEN_FOLDER = "other users can read the data folder: run chmod 700 on it";

/** Creates the data folder, and warns if others can read it. An error ends the process with 1. */
export async function openDataFolder(config: Config, log: Log): Promise<void> {
	await withStoreFaults(config, () => makeDataFolder(config.data));
	const mode = openMode(config.data);
	if (mode !== null) log.warn({ folder: config.data, mode }, OPEN_FOLDER);
}

/**
 * Returns the folder of this node's journal and files. Workers on PostgreSQL are nodes of their own; those on SQLite
 * share the data folder, since each must find the others' stored answers.
 */
export function nodeFolder({ data, store }: Pick<Config, "data" | "store">, worker: WorkerLink | null): string {
	return store === undefined ? data : workerFolder(data, worker?.number ?? 0);
}

/** Opens store and journal, and applies posts that an earlier run left in the journal. An error ends the process with 1. */
export async function openNodeStore(config: Config, worker: WorkerLink | null, log: Log): Promise<OpenedStore> {
	const slow = warnIfStoreIsSlow(config, log);
	const { durability, segmentMb, minFreeDiskMb, maxBacklogMb } = config.journal;
	const opened = await withStoreFaults(config, () =>
		openStore({
			dataDir: nodeFolder(config, worker),
			...(worker !== null && config.store === undefined ? { worker: worker.number, channel: worker.storeChannel() } : {}),
			postgres: config.store,
			termMs: config.node.termMs,
			journal: {
				...(durability === undefined ? {} : { durability }),
				segmentBytes: segmentMb * MEBIBYTE,
				minFreeDiskBytes: minFreeDiskMb * MEBIBYTE,
				maxBacklogBytes: maxBacklogMb * MEBIBYTE,
			},
		}),
	);
	clearTimeout(slow);
	const { replayedGroups, lostTail } = opened;
	if (replayedGroups > 0) log.info({ groups: replayedGroups }, "the journal of an earlier run was applied");
	if (lostTail !== null) log.error({ ...lostTail }, "a power cut lost the unsynced end of the journal");
	return opened;
}

/**
 * Applies what workers of an earlier run left in their journals, where fewer run now, and ends their terms. (On SQLite
 * the owner of the store does this before it opens.)
 */
export async function endFormerWorkers(config: Config, log: Log): Promise<void> {
	if (config.store === undefined) return;
	for (const worker of workerNumbers(config.data).filter((number) => number >= workerCount(config))) {
		const dataDir = workerFolder(config.data, worker);
		try {
			const { store } = await openStore({ dataDir, postgres: config.store, termMs: config.node.termMs });
			await store.close();
		} catch (error) {
			log.error({ folder: dataDir, cause: (error as Error).message }, "the journal of a former worker could not be applied");
		}
	}
}
