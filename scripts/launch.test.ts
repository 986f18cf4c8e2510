import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../test/support/until.ts";

const ROOT = join(import.meta.dir, "..");

/**
 * A server in place of ours that writes down what reaches it: these tests are about what starts it. It drains
 * like a real one, and answers `exit N` and `die SIGNAL`.
 */
const PROGRAM = `
import { appendFileSync } from "node:fs";
import { until } from "../test/support/until.ts";
const say = (line: string) => appendFileSync(process.env.SEEN ?? "", line + "\\n");
const [command, value] = process.argv.slice(2);
say(JSON.stringify({
	args: process.argv.slice(2), cwd: process.cwd(), pid: process.pid,
	pool: process.env.BUN_CONFIG_MAX_HTTP_REQUESTS, noProxy: process.env.NO_PROXY, dotenv: process.env.FROM_DOTENV ?? null,
}));
if (command === "exit") process.exit(Number(value));
if (command === "die") process.kill(process.pid, value);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
	process.on(signal, () => {
		say(signal);
		if (signal !== "SIGHUP") setTimeout(() => { say("drained"); process.exit(0); }, 300);
	});
}
setInterval(() => {}, 1_000);
say("ready");
`;

let folder = "";
let checkout = "";

/** The real launcher in a checkout of its own, on the packages of this one. */
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "turnpike-launch-"));
	checkout = join(folder, "checkout");
	mkdirSync(join(checkout, "src"), { recursive: true });
	for (const name of ["start.mjs", "bin", "scripts", "package.json", "package-lock.json", ".npmrc"]) {
		cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
	}
	chmodSync(join(checkout, "bin", "turnpike.mjs"), 0o755);
	symlinkSync(join(ROOT, "node_modules"), join(checkout, "node_modules"));
	writeFileSync(join(checkout, "src", "main.ts"), PROGRAM);
	writeFileSync(join(checkout, ".env"), "FROM_DOTENV=read\n");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;

interface Seen {
	readonly args: readonly string[];
	readonly cwd: string;
	readonly pid: number;
	readonly pool: string;
	readonly noProxy: string;
	readonly dotenv: string | null;
}

function start(command: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
	const log = join(folder, `seen-${++count}`);
	writeFileSync(log, "");
	const child = Bun.spawn([...command], {
		cwd: options.cwd ?? checkout,
		env: {
			...process.env,
			npm_lifecycle_event: undefined,
			npm_config_cache: join(folder, "npm-cache"),
			SEEN: log,
			...options.env,
		},
		stdout: "ignore",
		stderr: "inherit",
	});
	const lines = () => readFileSync(log, "utf8").split("\n").slice(0, -1);
	const said = (line: string) => until(() => lines().includes(line), line);
	return { child, lines, said, seen: () => JSON.parse(lines()[0] ?? "null") as Seen, signals: () => lines().slice(2) };
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}

async function untilGone(pid: number): Promise<void> {
	await until(() => !isAlive(pid), `the end of process ${pid}`);
}

const turnpike = (...args: string[]) => ["node", join(checkout, "bin", "turnpike.mjs"), ...args];

describe("running a command", () => {
	test("arguments, folder and exit code are those of the command", async () => {
		const { child, seen } = start(turnpike("exit", "7", "a b", "--flag=ü"), { cwd: join(checkout, "src") });
		expect(await child.exited).toBe(7);
		expect(seen().args).toEqual(["exit", "7", "a b", "--flag=ü"]);
		expect(seen().cwd).toBe(join(checkout, "src"));
	});

	test("a command that dies of a signal is seen to die of it", async () => {
		const { child } = start(turnpike("die", "SIGKILL"));
		await child.exited;
		expect(child.signalCode).toBe("SIGKILL");
	});

	test("Bun gets its pool size and a way past the proxy for loopback, and reads no .env", async () => {
		const run = start(turnpike("exit", "0"), { env: { NO_PROXY: "intra.example, localhost" } });
		await run.child.exited;
		expect(run.seen()).toMatchObject({ pool: "20000", noProxy: "intra.example,localhost,127.0.0.1,::1", dotenv: null });
	});

	test("npx finds the project's own command in any of its folders", async () => {
		const { child, seen } = start(["npx", "--no", "turnpike", "exit", "5", "x"], { cwd: join(checkout, "src") });
		expect(await child.exited).toBe(5);
		expect(seen()).toMatchObject({ args: ["exit", "5", "x"], cwd: join(checkout, "src") });
	});
});

describe.skipIf(process.platform === "win32")("stopping the server", () => {
	test("SIGTERM to npm drains it and npm ends with 0", async () => {
		const run = start(["npm", "start", "--", "--port", "1"]);
		await run.said("ready");
		expect(run.seen().args).toEqual(["serve", "--port", "1"]);
		run.child.kill("SIGTERM");
		expect(await run.child.exited).toBe(0);
		expect(run.signals()).toEqual(["SIGTERM", "drained"]);
	});

	test("a signal that comes twice at once is passed on once", async () => {
		const run = start(["node", join(checkout, "start.mjs")]);
		await run.said("ready");
		run.child.kill("SIGINT");
		// Apart, or the kernel makes one of them.
		await Bun.sleep(20);
		run.child.kill("SIGINT");
		expect(await run.child.exited).toBe(0);
		expect(run.signals()).toEqual(["SIGINT", "drained"]);
	});

	test("SIGHUP is passed on and ends nothing", async () => {
		const run = start(["node", join(checkout, "start.mjs")]);
		await run.said("ready");
		run.child.kill("SIGHUP");
		await run.said("SIGHUP");
		run.child.kill("SIGTERM");
		expect(await run.child.exited).toBe(0);
		expect(run.signals()).toEqual(["SIGHUP", "SIGTERM", "drained"]);
	});

	test("npm killed outright: the server drains instead of keeping its port for ever", async () => {
		const run = start(["npm", "start"]);
		await run.said("ready");
		run.child.kill("SIGKILL");
		await run.said("drained");
		expect(run.signals()).toEqual(["SIGTERM", "drained"]);
		await untilGone(run.seen().pid);
	});

	test("the launcher killed outright: the server ends with it", async () => {
		const run = start(["node", join(checkout, "start.mjs")]);
		await run.said("ready");
		run.child.kill("SIGKILL");
		await untilGone(run.seen().pid);
	});

	test("a shell that put the server into the background may go", async () => {
		const run = start(["sh", "-c", `node ${join(checkout, "start.mjs")} & echo started`]);
		await run.said("ready");
		await run.child.exited;
		// That nothing happens can only be seen by waiting: twice the time in which a missing npm is noticed.
		await Bun.sleep(1_200);
		expect(isAlive(run.seen().pid)).toBe(true);
		process.kill(run.seen().pid, "SIGTERM");
		await run.said("drained");
	});
});
