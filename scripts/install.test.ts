import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";

const SCRIPTS = import.meta.dir;
/** What a start may cost where nothing is to be installed: half a second, of which Bun has the rest. */
const MOST_CPU_MS = 300;
/** `linux-x64` and so on: the part of Bun's package name that belongs to this machine. */
const PLATFORM = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch === "arm64" ? "aarch64" : "x64"}`;

let template = "";
let root = "";

function writePackage(folder: string, content: Record<string, unknown>): void {
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "package.json"), JSON.stringify({ version: "1.0.0", ...content }));
}

/** The project's own packages lie beside it: a real npm installs them without a network. */
function writeProject(folder: string, dependencies: Record<string, string>, devDependencies: Record<string, string>): void {
	writePackage(folder, { name: "project", private: true, dependencies, devDependencies });
	for (const [name, path] of Object.entries({ ...dependencies, ...devDependencies })) {
		if (!path.startsWith("file:./packages/")) continue;
		const home = join(folder, path.slice("file:./".length));
		writePackage(home, { name });
		if (!name.startsWith("@oven/")) continue;
		mkdirSync(join(home, "bin"), { recursive: true });
		writeFileSync(join(home, "bin", process.platform === "win32" ? "bun.exe" : "bun"), "");
	}
}

const BUN = { [`@oven/bun-${PLATFORM}`]: "file:./packages/bun", [`@oven/bun-${PLATFORM}-musl`]: "file:./packages/bun-musl" };
const ONE = { one: "file:./packages/one" };
const DEV = { dev: "file:./packages/dev" };

async function run(script: string, env: Record<string, string> = {}) {
	const child = Bun.spawn(["node", "--input-type=module", "--eval", script], {
		cwd: root,
		env: { ...process.env, npm_config_cache: join(template, "npm-cache"), ...env },
		stderr: "pipe",
	});
	const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	return { stdout: stdout.trim(), stderr, code: await child.exited };
}

/** Prints true where npm had to run. */
const install = (dev: boolean, env?: Record<string, string>) =>
	run(
		`import { ensureInstalled } from ${JSON.stringify(join(SCRIPTS, "install.mjs"))};
		try { console.log(await ensureInstalled({ root: ${JSON.stringify(root)}, dev: ${dev} })); }
		catch (error) { console.log(error.name + ": " + error.message); }`,
		env,
	);

const installed = (name: string) => existsSync(join(root, "node_modules", name));

async function lockProject(): Promise<void> {
	const npm = await run(`
		import { runNpm } from ${JSON.stringify(join(SCRIPTS, "npm.mjs"))};
		const { code } = await runNpm(["install", "--package-lock-only", "--no-audit", "--loglevel=error"], { cwd: ${JSON.stringify(root)} });
		process.exit(code);`);
	if (npm.code !== 0) throw new Error(npm.stderr);
}

beforeAll(async () => {
	template = mkdtempSync(join(tmpdir(), "turnpike-install-"));
	root = join(template, "project");
	writeProject(root, { ...BUN, ...ONE }, DEV);
	await lockProject();
});

let count = 0;
beforeEach(() => {
	const fresh = join(template, `project-${++count}`);
	cpSync(join(template, "project"), fresh, { recursive: true });
	root = fresh;
});

afterAll(() => rmSync(template, { recursive: true, force: true }));

describe("installing what is needed", () => {
	test("a first start installs what running needs, a second one does not ask npm", async () => {
		expect((await install(false)).stdout).toBe("true");
		expect([installed("one"), installed("dev")]).toEqual([true, false]);
		// With no npm that could run and no registry: nothing is asked for.
		expect((await install(false, { npm_config_registry: "http://127.0.0.1:1" })).stdout).toBe("false");
		const { stdout } = await run(`
				import { ensureInstalled } from ${JSON.stringify(join(SCRIPTS, "install.mjs"))};
				await ensureInstalled({ root: ${JSON.stringify(root)} });
				const { user, system } = process.cpuUsage();
				console.log((user + system) / 1_000);`);
		// Processor time, node's own start included: a busy machine does not change it much.
		expect(Number(stdout)).toBeLessThan(MOST_CPU_MS);
	});

	test("development packages are added beside what is there, and a later start keeps them", async () => {
		await install(false);
		const before = lstatSync(join(root, "node_modules", "one")).ino;
		writeFileSync(join(root, "node_modules", ".kept"), "");
		expect((await install(true)).stdout).toBe("true");
		expect([installed("one"), installed("dev"), installed(".kept")]).toEqual([true, true, true]);
		expect(lstatSync(join(root, "node_modules", "one")).ino).toBe(before);
		expect((await install(false)).stdout).toBe("false");
		// Another lock: npm runs again, for the run-time packages alone, and must not remove the others.
		writeFileSync(join(root, "package-lock.json"), `${readFileSync(join(root, "package-lock.json"), "utf8")}\n`);
		expect((await install(false)).stdout).toBe("true");
		expect(installed("dev")).toBe(true);
	});

	test("development packages of a hand-made installation stay too", async () => {
		await install(true);
		rmSync(join(root, "node_modules", ".turnpike-installed.json"));
		expect((await install(false)).stdout).toBe("true");
		expect(installed("dev")).toBe(true);
	});

	test("package.json and the lock stay as they are", async () => {
		const read = () => ["package.json", "package-lock.json"].map((name) => readFileSync(join(root, name), "utf8"));
		const before = read();
		await install(true);
		expect(read()).toEqual(before);
	});

	test("of two starts at once one installs and the other waits for it", async () => {
		const both = await Promise.all([install(false), install(false)]);
		expect(both.map(({ stdout }) => stdout).sort()).toEqual(["false", "true"]);
		expect(both.filter(({ stderr }) => stderr.includes("Installing packages"))).toHaveLength(1);
		expect(existsSync(join(root, ".cache", "install.lock"))).toBe(false);
	});

	test("a start that was killed while it installed leaves nothing that needs a hand", async () => {
		await install(false);
		rmSync(join(root, "node_modules", ".turnpike-installed.json"));
		rmSync(join(root, "node_modules", "one"), { recursive: true });
		const gone = Bun.spawnSync(["node", "--eval", ""]).pid;
		writeFileSync(join(root, ".cache", "install.lock"), JSON.stringify({ host: hostname(), pids: [gone] }));
		expect((await install(false)).stdout).toBe("true");
		expect(installed("one")).toBe(true);
	});

	test("of a package with libraries of every platform, those of other platforms are removed", async () => {
		writeProject(root, { ...BUN, "onnxruntime-node": "file:./packages/onnxruntime" }, {});
		const own = `${process.platform}/${process.arch}`;
		const others = ["linux/x64", "linux/arm64", "win32/x64", "darwin/arm64"].filter((platform) => platform !== own);
		const library = (platform: string) => join(root, "packages/onnxruntime/bin/napi-v6", platform, "library");
		for (const platform of [own, ...others]) {
			mkdirSync(dirname(library(platform)), { recursive: true });
			writeFileSync(library(platform), "");
		}
		rmSync(join(root, "package-lock.json"));
		await lockProject();
		expect((await install(false)).stdout).toBe("true");
		expect([own, ...others].filter((platform) => existsSync(library(platform)))).toEqual([own]);
	});

	test("a Bun that has gone missing is brought back", async () => {
		await install(false);
		rmSync(join(root, "node_modules", "@oven"), { recursive: true });
		expect((await install(false)).stdout).toBe("true");
	});
});

describe("when an installation fails", () => {
	test("a registry that cannot be reached is named as the cause, and the next start tries again", async () => {
		const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
		lock.packages[""].dependencies.far = "1.0.0";
		lock.packages["node_modules/far"] = { version: "1.0.0", integrity: "sha512-AAAA" };
		writeFileSync(join(root, "package-lock.json"), JSON.stringify(lock));
		const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
		manifest.dependencies.far = "1.0.0";
		writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
		const env = { npm_config_registry: "http://127.0.0.1:1", npm_config_fetch_retries: "0" };
		for (let attempt = 0; attempt < 2; attempt++) {
			const { stdout } = await install(false, env);
			expect(stdout).toStartWith("InstallError: The packages could not be installed (npm: exit code 1).");
			expect(stdout).toContain("could not be reached");
		}
	});

	test("a platform without a Bun is told so", async () => {
		writeProject(root, ONE, {});
		rmSync(join(root, "package-lock.json"));
		await lockProject();
		expect((await install(false)).stdout).toContain("InstallError: npm installed no Bun for");
	});
});

describe("the lock between starts", () => {
	const lockScript = (path: string, then: string) =>
		`import { takeLock } from ${JSON.stringify(join(SCRIPTS, "file-lock.mjs"))};
		const lock = await takeLock(${JSON.stringify(path)}, () => console.log("waits")); ${then}`;

	test("a hundred turns of four processes never overlap", async () => {
		const path = join(root, "turns.lock");
		const log = join(root, "turns.log");
		const script = `import { appendFileSync } from "node:fs";
			import { takeLock } from ${JSON.stringify(join(SCRIPTS, "file-lock.mjs"))};
			for (let turn = 0; turn < 25; turn++) {
				const lock = await takeLock(${JSON.stringify(path)});
				appendFileSync(${JSON.stringify(log)}, "[");
				await new Promise(setImmediate);
				appendFileSync(${JSON.stringify(log)}, "]");
				lock.release();
				await new Promise(setImmediate);
			}`;
		await Promise.all([run(script), run(script), run(script), run(script)]);
		expect(readFileSync(log, "utf8")).toBe("[]".repeat(100));
	});

	test("a holder of another machine is believed while it shows life, and no longer", async () => {
		const path = join(root, "far.lock");
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, JSON.stringify({ host: "elsewhere", pids: [1] }));
		const { stdout } = await run(`
			import { utimesSync } from "node:fs";
			setTimeout(() => utimesSync(${JSON.stringify(path)}, new Date(0), new Date(0)), 300);
			${lockScript(path, 'console.log("taken"); lock.release();')}`);
		expect(stdout.split("\n")).toEqual(["waits", "taken"]);
	});

	test("an unreadable lock that is old is taken over", async () => {
		const path = join(root, "torn.lock");
		writeFileSync(path, '{"host":');
		const { stdout } = await run(`
			import { utimesSync } from "node:fs";
			utimesSync(${JSON.stringify(path)}, new Date(0), new Date(0));
			${lockScript(path, 'console.log("taken");')}`);
		expect(stdout).toBe("taken");
		expect(existsSync(path)).toBe(false);
	});
});
