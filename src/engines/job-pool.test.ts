import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import { silentLog } from "../telemetry/log.ts";
import { JobPool, type JobPoolOptions } from "./job-pool.ts";

/** Answers a job at once, unless its name says that it never ends, takes its time, or starts a program that takes 600 MB. */
const CHILD = `
const EATER = "const all = new Uint8Array(600 * 2 ** 20); setInterval(() => all.fill(1), 1);";
const eat = () => (Bun.spawn([process.execPath, "-e", EATER]), new Promise(() => {}));
const slow = async (answer) => { for (let i = 0; i < 150; i++) { const end = performance.now() + 2; while (performance.now() < end); await Bun.sleep(20); } return answer; };
const burn = (answer) => { for (const end = process.cpuUsage().user + 100_000; process.cpuUsage().user < end; ); return answer; };
import { serveParent } from ${JSON.stringify(join(import.meta.dir, "child-side.ts"))};
serveParent({
	start: async () => null,
	work: ({ id, name }) => name.endsWith("burn") ? Promise.resolve(burn({ id, name })) : name === "hungry" ? eat() : name === "slow" ? slow({ id, name }) : (name === "endless" ? new Promise(() => {}) : Promise.resolve({ id, name })),
});`;

class Overflow extends Error {}

let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "turnpike-jobs-"));
	writeFileSync(join(folder, "child.ts"), CHILD);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fault = () => new Error("ended");
const FAULTS = { tooSlow: fault, tooHungry: fault, ended: fault, overflow: () => new Overflow() };

function poolOf(options: Partial<JobPoolOptions<{ name: string }>> = {}): JobPool<{ name: string }> {
	return new JobPool({
		name: "test-jobs",
		log: silentLog,
		entry: join(folder, "child.ts"),
		init: async () => null,
		parse: (done) => done as { id: number; name: string },
		processes: 2,
		reserve: true,
		limitMs: 600_000,
		maxMemoryMb: 500,
		maxWaiting: 16,
		idleStopMs: 600_000,
		faults: FAULTS,
		...options,
	});
}

test("jobs of one tenant that fill all processes do not hold up those of another", async () => {
	const pool = poolOf();
	const leave = new AbortController();
	const endless = Array.from({ length: 20 }, () => pool.run({ name: "endless" }, { tenant: "flood", signal: leave.signal }));
	const ends = Promise.allSettled(endless);
	const other = { tenant: "other", signal: new AbortController().signal };
	try {
		for (const name of ["first", "second", "third"]) expect((await pool.run({ name }, other)).name).toBe(name);
		expect([pool.working, pool.waiting]).toEqual([2, 8]);
	} finally {
		leave.abort(new RangeError("left"));
	}
	const reasons = (await ends).map((end) => (end.status === "rejected" ? end.reason : null));
	expect(reasons.filter((reason) => reason instanceof Overflow)).toHaveLength(10);
	expect(reasons.filter((reason) => reason instanceof RangeError)).toHaveLength(10);
	await until(() => pool.working === 0 && pool.waiting === 0, "the end of all jobs");
	expect((await pool.run({ name: "after" }, other)).name).toBe("after");
	await pool.stop();
});

test("jobs that give nothing have so much processor time of a tenant, and no more", async () => {
	const pool = poolOf({ isRefusal: ({ name }) => name.startsWith("bad"), maxWastedMs: 250 });
	const signal = new AbortController().signal;
	const run = (name: string, tenant: string) => pool.run({ name }, { tenant, signal });
	try {
		for (let job = 0; job < 8; job++) expect((await run("good burn", "honest")).name).toBe("good burn");
		const bad = async () => {
			for (let job = 0; job < 40; job++) await run("bad burn", "waster");
		};
		await expect(bad()).rejects.toMatchObject({
			code: "RATE_LIMIT_EXCEEDED",
			options: { retryAfterSeconds: expect.any(Number) },
		});
		await expect(run("good burn", "waster")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
		expect((await run("good burn", "honest")).name).toBe("good burn");
	} finally {
		await pool.stop();
	}
});

test("a pool without a reserve gives the next turn to the tenant that waits longest", async () => {
	const pool = poolOf({ processes: 1, reserve: false });
	const signal = new AbortController().signal;
	const order: string[] = [];
	const jobs = ["a1", "a2", "a3", "b1"].map(async (name) => {
		await pool.run({ name }, { tenant: name.slice(0, 1), signal });
		order.push(name);
	});
	await Promise.all(jobs);
	expect(order).toEqual(["a1", "a2", "b1", "a3"]);
	await pool.stop();
});

test.skipIf(process.platform !== "linux")("a job whose programs take too much memory is ended with them", async () => {
	const tooHungry = new RangeError("too hungry");
	const pool = poolOf({ processes: 1, faults: { ...FAULTS, tooHungry: () => tooHungry } });
	const requester = { tenant: "a", signal: new AbortController().signal };
	await expect(pool.run({ name: "hungry" }, requester)).rejects.toBe(tooHungry);
	expect((await pool.run({ name: "after" }, requester)).name).toBe("after");
	await pool.stop();
});

test.skipIf(process.platform !== "linux")(
	"a job's limit is its work: on a slow machine it takes longer, and is done",
	async () => {
		const pool = poolOf({ processes: 1, limitMs: 2_500 });
		const requester = { tenant: "a", signal: new AbortController().signal };
		const began = performance.now();
		expect((await pool.run({ name: "slow" }, requester)).name).toBe("slow");
		expect(performance.now() - began).toBeGreaterThan(2_500);
		await pool.stop();
	},
);

test("a job that stands still is nobody's fault, and may come again", async () => {
	const pool = poolOf({ processes: 1, limitMs: 1_000, faults: { ...FAULTS, tooSlow: () => new RangeError("too slow") } });
	const requester = { tenant: "a", signal: new AbortController().signal };
	const still = await pool.run({ name: "endless" }, requester).catch((fault: unknown) => fault);
	if (process.platform === "linux")
		expect(still).toMatchObject({ code: "REQUEST_TIMEOUT", status: 504, options: { retryAfterSeconds: 30 } });
	else expect(still).toBeInstanceOf(RangeError);
	expect((await pool.run({ name: "after" }, requester)).name).toBe("after");
	await pool.stop();
});
