import { afterAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, type Served, serve, temporaryFolder, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const folders: string[] = [];
const started: Served[] = [];
/** A model server that is down: no weights are fetched. */
const config = { upstreams: { down: { url: "http://127.0.0.1:9/v1" } } };

afterAll(() => {
	for (const server of started) server.remove();
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
	const made = temporaryFolder();
	folders.push(made);
	return made;
}

/** The end of a start that fails: its exit code, and what it said of it. */
async function failedStart(
	args: readonly string[],
	text: string | Uint8Array = JSON.stringify(config),
): Promise<[number, string]> {
	const file = join(folder(), "turnpike.yaml");
	writeFileSync(file, text);
	const { code, stderr, stdout } = await turnpike(["serve", "--port", "0", "--config", file, ...args]);
	expect(stdout).toBe("");
	return [code, stderr];
}

/** One line, no stack. */
function expectSentence(text: string): void {
	expect(text.trimEnd().split("\n")).toHaveLength(1);
	expect(text).not.toMatch(/\n\s+at |src\//);
}

/** A folder in which a server has run and was stopped. */
async function usedFolder(): Promise<string> {
	const server = await serve({ config });
	started.push(server);
	server.kill("SIGTERM");
	expect(await server.exited).toBe(0);
	return server.dataDir;
}

test("a faulty alias in the file ends the start with 78 and one sentence", async () => {
	const [code, said] = await failedStart(["--data", folder()], "server: {host: *nope}\n");
	expect(code).toBe(78);
	expectSentence(said);
	expect(said).toContain("turnpike.yaml");
});

test("settings that only the catalog or a chain's table can refuse end the start with 78, file, line and path", async () => {
	for (const [text, place] of [
		[
			"models:\n  entries:\n    m:\n      type: embedding\n      price: {input: 1, output: 1}\n",
			"5:7: models.entries.m.price: belongs",
		],
		["models:\n  traits:\n    nonsense: {default: m}\n", "3:5: models.traits.nonsense: is not a model type"],
		["rpc:\n  networks:\n    base-mainet: {}\n", "3:5: rpc.networks.base-mainet: there is no such network"],
		[`x402:\n  payTo: "0x52908400098527886E0F7030069857D2E4169Ee7"\n`, "2:3: x402.payTo: the checksum"],
		[`alerts:\n  url: http://127.0.0.1:9\n`, "1:1: alerts.secret: alerts are signed with it"],
	] as const) {
		const [code, said] = await failedStart(["--data", folder()], text);
		expect(code).toBe(78);
		expectSentence(said);
		expect(said).toContain(`turnpike.yaml:${place}`);
	}
});

test("a first start that the configuration ends makes no ADMIN key: the start that goes on prints it", async () => {
	const dataDir = folder();
	const text = JSON.stringify({ ...config, models: { entries: { m: { type: "embedding", price: { input: 1, output: 1 } } } } });
	expect((await failedStart(["--data", dataDir], text))[0]).toBe(78);
	const server = await serve({ dataDir, config, withoutKey: true });
	started.push(server);
	await until(() => server.stdout().includes("listening on"), "the first words");
	expect(server.stdout()).toMatch(/sk_adm_[0-9A-Za-z]{43}/);
});

test("an address that this machine does not have ends the start with 1 and one sentence", async () => {
	for (const host of ["not-a-host", "192.0.2.1"]) {
		const [code, said] = await failedStart(["--data", folder(), "--host", host]);
		expect(code).toBe(1);
		expectSentence(said);
		expect(said).toContain(`Cannot listen on ${host} (`);
	}
});

test("a misspelt option starts nothing, runs nothing, and shows the usage, exit 64", async () => {
	const dataDir = join(folder(), "none");
	for (const [typed, said] of [
		[["serve", "--prot", "1", "--data", dataDir], "Unknown option: --prot"],
		[["serve", "9000", "--data", dataDir], "Unexpected argument: 9000"],
		[["serve", "--data", dataDir, "--port"], "Option --port needs a value"],
		[["accounts", "create", "a customer", "--crdit", "5", "--data", dataDir], "Unknown option: --crdit"],
		[["--verbose", "serve", "--data", dataDir], "Unknown option: --verbose"],
	] as const) {
		const { code, stderr, stdout } = await turnpike(typed);
		expect([code, stdout]).toEqual([64, ""]);
		expect(stderr.trimEnd().split("\n").at(-1)).toBe(said);
		expect(stderr).toContain("USAGE");
		expect(existsSync(dataDir)).toBe(false);
	}
});

test("a data folder that cannot be made, or is a file, ends the start with 1 and one sentence", async () => {
	const file = join(folder(), "file");
	writeFileSync(file, "");
	for (const dataDir of ["/proc/x", file, join(file, "below")]) {
		const [code, said] = await failedStart(["--data", dataDir]);
		expect(code).toBe(1);
		expectSentence(said);
		expect(said).toContain(`The data folder ${dataDir} cannot be`);
	}
});

test("a journal that is no folder ends the start with 1 and one sentence", async () => {
	const dataDir = folder();
	writeFileSync(join(dataDir, "journal"), "");
	const [code, said] = await failedStart(["--data", dataDir]);
	expect(code).toBe(1);
	expectSentence(said);
	expect(said).toContain("journal");
});

test("a database that is none is named, to the server and to every command, with what to do", async () => {
	const dataDir = folder();
	writeFileSync(join(dataDir, "turnpike.db"), Buffer.alloc(8_192, "no database "));
	const [code, said] = await failedStart(["--data", dataDir]);
	expect(code).toBe(1);
	expectSentence(said);
	expect(said).toContain(`${join(dataDir, "turnpike.db")} is damaged (file is not a database)`);
	for (const command of [["accounts", "list"], ["audit"], ["keys", "list"], ["requests", "show", "x"], ["reload"]]) {
		const run = await turnpike([...command, "--data", dataDir]);
		expect(run.code).toBe(1);
		expectSentence(run.stderr);
		expect(run.stderr).toContain("put the file back from a copy");
	}
	writeFileSync(join(dataDir, "doctor.yaml"), "chat: {embedded: {enabled: false}}\n");
	const doctor = await turnpike(["doctor", "--data", dataDir, "--config", join(dataDir, "doctor.yaml")]);
	expect(doctor.code).toBe(1);
	expect(doctor.stdout).toMatch(/FAULT {2}books: .*turnpike\.db is damaged/);
});

test("a lock file that is broken may be removed, and the text says so", async () => {
	const dataDir = folder();
	writeFileSync(join(dataDir, "lock.db"), Buffer.alloc(8_192, "no database "));
	const [code, said] = await failedStart(["--data", dataDir]);
	expect(code).toBe(1);
	expectSentence(said);
	expect(said).toContain("lock.db is damaged (file is not a database): it holds nothing; remove it");
});

test("a database whose end is missing is named", async () => {
	const dataDir = await usedFolder();
	truncateSync(join(dataDir, "turnpike.db"), 50_000);
	const [code, said] = await failedStart(["--data", dataDir]);
	expect(code).toBe(1);
	expectSentence(said);
	expect(said).toContain(`${join(dataDir, "turnpike.db")} is damaged`);
});

test("a wrong file at a reload is told in the log, whatever is wrong in it, and the server goes on", async () => {
	const server = await serve({ config });
	started.push(server);
	for (const text of [
		"server: {host: *nope}\n",
		"server: &s {host: *s}\n",
		"upstreams: {OpenAI: {url: 'http://127.0.0.1:9/v1'}}\n",
	]) {
		const told = () => server.stderr().split("the new configuration is invalid").length;
		const before = told();
		writeFileSync(server.configFile, text);
		server.kill("SIGHUP");
		await until(() => told() > before, "the refusal");
	}
	expect(server.stderr()).not.toContain("uncaughtException");
	expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

test("what asks a server for something does not end it while it waits for its store", async () => {
	const env = { ...process.env, TURNPIKE_STORE: `postgres://127.0.0.1:${await freePort()}/none`, TURNPIKE_DATA: folder() };
	const server = spawn(process.execPath, [join(import.meta.dir, "../../src/main.ts"), "serve", "--port", "0"], { env });
	let said = "";
	server.stderr.on("data", (bytes) => {
		said += bytes;
	});
	const ended = new Promise((resolve) => server.once("exit", (code, signal) => resolve({ code, signal })));
	await until(() => said.includes("waiting for the store"), "the wait for the store");
	for (const signal of ["SIGHUP", "SIGUSR2", "SIGTERM"] as const) server.kill(signal);
	expect(await ended).toEqual({ code: null, signal: "SIGTERM" });
});

test("a database that is gone or empty beside its journal is no new beginning, until the journal is moved away", async () => {
	const dataDir = await usedFolder();
	const database = join(dataDir, "turnpike.db");
	writeFileSync(join(dataDir, "doctor.yaml"), "chat: {embedded: {enabled: false}}\n");
	const copy = readFileSync(database);
	rmSync(database);
	for (const empty of [false, true]) {
		if (empty) writeFileSync(database, "");
		for (let start = 0; start < 2; start++) {
			const [code, said] = await failedStart(["--data", dataDir]);
			expect(code).toBe(1);
			expectSentence(said);
			expect(said).toContain(`${database} is missing or empty, yet ${join(dataDir, "journal")} holds`);
			expect(existsSync(database)).toBe(empty);
		}
		expect((await turnpike(["accounts", "list", "--data", dataDir])).stderr).toContain("put the database back from a copy");
		const doctor = await turnpike(["doctor", "--data", dataDir, "--config", join(dataDir, "doctor.yaml")]);
		expect(doctor.stdout).toMatch(/FAULT {2}books: .*put the database back/);
	}
	writeFileSync(database, copy);
	const restored = await serve({ config, dataDir });
	started.push(restored);
	expect(restored.stdout()).not.toContain("The first account was created");
	restored.kill("SIGTERM");
	expect(await restored.exited).toBe(0);
	rmSync(database);
	renameSync(join(dataDir, "journal"), join(dataDir, "journal-before"));
	const anew = await serve({ config, dataDir });
	started.push(anew);
	await until(() => anew.stdout().includes("The first account was created"), "the new beginning");
});
