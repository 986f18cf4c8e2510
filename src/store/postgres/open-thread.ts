/** Opens the store thread on a real PostgreSQL: connections, schema, the node's id, its journal. */
import type { SQL } from "bun";
import { JournalReader } from "../../journal/index.ts";
import { sleep, systemTimers } from "../../telemetry/clock.ts";
import { openPostgresAdmin } from "../admin/open-admin.ts";
import { runOperation } from "../admin/operations.ts";
import { StoreThread } from "../core/store-thread.ts";
import type { TermClock } from "../core/term-times.ts";
import { journalFolder } from "../data-folder.ts";
import type { FromThread, ThreadOptions } from "../thread-protocol.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { isStoreTrouble, isWrongAddress } from "./faults.ts";
import { migrate } from "./migrate.ts";
import { nodeIdIn } from "./node-file.ts";
import { PostgresMinutes } from "./postgres-minutes.ts";
import { PostgresChangeListener, postgresStore } from "./postgres-store.ts";
import { PrimaryFinder } from "./primary.ts";
import { postgresConnection } from "./store-connection.ts";
import { PostgresMonitor, WATCH_STATEMENT_MS } from "./store-monitor.ts";
import { TimelineFile } from "./timeline-file.ts";

/** A shipping transaction ends before cursor pages reach its rows: pages end 5 s before now. */
const STATEMENT_MS = 4_000;
const SILENCE_MS = 20_000;
/** One connection works at a time; the second is used while the first is abandoned. */
const CONNECTIONS = 2;
const RETRY_MS = 100;
const BATCH_RECORDS = 1_000;

type Options = ThreadOptions & { readonly postgres: NonNullable<ThreadOptions["postgres"]> };

/**
 * Opens the thread once its store can be reached.
 *
 * @param clock is aligned by the answers to `clock`, which the thread requests before its first heartbeat and after
 * each successful one.
 * @throws where the store cannot be used, or not be reached within `startPatienceMs`
 */
export async function openPostgresThread(
	options: Options,
	clock: TermClock,
	send: (message: FromThread) => void,
): Promise<StoreThread<SQL>> {
	const sendToLoop = (message: FromThread) => {
		send(message);
		if (message.type === "beat") send({ type: "clock" });
	};
	send({ type: "clock" });
	await clock.aligned;
	return reached(options.postgres.startPatienceMs, () => open(options, clock, sendToLoop));
}

async function open(options: Options, clock: TermClock, send: (message: FromThread) => void): Promise<StoreThread<SQL>> {
	const { url, term } = options.postgres;
	const primary = new PrimaryFinder(url, systemTimers, new TimelineFile(options.dataDir));
	await withoutLimit(await primary.find(), migrate);
	const linked = (to: ConnectOptions) => postgresConnection(primary, to, systemTimers);
	const link = linked({ max: CONNECTIONS, name: "turnpike", statementTimeoutMs: STATEMENT_MS });
	const watchLink = linked({ max: CONNECTIONS, name: "turnpike watch", statementTimeoutMs: WATCH_STATEMENT_MS });
	const changeListener = new PostgresChangeListener(primary, systemTimers);
	const admin = openPostgresAdmin(primary);
	const minutes = new PostgresMinutes(primary, systemTimers);
	try {
		const [{ value: storeId }] = await link.run(SILENCE_MS, (sql) =>
			sql.unsafe("SELECT value FROM meta WHERE name = 'store_id'"),
		);
		const nodeId = nodeIdIn(options.dataDir, storeId);
		const store = postgresStore(options.dataDir);
		const thread = await StoreThread.open(
			{
				store,
				link,
				monitor: (hooks) => {
					const monitor = new PostgresMonitor({
						...hooks,
						sharedStore: store,
						link: watchLink,
						changeListener,
						clock,
						timers: systemTimers,
						times: term,
					});
					primary.onMoved(() => monitor.moved());
					return monitor;
				},
				clock,
				timers: systemTimers,
				termMs: term.termMs,
				isStoreTrouble,
				retainsAside: true,
				nodeId,
				dataDir: options.dataDir,
				callPatienceMs: options.callPatienceMs,
				batchRecords: BATCH_RECORDS,
				journal: (nextSeq) => new JournalReader({ dir: journalFolder(options.dataDir), nodeId, nextSeq }),
				admin: ({ operation, input }) => runOperation(admin, operation, input as never),
				minutes,
				closeAdmin: () => {
					primary.stop();
					return admin.close();
				},
			},
			send,
		);
		primary.watch();
		return thread;
	} catch (error) {
		await Promise.allSettled([link.close(), watchLink.close(), changeListener.close(), admin.close(), minutes.close()]);
		throw error;
	}
}

/** Runs work without a statement timeout: a migration may take long. */
async function withoutLimit(url: string, work: (sql: SQL) => Promise<void>): Promise<void> {
	const sql = connect(url, { max: 1, name: "turnpike migration" });
	try {
		await work(sql);
	} finally {
		await sql.close();
	}
}

/** Waits for the store: nodes and their store are often started together, and the store may be later. */
async function reached<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
	const deadline = performance.now() + patienceMs;
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (isWrongAddress(error) || !isStoreTrouble(error) || performance.now() >= deadline) throw error;
		}
		await sleep(systemTimers, RETRY_MS);
	}
}
