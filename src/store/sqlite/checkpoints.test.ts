import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databasePath } from "../data-folder.ts";
import { Checkpoints } from "./checkpoints.ts";
import { openDatabase } from "./open-database.ts";

const HOUR_MS = 3_600_000;
let dir: string;
let db: Database;

beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), "turnpike-checkpoints-"));
	db = openDatabase(dir);
	db.run("PRAGMA wal_autocheckpoint = 0");
});

afterEach(() => {
	db.close();
	rmSync(dir, { recursive: true, force: true });
});

const write = (bytes: number) => db.run("INSERT INTO meta (name, value) VALUES (hex(randomblob(8)), ?)", ["x".repeat(bytes)]);

test("a log that has grown is checkpointed before its time, and then not again until it has grown again", () => {
	const checkpoints = new Checkpoints(db, HOUR_MS);
	let safe = 0;
	checkpoints.onSafe(() => safe++);
	checkpoints.run();
	expect(safe).toBe(1);
	write(1_000);
	checkpoints.noteWrite();
	expect(checkpoints.due()).toBe(false);
	write(16 << 20);
	expect(checkpoints.due()).toBe(true);
	checkpoints.run();
	expect(safe).toBe(2);
	write(1_000);
	checkpoints.noteWrite();
	expect(statSync(`${databasePath(dir)}-wal`).size).toBeGreaterThan(16 << 20);
	expect(checkpoints.due()).toBe(false);
});

test("what a reader holds back is not told as safe", () => {
	const checkpoints = new Checkpoints(db, 0);
	let safe = 0;
	checkpoints.onSafe(() => safe++);
	checkpoints.run();
	expect(safe).toBe(1);
	const reader = openDatabase(dir);
	reader.run("BEGIN");
	reader.query("SELECT count(*) FROM meta").get();
	write(1_000);
	checkpoints.noteWrite();
	expect(checkpoints.due()).toBe(true);
	write(1_000);
	checkpoints.run();
	expect(safe).toBe(1);
	reader.run("COMMIT");
	reader.close();
	checkpoints.run();
	expect(safe).toBe(2);
});
