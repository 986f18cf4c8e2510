import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillStore } from "../../bench/large-store.ts";
import { JournalReader } from "../../src/journal/index.ts";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type Served, serve, spawnTurnpike, temporaryFolder, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const CLIENTS = 8;

const upstream = startScriptedUpstream();
const config = {
	upstreams: { scripted: upstreamEntry(upstream.url) },
	models: { entries: { priced: pricedModel(["scripted"]) } },
	accounts: { startingCreditUsd: "1000" },
	journal: { segmentMb: 1 },
};

const folders: string[] = [];
const servers: Served[] = [];

afterEach(() => {
	for (const server of servers.splice(0)) server.remove();
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function createFolder(): string {
	const folder = temporaryFolder();
	folders.push(folder);
	return folder;
}

async function started(dataDir: string): Promise<Served> {
	const server = await serve({ dataDir, config });
	servers.push(server);
	return server;
}

/** Clients that ask for answers until they are stopped, or their server is gone; `acknowledged` are the ids of whole answers. */
function load(server: Served) {
	const acknowledged: string[] = [];
	let stopped = false;
	const clients = Array.from({ length: CLIENTS }, async () => {
		while (!stopped) {
			try {
				const answer = await server.chat({ model: "priced", messages: HELLO });
				await answer.text();
				if (answer.status === 200) acknowledged.push(answer.headers.get("x-request-id") ?? "");
			} catch {
				return;
			}
		}
	});
	const reached = async (count: number) => {
		await until(() => acknowledged.length >= count, `${count} answers`);
	};
	const stop = async () => {
		stopped = true;
		await Promise.all(clients);
	};
	return { acknowledged, reached, stop };
}

async function audit(dataDir: string): Promise<void> {
	const { code, stdout } = await turnpike(["audit", "--data", dataDir, "--json"]);
	expect(JSON.parse(stdout).findings).toEqual([]);
	expect(code).toBe(0);
}

function postIds(file: string): Set<string> {
	const db = new Database(file, { readonly: true });
	try {
		return new Set(
			db
				.query<{ id: string }, []>("SELECT request_id AS id FROM posts")
				.all()
				.map((row) => row.id),
		);
	} finally {
		db.close();
	}
}

/** Balances in the USD budget beside what the movements say. */
function moneyOf(file: string): { balance: number; moved: number }[] {
	const db = new Database(file, { readonly: true });
	try {
		return db
			.query<{ balance: number; moved: number }, []>(
				`SELECT balance, (SELECT sum(CASE WHEN credit = account_id THEN amount ELSE -amount END) FROM movements
					WHERE account_id IN (credit, debit) AND unit = 'usd') AS moved FROM budgets WHERE source = 'usd'`,
			)
			.all();
	} finally {
		db.close();
	}
}

test("a backup of a running server under load is restored elsewhere: everything acknowledged before it is there, and it serves", async () => {
	const dataDir = createFolder();
	const server = await started(dataDir);
	const clients = load(server);
	await clients.reached(50);
	const before = [...clients.acknowledged];
	const file = join(createFolder(), "copy.db");
	const made = await turnpike(["backup", "--to", file, "--data", dataDir]);
	expect(made.stderr).toBe("");
	expect(made.stdout).toContain("its books balance");
	expect(statSync(file).mode & 0o777).toBe(0o600);
	await clients.reached(clients.acknowledged.length + 50);
	server.kill("SIGKILL");
	await clients.stop();
	const restored = createFolder();
	const back = await turnpike(["restore", "--from", file, "--data", restored]);
	expect({ code: back.code, stderr: back.stderr }).toEqual({ code: 0, stderr: "" });
	const inCopy = postIds(file);
	expect(before.filter((id) => !inCopy.has(id))).toEqual([]);
	const second = await started(restored);
	await audit(restored);
	expect(postIds(join(restored, "turnpike.db"))).toEqual(inCopy);
	const money = moneyOf(join(restored, "turnpike.db"));
	expect(money).toEqual(moneyOf(file));
	expect(money.every(({ balance, moved }) => balance === moved)).toBe(true);
	const answer = await second.chat({ model: "priced", messages: HELLO });
	expect(answer.status).toBe(200);
	second.kill("SIGTERM");
	expect(await second.exited).toBe(0);
	await audit(restored);
	expect(postIds(join(restored, "turnpike.db")).size).toBe(inCopy.size + 1);
});

describe("an old journal beside a copy", () => {
	/** A server that was killed under load behind a backup, and its posts. */
	async function killedBehindBackup() {
		const dataDir = createFolder();
		const server = await started(dataDir);
		const clients = load(server);
		await clients.reached(20);
		const file = join(createFolder(), "copy.db");
		expect((await turnpike(["backup", "--to", file, "--data", dataDir])).code).toBe(0);
		await clients.reached(clients.acknowledged.length + 20);
		server.kill("SIGKILL");
		await clients.stop();
		return { dataDir, file, acknowledged: clients.acknowledged };
	}

	function putBack(file: string, dataDir: string): void {
		for (const suffix of ["-wal", "-shm"]) rmSync(join(dataDir, `turnpike.db${suffix}`), { force: true });
		cpSync(file, join(dataDir, "turnpike.db"));
	}

	/** Damages the first group that the copy lacks: later ones are there. */
	function breakGroupBehind(file: string, journal: string): void {
		const db = new Database(file, { readonly: true });
		const node = db
			.query<{ id: string; seq: number }, []>("SELECT node_id AS id, applied_seq AS seq FROM nodes ORDER BY epoch DESC")
			.get();
		db.close();
		const reader = new JournalReader({ dir: journal, nodeId: node?.id ?? "", nextSeq: (node?.seq ?? 0) + 1 });
		const [group] = reader.readPresent();
		reader.close();
		if (group === undefined) throw new Error("the journal has nothing behind the copy");
		const path = join(journal, `${String(group.end.segment).padStart(10, "0")}.seg`);
		const segment = readFileSync(path);
		segment.fill(0, group.end.offset - 40, group.end.offset - 20);
		writeFileSync(path, segment);
	}

	test("that goes on where the copy ends is booked: nothing is lost", async () => {
		const { dataDir, file, acknowledged } = await killedBehindBackup();
		putBack(file, dataDir);
		await started(dataDir);
		await audit(dataDir);
		const posts = postIds(join(dataDir, "turnpike.db"));
		expect(acknowledged.filter((id) => !posts.has(id))).toEqual([]);
	});

	test("that lacks what follows the copy is refused, and says what to do", async () => {
		const { dataDir, file } = await killedBehindBackup();
		putBack(file, dataDir);
		breakGroupBehind(file, join(dataDir, "journal"));
		const failed = await serve({ dataDir, config, waitFor: "nothing" });
		servers.push(failed);
		const code = await failed.exited;
		expect({ code, text: failed.stderr() }).toMatchObject({ code: 1 });
		expect(failed.stderr()).toContain("move the journal folder away");
	});

	test("keeps a restore out of the folder; into an empty one the copy goes as another node", async () => {
		const { dataDir, file } = await killedBehindBackup();
		for (const kept of [["turnpike.db", "journal"], ["journal"]]) {
			const folder = createFolder();
			for (const name of kept) cpSync(join(dataDir, name), join(folder, name), { recursive: true });
			const refused = await turnpike(["restore", "--from", file, "--data", folder]);
			expect(refused.code).toBe(1);
			expect(refused.stderr).toContain("name an empty folder with --data");
			expect(existsSync(join(folder, "turnpike.db"))).toBe(kept.includes("turnpike.db"));
		}
		const folder = createFolder();
		expect((await turnpike(["restore", "--from", file, "--data", folder])).code).toBe(0);
		// Someone brings the old journal after all: it is another node's.
		cpSync(join(dataDir, "journal"), join(folder, "journal"), { recursive: true });
		await started(folder);
		expect(postIds(join(folder, "turnpike.db"))).toEqual(postIds(file));
		await audit(folder);
	});
});

describe("turnpike backup", () => {
	async function quietStore(): Promise<string> {
		const dataDir = createFolder();
		expect((await turnpike(["accounts", "create", "one", "--data", dataDir])).code).toBe(1);
		const server = await started(dataDir);
		server.kill("SIGTERM");
		await server.exited;
		return dataDir;
	}

	test("names files in a folder by their time, and keeps as many as it is told", async () => {
		const dataDir = await quietStore();
		const folder = join(createFolder(), "backups");
		mkdirSync(folder);
		for (const name of [
			"turnpike-20250101T000000Z.db",
			"turnpike-20250102T000000Z.db",
			"mine.db",
			"turnpike-20250101T000000Z.db.tmp",
		]) {
			writeFileSync(join(folder, name), "");
			utimesSync(join(folder, name), 0, 0);
		}
		const { code, stdout } = await turnpike(["backup", "--to", folder, "--keep", "2", "--data", dataDir]);
		expect(code).toBe(0);
		expect(stdout).toContain("Removed turnpike-20250101T000000Z.db");
		const names = readdirSync(folder).sort();
		expect(names.slice(0, 2)).toEqual(["mine.db", "turnpike-20250102T000000Z.db"]);
		expect(names.length).toBe(3);
		expect(names[2]).toMatch(/^turnpike-\d{8}T\d{6}Z\.db$/);
	});

	test("replaces no file, and leaves none where the books do not balance", async () => {
		const dataDir = await quietStore();
		const folder = createFolder();
		const there = join(folder, "there.db");
		writeFileSync(there, "mine");
		const refused = await turnpike(["backup", "--to", there, "--data", dataDir]);
		expect({ code: refused.code, text: readFileSync(there, "utf8") }).toEqual({ code: 1, text: "mine" });
		expect(refused.stderr).toContain("replaces nothing");
		const db = new Database(join(dataDir, "turnpike.db"));
		db.run("UPDATE budgets SET balance = balance + 1");
		db.close();
		const wrong = await turnpike(["backup", "--to", join(folder, "wrong.db"), "--data", dataDir]);
		expect(wrong.code).toBe(1);
		expect(wrong.stderr).toContain("do not balance");
		expect(readdirSync(folder)).toEqual(["there.db"]);
	});

	test("that is ended by a signal leaves no file", async () => {
		const dataDir = createFolder();
		fillStore(dataDir, { accounts: 1_000, keys: 1_000, posts: 100_000 });
		for (const [signal, code] of [
			["SIGTERM", 143],
			["SIGINT", 130],
		] as const) {
			const folder = createFolder();
			const file = join(folder, "copy.db");
			const command = spawnTurnpike(["backup", "--to", file, "--data", dataDir]);
			await until(() => existsSync(`${file}.tmp`) || existsSync(file), "the copy has begun");
			command.kill(signal);
			// A signal that comes too late ends nothing.
			const ended = await command.exited;
			expect({ code: ended, files: readdirSync(folder) }).toEqual(
				ended === 0 ? { code: 0, files: ["copy.db"] } : { code, files: [] },
			);
		}
	});

	test("is for SQLite; misuse exits with 64", async () => {
		const env = { TURNPIKE_STORE: "postgres://127.0.0.1:1/none" };
		const dataDir = createFolder();
		for (const [command, text] of [
			["backup", "pg_dump"],
			["restore", "PostgreSQL"],
		] as const) {
			const option = command === "backup" ? "--to" : "--from";
			const refused = await turnpike([command, option, join(dataDir, "x"), "--data", dataDir], env);
			expect(refused.code).toBe(64);
			expect(refused.stderr).toContain(text);
		}
		for (const keep of ["0", "-1", "1.5", "x"]) {
			expect((await turnpike(["backup", "--to", `${dataDir}/`, "--keep", keep, "--data", dataDir])).code).toBe(64);
		}
		expect((await turnpike(["backup", "--to", join(dataDir, "file.db"), "--keep", "2", "--data", dataDir])).code).toBe(64);
		expect((await turnpike(["backup", "--data", dataDir])).code).not.toBe(0);
		expect((await turnpike(["backup", "--to", join(dataDir, "file.db"), "--data", dataDir])).stderr).toContain(
			"There is no store",
		);
	});
});

describe("turnpike restore", () => {
	test("takes no file that is damaged, is no store, or is not there; the folder stays empty", async () => {
		const folder = createFolder();
		const text = join(createFolder(), "text.db");
		writeFileSync(text, "this is no database ".repeat(100));
		const empty = join(createFolder(), "empty.db");
		writeFileSync(empty, "");
		const live = join(createFolder(), "turnpike.db");
		writeFileSync(live, "a database ");
		writeFileSync(`${live}-wal`, "its last writes");
		const inUse = `${live} is a store that was in use, not a backup: its last writes are in turnpike.db-wal`;
		for (const [from, why] of [
			[live, `${inUse}; start a server on its folder, or make a backup of it`],
			[text, `${text} is damaged (file is not a database): use another copy`],
			["/nowhere/copy.db", "There is no file /nowhere/copy.db"],
			[folder, `${folder} is not a file: name one that turnpike backup wrote`],
		] as const) {
			const refused = await turnpike(["restore", "--from", from, "--data", folder]);
			expect([refused.code, refused.stderr.trim()]).toEqual([1, why]);
			expect(refused.stderr).not.toContain("    at ");
			expect(readdirSync(folder).filter((name) => name.startsWith("turnpike.db"))).toEqual([]);
		}
		const refused = await turnpike(["restore", "--from", empty, "--data", folder]);
		expect({ code: refused.code, names: readdirSync(folder).filter((name) => name.startsWith("turnpike.db")) }).toEqual({
			code: 1,
			names: [],
		});
	});
});
