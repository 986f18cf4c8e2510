import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AssetStore, parseManifest } from "../../assets/index.ts";
import type { ReconcileReport } from "../../payments/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import { ManualClock } from "../../telemetry/clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { assets, pullAsset } from "./assets.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { reconcileTask } from "./proofs.ts";
import type { Assets } from "./types.ts";

const CONTENT = "a".repeat(100_000);
let dir: string;
let server: Bun.Server<undefined>;
let rest = Promise.withResolvers<void>();

beforeAll(() => {
	dir = mkdtempSync(join(tmpdir(), "turnpike-console-assets-"));
	server = Bun.serve({
		port: 0,
		async fetch({ url }) {
			if (url.endsWith("/gone")) return new Response("gone", { status: 404 });
			await rest.promise;
			return new Response(CONTENT);
		},
	});
});
afterAll(async () => {
	await server.stop(true);
	rmSync(dir, { recursive: true, force: true });
});

const partsOf = (part: object) => ({ clock: new ManualClock(0), log: silentLog, ...part }) as unknown as ConsoleApiDeps;
const bodyOf = <T>({ body }: Answer) => JSON.parse(String(body)) as T;

test("an asset is fetched when it is asked for, and the list tells how far it is", async () => {
	const asset = (name: string, path: string) => ({
		name,
		description: "d",
		licence: "MIT",
		group: "model",
		bytes: CONTENT.length,
		sha256: createHash("sha256").update(CONTENT).digest("hex"),
		sources: [{ kind: "url", url: `${server.url}${path}` }],
	});
	const manifest = parseManifest({ assets: [asset("here", "here"), asset("gone", "gone")] });
	const store = new AssetStore({ dir, manifest, log: silentLog, tries: 1, retryDelayMs: 1 });
	const deps = partsOf({ assets: store });
	const row = async (name: string) => bodyOf<Assets>(await assets(deps)).assets.find((each) => each.name === name);
	expect(await row("here")).toEqual({
		name: "here",
		group: "model",
		licence: "MIT",
		state: "absent",
		receivedBytes: 0,
		totalBytes: CONTENT.length,
		error: null,
	});
	const started = await pullAsset("here", deps);
	expect([started.status, bodyOf<Assets>(started).assets[0]?.state]).toEqual([202, "fetching"]);
	rest.resolve();
	await store.ensure("here");
	expect(await row("here")).toMatchObject({ state: "ready", receivedBytes: CONTENT.length });
	await pullAsset("gone", deps);
	await store.ensure("gone").catch(() => {});
	expect(await row("gone")).toMatchObject({ state: "failed", error: expect.stringContaining("gone") });
	expect(() => pullAsset("../here", deps)).toThrow("no such asset");
	expect(() => pullAsset("here", partsOf({ assets: null }))).toThrow("no such asset");
	rest = Promise.withResolvers();
});

test("a reconciliation runs once at a time, and its last report stays beside a failure", async () => {
	const runs: PromiseWithResolvers<ReconcileReport>[] = [];
	const reconcile = () => {
		const run = Promise.withResolvers<ReconcileReport>();
		runs.push(run);
		return run.promise;
	};
	const task = reconcileTask(partsOf({ reconcile }));
	if (task === null) throw new Error("there is a receiver");
	expect(task.now()).toEqual({ state: "never", startedAt: null, endedAt: null, report: null, error: null });
	expect(task.start().state).toBe("running");
	expect(task.start().state).toBe("running");
	expect(runs.length).toBe(1);
	const checked = { settling: 0, unknown: 0, credited: 2, failed: 1 };
	runs[0]?.resolve({ checked, credited: { "eip155:8453": 7_500_000 }, discrepancies: [] });
	await Bun.sleep(0);
	const report = { checked, creditedUsd: { "eip155:8453": "7.5000" }, discrepancies: [] };
	expect(task.now()).toMatchObject({ state: "done", report, error: null });
	task.start();
	runs[1]?.reject(new Error("the chain does not answer"));
	await Bun.sleep(0);
	expect(task.now()).toMatchObject({ state: "failed", report, error: "the chain does not answer" });
});

test("without a receiver there is nothing to reconcile", () => {
	expect(reconcileTask(partsOf({ reconcile: null }))).toBeNull();
});
