import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Migration, StoreTooNewError } from "../core/migration.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import { migrate, schemaNumber } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";

const folders: string[] = [];

afterEach(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function createFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-migrate-"));
	folders.push(folder);
	return folder;
}

const step = (number: number, sql: string): Migration => ({ number, name: `step ${number}`, steps: [sql] });
const memory = () => new Database(":memory:", { safeIntegers: true, strict: true });

test("the migrations of this program are numbered from 1 without a gap, and every table is strict", () => {
	expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1));
	const db = memory();
	migrate(db);
	const loose = db
		.query("SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'")
		.all();
	expect(loose).toEqual([]);
});

test("each is applied once, in order, from where the store stands", () => {
	const db = memory();
	const first = step(1, "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1);");
	migrate(db, [first]);
	migrate(db, [first, step(2, "UPDATE a SET x = x + 1"), step(3, "UPDATE a SET x = x * 10")]);
	migrate(db, [first, step(2, "UPDATE a SET x = 0"), step(3, "UPDATE a SET x = 0")]);
	expect([schemaNumber(db), db.query("SELECT x FROM a").values()]).toEqual([3, [[20n]]]);
});

test("one that fails leaves nothing of itself", () => {
	const db = memory();
	const broken = step(2, "CREATE TABLE b (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1);");
	expect(() => migrate(db, [step(1, "CREATE TABLE a (x INTEGER) STRICT"), broken])).toThrow("nowhere");
	expect(schemaNumber(db)).toBe(1);
	expect(db.query("SELECT name FROM sqlite_schema").values()).toEqual([["a"]]);
});

test("a store of a newer program is not opened", () => {
	const dir = createFolder();
	const db = openDatabase(dir);
	db.run("PRAGMA user_version = 1000");
	db.close();
	expect(() => openDatabase(dir)).toThrow(StoreTooNewError);
});

test("a store is opened with the settings that the books rest on", () => {
	const db = openDatabase(createFolder(), { synchronous: "FULL" });
	const setting = (name: string) => db.query(`PRAGMA ${name}`).values()[0]?.[0];
	expect(["journal_mode", "synchronous", "busy_timeout", "foreign_keys"].map(setting)).toEqual(["wal", 2n, 5_000n, 1n]);
	db.close();
});

test("processes that open a fresh folder together all get the whole schema", async () => {
	const dir = createFolder();
	const code = `import { openDatabase } from ${JSON.stringify(join(import.meta.dir, "open-database.ts"))};
		openDatabase(process.argv[1]).query("SELECT count(*) FROM meta").get();`;
	const children = Array.from({ length: 4 }, () => Bun.spawn([process.execPath, "-e", code, dir], { stderr: "inherit" }));
	expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0, 0]);
});
