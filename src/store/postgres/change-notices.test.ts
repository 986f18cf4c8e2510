/** A node receives changes at once by notices; where these are lost, it reads changes each second. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { SQL } from "bun";
import { once, type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock, type Timers } from "../../telemetry/clock.ts";
import { createKey, requestReload, revokeKey } from "../admin.ts";
import type { ChangeListener } from "../core/store.ts";
import { TermClock, termTimes } from "../core/term-times.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import type { StoreChange } from "../types.ts";
import { startEpoch } from "./epochs.ts";
import { migrate } from "./migrate.ts";
import { PostgresChangeListener, postgresStore } from "./postgres-store.ts";
import { PrimaryFinder } from "./primary.ts";
import { postgresConnection } from "./store-connection.ts";
import { PostgresMonitor } from "./store-monitor.ts";

/** Timers of which the test runs some. */
class HandTimers implements Timers {
	readonly waiting = new Map<() => void, number>();

	after(delayMs: number, action: () => void): () => void {
		this.waiting.set(action, delayMs);
		return () => void this.waiting.delete(action);
	}

	/** Runs the timers that are due within this many milliseconds. */
	within(ms: number): void {
		for (const [action, delayMs] of [...this.waiting]) {
			if (delayMs > ms) continue;
			this.waiting.delete(action);
			action();
		}
	}
}

const deaf: ChangeListener = { listen: async () => {}, close: async () => {} };

let cluster: PostgresCluster;
let books: StoreFolder;
let watch: PostgresMonitor<SQL> | null = null;
const heard: StoreChange[] = [];

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

beforeEach(async () => {
	books = new StoreFolder(await cluster.newDatabase());
	await once(books.place, migrate);
	heard.length = 0;
});

afterEach(async () => {
	await watch?.stop();
	watch = null;
	await books.remove();
});

async function watching(ear: ChangeListener, timers: Timers): Promise<void> {
	const node = await once(books.place, (sql) => startEpoch(sql, { id: "node_a", epoch: 0, appliedSeq: 0 }, 60_000));
	watch = new PostgresMonitor({
		sharedStore: postgresStore(books.dir),
		link: postgresConnection(new PrimaryFinder(books.place, timers), { max: 2, name: "watch" }, timers),
		changeListener: ear,
		clock: new TermClock(systemClock),
		timers,
		times: termTimes(),
		node: () => node,
		appliedSeq: () => 0,
		checkpointed: () => {},
		shippedSeq: () => 0,
		behind: () => {},
		changes: (changes) => heard.push(...changes),
		beat: () => {},
		fed: () => {},
		fenced: () => {},
		fatal: (error) => {
			throw error;
		},
	});
	await watch.start();
}

async function revokeOne(): Promise<StoreChange> {
	const accountId = await books.account();
	const hash = "a".repeat(64);
	const key = await createKey(books.admin(), { accountId, type: "INFERENCE", hash, last6: "abcdef" });
	await revokeKey(books.admin(), key.id);
	return { kind: "key", accountId, keyId: key.id, hash };
}

test("a change is heard by its notice: nobody looks for it", async () => {
	const timers = new HandTimers();
	await watching(new PostgresChangeListener(new PrimaryFinder(books.place, timers), timers), timers);
	const change = await revokeOne();
	await until(() => heard.some((one) => one.kind === "key"));
	expect(heard).toContainEqual(change);
});

test("where the notice is lost it is found by the next look, which comes each second", async () => {
	const timers = new HandTimers();
	await watching(deaf, timers);
	for (let round = 1; round <= 3; round++) {
		await requestReload(books.admin());
		expect(heard.length).toBe(round - 1);
		timers.within(1_000);
		await until(() => heard.length === round);
	}
	expect(heard).toEqual(Array(3).fill({ kind: "reload" }));
});

test("an ear that was cut off hears again by itself", async () => {
	const timers = new HandTimers();
	await watching(new PostgresChangeListener(new PrimaryFinder(books.place, timers), timers), timers);
	await once(books.place, async (sql) => {
		const cut = await sql.unsafe(
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'turnpike ear'",
		);
		expect(cut.length).toBe(1);
	});
	// Notices in between are lost until the next read; from some moment on they arrive again.
	await until(async () => {
		await requestReload(books.admin());
		return heard.length > 0;
	});
});
