import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { type OpenedStore, openStore } from "../store/index.ts";
import { type OldMonths, writeOldMonths } from "../store/testing/old-months.ts";
import { StoreFolder } from "../store/testing/store-folder.ts";
import { ManualClock, type Timers } from "../telemetry/clock.ts";
import { createLog } from "../telemetry/log.ts";
import { RetentionJob } from "./retention-job.ts";

const HOUR_MS = 3_600_000;

/** Timers that a test lets run, one after the other. */
class HandTimers implements Timers {
	readonly delays: number[] = [];
	#next: (() => void) | null = null;

	after(delayMs: number, action: () => void): () => void {
		this.delays.push(delayMs);
		this.#next = action;
		return () => {
			this.#next = null;
		};
	}

	get waits(): boolean {
		return this.#next !== null;
	}

	/** Runs what waits, and returns how long it is to the next time. */
	async run(): Promise<number> {
		const before = this.delays.length;
		this.#next?.();
		while (this.delays.length === before) await Bun.sleep(1);
		return this.delays.at(-1) ?? 0;
	}
}

let cluster: PostgresCluster;
let books: StoreFolder;
let old: OldMonths;
let opened: OpenedStore;
let timers: HandTimers;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

function keeper(retention: { journalMonths?: number; usageMonths?: number; requestDays: number }): RetentionJob {
	return new RetentionJob({
		store: opened.store,
		clock: new ManualClock(old.nowMs),
		timers,
		log: createLog("silent"),
		config: () => ({ retention, data: books.dir }),
	});
}

async function runToRest(): Promise<void> {
	for (let steps = 0; (await timers.run()) < HOUR_MS; steps++) expect(steps).toBeLessThan(100);
}

describe.each(["SQLite", "PostgreSQL"])("on %s", (store) => {
	beforeEach(async () => {
		books = new StoreFolder(store === "SQLite" ? undefined : await cluster.newDatabase());
		old = await writeOldMonths((now) => books.admin(now));
		opened = await openStore({ dataDir: books.dir, postgres: books.postgres, journal: { minFreeDiskBytes: 0 } });
		timers = new HandTimers();
	});

	afterEach(async () => {
		await opened.store.close();
		await books.remove();
	});

	test("what is older than the settings say leaves a running store by itself, and an hour later it looks again", async () => {
		const housekeeper = keeper({ journalMonths: 2, usageMonths: 4, requestDays: 30 });
		await runToRest();
		// The books end in October, and it is December.
		for (const month of ["2024-08", "2024-09"]) expect(existsSync(join(books.dir, `archive/${month}.ndjson.gz`))).toBe(true);
		expect(existsSync(join(books.dir, "archive/2024-10.ndjson.gz"))).toBe(false);
		expect((await books.audit()).findings).toEqual([]);
		expect(await timers.run()).toBe(HOUR_MS);
		housekeeper.stop();
		expect(timers.waits).toBe(false);
	});

	test("without settings no charge leaves", async () => {
		const housekeeper = keeper({ requestDays: 30 });
		await runToRest();
		expect(existsSync(join(books.dir, "archive"))).toBe(false);
		expect((await books.audit()).counted.posts).toBe(120);
		housekeeper.stop();
	});

	test("a fault is tried again an hour later, and the rest goes on meanwhile", async () => {
		const housekeeper = keeper({ journalMonths: 2, requestDays: 30 });
		await Bun.write(join(books.dir, "archive"), "a file where the folder should be");
		for (let steps = 0; (await timers.run()) < HOUR_MS; steps++) expect(steps).toBeLessThan(100);
		expect((await books.audit()).findings).toEqual([]);
		housekeeper.stop();
	});
});
