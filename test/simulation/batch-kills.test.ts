/** kill -9 before each statement of a batch, and after its answer: all of the batch is there, or nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { type ComparedStore, postgresStore, rowsOf, sqliteStore } from "./compared-stores.ts";
import { preparedBatch } from "./prepared-batch.ts";

const KILLER = join(import.meta.dir, "batch-killer.ts");
const KILLED = 137;

let cluster: PostgresCluster;
let dir: string;

beforeAll(async () => {
	cluster = await startPostgres({ fsync: "off" });
	dir = mkdtempSync(join(tmpdir(), "turnpike-kills-"));
});

afterAll(async () => {
	rmSync(dir, { recursive: true, force: true });
	await cluster.stop();
});

interface Place {
	/** Returns a new store in the state before the batch. */
	fresh(): Promise<string>;
	open(place: string): ComparedStore | Promise<ComparedStore>;
}

async function sqlitePlace(): Promise<Place> {
	const template = join(dir, "template.db");
	const store = sqliteStore(template);
	await preparedBatch().prepare(store);
	await store.close();
	let copies = 0;
	return {
		async fresh() {
			const copy = join(dir, `${++copies}.db`);
			copyFileSync(template, copy);
			return copy;
		},
		open: sqliteStore,
	};
}

async function postgresPlace(): Promise<Place> {
	const template = await cluster.newDatabase();
	const store = await postgresStore(template);
	await preparedBatch().prepare(store);
	await store.close();
	return { fresh: () => cluster.newDatabase(template), open: (url) => postgresStore(url) };
}

async function rowsAt(places: Place, place: string): Promise<unknown> {
	const store = await places.open(place);
	try {
		return await rowsOf(store);
	} finally {
		await store.close();
	}
}

async function apply(places: Place, place: string): Promise<void> {
	const store = await places.open(place);
	await store.apply(preparedBatch().groups);
	await store.close();
}

test.each([
	["sqlite", sqlitePlace],
	["postgres", postgresPlace],
] as const)("on %s", async (kind, open) => {
	const places = await open();
	const whole = await places.fresh();
	const before = await rowsAt(places, whole);
	await apply(places, whole);
	const after = await rowsAt(places, whole);
	expect(after).not.toEqual(before);
	const seen = { nothing: 0, all: 0 };
	for (let step = 0; ; step++) {
		const place = await places.fresh();
		const child = Bun.spawn([process.execPath, KILLER, kind, place, String(step)], { stderr: "inherit" });
		const code = await child.exited;
		const rows = await rowsAt(places, place);
		const isAll = Bun.deepEquals(rows, after);
		if (!isAll) expect({ step, rows }).toEqual({ step, rows: before });
		seen[isAll ? "all" : "nothing"]++;
		await apply(places, place);
		expect({ step, rows: await rowsAt(places, place) }).toEqual({ step, rows: after });
		if (code === 0) break;
		expect({ step, code }).toEqual({ step, code: KILLED });
	}
	// Several of the steps come before the commit, and at least the one after its answer leaves all.
	expect(seen.nothing).toBeGreaterThan(10);
	expect(seen.all).toBeGreaterThan(1);
});
