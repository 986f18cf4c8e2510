/** What the books are made of is its owner's alone, also in folders that others made and left open to everybody. */
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AnswerFiles } from "../../src/budgets/answer-files.ts";
import { openMode } from "../../src/journal/owner-only.ts";
import { writeOldMonths } from "../../src/store/testing/old-months.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { type Served, serve, temporaryFolder, turnpike } from "../support/served.ts";

const config = { chat: { embedded: { enabled: false } }, journal: { segmentMb: 1 } };
const removals: (() => void)[] = [];
const before = process.umask();

afterEach(() => {
	process.umask(before);
	for (const remove of removals.splice(0)) remove();
});

/** A folder that everybody may look into, as `mkdir` makes it for most users. */
function openFolder(): string {
	process.umask(0o022);
	const folder = temporaryFolder();
	removals.push(() => rmSync(folder, { recursive: true, force: true }));
	chmodSync(folder, 0o755);
	return folder;
}

async function started(dataDir: string): Promise<Served> {
	const server = await serve({ dataDir, config });
	removals.push(() => server.remove());
	return server;
}

async function stopped(server: Served): Promise<void> {
	server.kill("SIGTERM");
	await server.exited;
}

/** Files and folders below a folder in which others have rights, each with its mode. */
function openIn(folder: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((name) => name !== "turnpike.yaml")
		.map((name) => `${openMode(join(folder, name)) ?? "owner"} ${name}`)
		.filter((line) => !line.startsWith("owner "));
}

test("a server in a folder that is open makes files that are not, and says that the folder is", async () => {
	const dataDir = openFolder();
	const server = await started(dataDir);
	expect(existsSync(join(dataDir, "turnpike.db-wal"))).toBe(true);
	expect(readdirSync(join(dataDir, "journal")).length).toBeGreaterThan(0);
	expect(openIn(dataDir)).toEqual([]);
	expect(server.stdout() + server.stderr()).toContain("other users can read the data folder: run chmod 700 on it");
	const doctor = await turnpike(["doctor", "--data", dataDir, "--config", server.configFile]);
	expect(doctor.stdout).toContain(`other users can read it (mode 755)\n       fix: chmod 700 ${dataDir}`);
	await stopped(server);
	expect(openIn(dataDir)).toEqual([]);
	expect(openMode(dataDir)).toBe("755");
});

test("a folder of the server's own is closed, and nothing is said", async () => {
	const dataDir = join(openFolder(), "data");
	mkdirSync(dataDir, { mode: 0o700 });
	const server = await started(dataDir);
	expect(openIn(dataDir)).toEqual([]);
	expect(server.stdout() + server.stderr()).not.toContain("other users can");
	await stopped(server);
});

test("what an earlier version left open is closed at the next start, and by a command before it", async () => {
	const dataDir = openFolder();
	const first = await started(dataDir);
	first.kill("SIGKILL");
	await first.exited;
	const open = () => {
		for (const name of readdirSync(dataDir, { recursive: true, encoding: "utf8" })) {
			const path = join(dataDir, name);
			chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
		}
	};
	open();
	expect((await turnpike(["accounts", "list", "--data", dataDir])).code).toBe(0);
	expect(openIn(dataDir).filter((line) => line.includes("turnpike.db"))).toEqual([]);
	open();
	const second = await started(dataDir);
	expect(openIn(dataDir)).toEqual([]);
	await stopped(second);
});

test("backups, restored stores and archives are the owner's alone in folders that others made", async () => {
	const books = new StoreFolder();
	removals.push(() => books.remove());
	await writeOldMonths((now) => books.admin(now));
	await books.closeAdmins();
	const [backups, archives, restored] = [openFolder(), openFolder(), openFolder()];
	expect((await turnpike(["backup", "--to", backups, "--data", books.dir])).code).toBe(0);
	expect(readdirSync(backups).length).toBe(1);
	expect(openIn(backups)).toEqual([]);
	expect((await turnpike(["archive", "--data", books.dir, "--to", archives, "--before", "2024-10"])).code).toBe(0);
	expect(readdirSync(archives).length).toBe(4);
	expect(openIn(archives)).toEqual([]);
	const copy = join(backups, readdirSync(backups)[0] ?? "");
	// An operator's copy of a copy.
	chmodSync(copy, 0o644);
	expect((await turnpike(["restore", "--from", copy, "--data", restored])).code).toBe(0);
	expect(readdirSync(restored)).toContain("turnpike.db");
	expect(openIn(restored)).toEqual([]);
});

test("answers that are kept for an idempotency key are the owner's alone", async () => {
	const dataDir = openFolder();
	mkdirSync(join(dataDir, "idempotency"), { mode: 0o755 });
	await new AnswerFiles(dataDir).write(1, new Uint8Array(300_000));
	expect(openIn(join(dataDir, "idempotency"))).toEqual([]);
	expect(readdirSync(join(dataDir, "idempotency")).length).toBe(1);
});

test("the operator's own files in the folder are left alone", async () => {
	const dataDir = openFolder();
	writeFileSync(join(dataDir, "notes.txt"), "mine");
	const server = await started(dataDir);
	expect(openIn(dataDir)).toEqual(["644 notes.txt"]);
	await stopped(server);
});
