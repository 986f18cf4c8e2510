import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import { type Log, silentLog } from "../telemetry/log.ts";
import { EngineProcess, type EngineProcessOptions } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "turnpike-engine-"));
const engines: EngineProcess<unknown>[] = [];
afterEach(async () => {
	for (const engine of engines.splice(0)) await engine.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
/** A child's entry file around the real child side. */
function childFile(body: string): string {
	files += 1;
	const path = join(folder, `child-${files}.ts`);
	writeFileSync(path, `import { serveParent } from ${JSON.stringify(join(import.meta.dir, "child-side.ts"))};\n${body}`);
	return path;
}
const sound = "serveParent({ start: async (init) => init, work: async (work) => ({ echo: work }) });";

function engineOf(body: string, options: Partial<EngineProcessOptions<unknown>> = {}): EngineProcess<unknown> {
	const engine = new EngineProcess<unknown>({
		name: "test",
		entry: childFile(body),
		init: async () => ({ hello: 1 }),
		parseReady: (ready) => ready,
		log: silentLog,
		maxMemoryMb: 500,
		idleStopMs: null,
		watchEveryMs: 20,
		firstBackoffMs: 100,
		...options,
	});
	engines.push(engine);
	return engine;
}

/** Alive, and not only waiting to be buried. */
function alive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return !existsSync(`/proc/${pid}/stat`) || !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z");
	} catch {
		return false;
	}
}

describe("an engine's process", () => {
	test("starts at first use, once for all callers, and gives its sign", async () => {
		const engine = engineOf(sound);
		expect(engine.state).toBe("stopped");
		const starts = [engine.start(), engine.start(), engine.start()];
		expect(engine.state).toBe("starting");
		expect(await Promise.all(starts)).toEqual([{ hello: 1 }, { hello: 1 }, { hello: 1 }]);
		expect(engine.state).toBe("ready");
		expect(await engine.rssBytes()).toBeGreaterThan(5e6);
	});

	test("answers work", async () => {
		const done: unknown[] = [];
		const engine = engineOf(sound, { onDone: (each) => done.push(each) });
		expect(engine.send("too early")).toBe(false);
		await engine.start();
		expect(engine.send({ bytes: new Uint8Array([1, 2]) })).toBe(true);
		await until(() => done.length === 1);
		expect(done).toEqual([{ echo: { bytes: new Uint8Array([1, 2]) } }]);
	});

	test("gives and gets large bytes whole, those of several answers one after the other", async () => {
		const done: { readonly echo: { readonly id: number } }[] = [];
		const engine = engineOf(sound, { onDone: (each) => done.push(each as (typeof done)[number]) });
		expect(await engine.sendLarge({ bytes: new Uint8Array(1_000_000) })).toBe(false);
		await engine.start();
		const bytes = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 251);
		const works = [
			{ id: 0, bytes: bytes(3_000_000) },
			{ id: 1, list: [bytes(10), bytes(1_000_000), bytes(262_144)] },
			{ id: 2, in: { bytes: bytes(700_000), length: 1 }, none: null },
			{ id: 3, bytes: bytes(5) },
		];
		for (const work of works) expect(await engine.sendLarge(work)).toBe(true);
		await until(() => done.length === works.length);
		expect(done.map(({ echo }) => echo).sort((a, b) => a.id - b.id)).toEqual(works);
	});

	test("that ends in the middle of large bytes, either way, leaves nothing open", async () => {
		const open = () => readdirSync("/proc/self/fd").length;
		const large = { bytes: new Uint8Array(20_000_000) };
		const deaf =
			"serveParent({ start: async () => null, work: async () => {} }); process.on('message', (message) => { if (message.type === 'work') process.kill(process.pid, 'SIGKILL'); });";
		const mute =
			"serveParent({ start: async () => null, work: async () => { setImmediate(() => process.kill(process.pid, 'SIGKILL')); return { bytes: new Uint8Array(20_000_000) }; } });";
		const before = open();
		for (const body of [deaf, mute]) {
			const engine = engineOf(body);
			await engine.start();
			await engine.sendLarge(large);
			await until(() => engine.pid === null);
			await engine.close();
		}
		await until(() => open() <= before);
	});

	test("does not see our settings and secrets", async () => {
		process.env.TURNPIKE_TEST_SECRET = "secret";
		try {
			const engine = engineOf("serveParent({ start: async () => Object.keys(process.env) });");
			expect(await engine.start()).not.toContain("TURNPIKE_TEST_SECRET");
		} finally {
			delete process.env.TURNPIKE_TEST_SECRET;
		}
	});

	test("is started again after a crash, later and later while it goes on", async () => {
		const engine = engineOf("serveParent({ start: async () => null, work: async () => process.exit(3) });", {
			firstBackoffMs: 60_000,
		});
		await engine.start();
		engine.send("die");
		await until(() => engine.pid === null);
		await engine.start();
		engine.send("die");
		await until(() => engine.pid === null);
		expect(engine.state).toBe("backing-off");
		await expect(engine.start()).rejects.toMatchObject({ code: "backing-off" });
	});

	test("that fails, dies or hangs at its start is an error and leaves no process", async () => {
		const failing = engineOf("serveParent({ start: async () => { throw new Error('no weights'); } });");
		await expect(failing.start()).rejects.toThrow("no weights");
		const dying = engineOf("process.exit(5);");
		await expect(dying.start()).rejects.toThrow("code 5");
		const hanging = engineOf("serveParent({ start: () => new Promise(() => {}) });", { startLimitMs: 5_000 });
		await expect(hanging.start()).rejects.toThrow("stood still while it started");
		for (const engine of [failing, dying, hanging]) expect(engine.pid).toBeNull();
	});

	test("is killed past its memory", async () => {
		const engine = engineOf(
			"const kept = []; serveParent({ start: async () => null, work: async () => { for (let i = 0; i < 40; i++) kept.push(new Uint8Array(10e6).fill(1)); } });",
			{
				maxMemoryMb: 200,
			},
		);
		await engine.start();
		engine.send("grow");
		await until(() => engine.pid === null);
	});

	test("is killed where its event loop gives no sign", async () => {
		const engine = engineOf("serveParent({ start: async () => null, work: async () => { for (;;); } });", {
			unresponsiveMs: 5_000,
		});
		await engine.start();
		engine.send("hang");
		await until(() => engine.pid === null);
	});

	test("is stopped when idle, but not while it is busy", async () => {
		const engine = engineOf(
			"let busy = true; serveParent({ start: async () => null, busy: () => busy, work: async () => { busy = false; } });",
			{
				idleStopMs: 150,
			},
		);
		await engine.start();
		await Bun.sleep(500);
		expect(engine.state).toBe("ready");
		engine.send("rest");
		await until(() => engine.pid === null);
		expect(engine.state).toBe("stopped");
		await engine.start();
		expect(engine.state).toBe("ready");
	});

	test("goes when it is told to, even where it does not listen, and does not come back", async () => {
		const engine = engineOf("serveParent({ start: async () => null, work: async () => { for (;;); } });");
		await engine.start();
		const pid = engine.pid ?? 0;
		engine.send("hang");
		await engine.close();
		expect(alive(pid)).toBe(false);
		await expect(engine.start()).rejects.toMatchObject({ code: "stopped" });
	});

	test("may be killed and started in the same breath", async () => {
		const engine = engineOf(sound);
		await engine.start();
		const first = engine.pid;
		const killed = engine.kill("test");
		await engine.start();
		await killed;
		expect(engine.state).toBe("ready");
		expect(engine.pid).not.toBe(first);
	});

	test("leaves signals of the terminal to its parent", async () => {
		const engine = engineOf(sound);
		await engine.start();
		process.kill(engine.pid ?? 0, "SIGINT");
		process.kill(engine.pid ?? 0, "SIGTERM");
		await Bun.sleep(200);
		expect(engine.state).toBe("ready");
	});

	test("may write as much as it likes: its lines go to the log, within bounds", async () => {
		const lines: string[] = [];
		const log: Log = { ...silentLog, info: (fields) => "line" in fields && lines.push(String(fields.line)) };
		const engine = engineOf(
			"serveParent({ start: async () => { console.log('y'.repeat(5e6)); for (let i = 0; i < 1e5; i++) console.log('line ' + i); return null; } });",
			{ log },
		);
		await engine.start();
		await until(() => lines.length >= 50);
		expect(lines.length).toBe(50);
		for (const line of lines) expect(line.length).toBeLessThanOrEqual(1_000);
	});
});

test("no child outlives a parent that was killed with SIGKILL", async () => {
	const parentFile = join(folder, "parent.ts");
	writeFileSync(
		parentFile,
		`import { EngineProcess } from ${JSON.stringify(join(import.meta.dir, "process.ts"))};
		const silent = { debug() {}, info() {}, warn() {}, error() {}, level: "silent" };
		const engine = new EngineProcess({ name: "test", entry: ${JSON.stringify(childFile(sound))}, init: async () => null,
			parseReady: (ready) => ready, log: silent, maxMemoryMb: 500, idleStopMs: null });
		await engine.start();
		console.log(engine.pid);
		setInterval(() => {}, 1e6);`,
	);
	const parent = Bun.spawn([process.execPath, parentFile], { stdout: "pipe", stderr: "ignore" });
	try {
		const { value } = await parent.stdout.getReader().read();
		const pid = Number(new TextDecoder().decode(value));
		expect(alive(pid)).toBe(true);
		parent.kill("SIGKILL");
		await until(() => !alive(pid));
	} finally {
		parent.kill("SIGKILL");
	}
});
