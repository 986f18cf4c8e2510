import { expect, test } from "bun:test";
import { FairQueue, type FairQueueOptions } from "./index.ts";

class Full extends Error {}

/** Work that ends when the test says so, by name. */
class Fixture {
	readonly gate: FairQueue;
	readonly started: string[] = [];
	readonly #ends = new Map<string, () => void>();

	constructor(options: Partial<FairQueueOptions> = {}) {
		this.gate = new FairQueue({ places: 1, reserve: false, maxWaiting: 100, overflow: () => new Full(), ...options });
	}

	run(name: string, signal = new AbortController().signal): Promise<void> {
		const [tenant = ""] = name;
		return this.gate.run({ tenant, signal }, () => this.hold(name));
	}

	/** Work that has begun. */
	hold(name: string): Promise<void> {
		this.started.push(name);
		return new Promise((resolve) => this.#ends.set(name, resolve));
	}

	/** Ends a piece of work, and waits until what follows it has begun. */
	async end(name: string): Promise<void> {
		this.#ends.get(name)?.();
		await new Promise((resolve) => setImmediate(resolve));
	}
}

test("tenants take turns, each in its own order", async () => {
	const bench = new Fixture();
	const all = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) => bench.run(name));
	for (let index = 0; index < all.length; index++) await bench.end(bench.started[index] ?? "");
	await Promise.all(all);
	expect(bench.started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
	expect([bench.gate.running, bench.gate.waiting]).toEqual([0, 0]);
});

test("of several places the next goes to the tenant with the least under way", async () => {
	const bench = new Fixture({ places: 2 });
	const all = ["a1", "a2", "a3", "a4", "b1"].map((name) => bench.run(name));
	await bench.end("a1");
	expect(bench.started).toEqual(["a1", "a2", "b1"]);
	for (const name of ["a2", "b1", "a3", "a4"]) await bench.end(name);
	await Promise.all(all);
});

test("with a reserve a tenant that has nothing under way does not wait for those that fill all places", async () => {
	const bench = new Fixture({ places: 2, reserve: true });
	const all = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => bench.run(name));
	await bench.end("");
	expect(bench.started).toEqual(["a1", "a2", "b1"]);
	await bench.end("b1");
	expect(bench.started).toEqual(["a1", "a2", "b1", "b2"]);
	await bench.end("b2");
	expect(bench.started).toEqual(["a1", "a2", "b1", "b2", "c1"]);
	for (const name of ["c1", "a1", "a2", "a3"]) await bench.end(name);
	await Promise.all(all);
});

test("whoever has used much lately has no claim to the reserve, and comes after those who have not", async () => {
	let nowMs = 0;
	const bench = new Fixture({ places: 2, reserve: true, monotonicMs: () => nowMs });
	const all = ["a1", "b1", "c1", "a2", "b2", "c2"].map((name) => bench.run(name));
	await bench.end("");
	expect(bench.started).toEqual(["a1", "b1", "c1"]);
	nowMs += 30_000;
	// The three take turns on the two places, and leave the reserve.
	for (const name of ["a1", "b1", "c1"]) await bench.end(name);
	expect(bench.started.slice(3)).toEqual(["a2", "b2"]);
	all.push(bench.run("v1"));
	expect(bench.started.slice(5)).toEqual(["v1"]);
	await bench.end("v1");
	expect(bench.started.slice(6)).toEqual([]);
	// A second piece of theirs does not come before another one's first.
	all.push(bench.run("v2"), bench.run("v3"));
	expect(bench.started.slice(6)).toEqual(["v2"]);
	for (const name of ["a2", "b2"]) await bench.end(name);
	expect(bench.started.slice(7)).toEqual(["c2"]);
	for (const name of ["c2", "v2", "v3"]) await bench.end(name);
	await Promise.all(all);
});

test("what was used is forgotten with the time", async () => {
	let nowMs = 0;
	const bench = new Fixture({ places: 1, reserve: true, monotonicMs: () => nowMs });
	const first = bench.run("a1");
	nowMs += 30_000;
	await bench.end("a1");
	const other = bench.run("b1");
	const second = bench.run("a2");
	expect(bench.started).toEqual(["a1", "b1"]);
	nowMs += 100_000;
	const third = bench.run("a3");
	expect(bench.started).toEqual(["a1", "b1", "a3"]);
	for (const name of ["b1", "a3", "a2"]) await bench.end(name);
	await Promise.all([first, other, second, third]);
});

test("a tenant cannot fill the queue", async () => {
	const bench = new Fixture({ maxWaiting: 8 });
	const flood = Array.from({ length: 20 }, (_, index) => bench.run(`a${index}`));
	const outcomes = Promise.allSettled(flood);
	const other = bench.run("b");
	expect(bench.gate.waiting).toBe(5);
	for (let index = 0; index < 6; index++) await bench.end(bench.started[index] ?? "");
	await other;
	const refused = (await outcomes).filter((each) => each.status === "rejected" && each.reason instanceof Full);
	expect(refused).toHaveLength(15);
});

test("who leaves the queue is gone from it at once, and holds nobody up", async () => {
	const bench = new Fixture();
	const leave = new AbortController();
	const first = bench.run("a1");
	const gone = bench.run("b1", leave.signal);
	const last = bench.run("c1");
	leave.abort(new RangeError("left"));
	await expect(gone).rejects.toThrow("left");
	expect(bench.gate.waiting).toBe(1);
	await bench.end("a1");
	await bench.end("c1");
	await Promise.all([first, last]);
	expect(bench.started).toEqual(["a1", "c1"]);
	await expect(bench.run("d1", leave.signal)).rejects.toThrow("left");
});

test("places that are held by hand count as well; new bounds hold at once, for those that wait too", async () => {
	const { gate } = new Fixture({ places: 1 });
	const requester = (tenant: string) => ({ tenant, signal: new AbortController().signal });
	const leave = gate.tryEnter("a");
	expect([typeof leave, gate.tryEnter("b")]).toEqual(["function", null]);
	const [second, third] = [gate.enter(requester("a")), gate.enter(requester("b"))];
	gate.resize({ places: 2, reserve: true });
	expect([gate.running, gate.waiting]).toEqual([2, 1]);
	gate.resize({ places: 1, reserve: false });
	(await third)();
	expect([gate.running, gate.waiting]).toEqual([1, 1]);
	leave?.();
	leave?.();
	(await second)();
	expect(gate.running).toBe(0);
});

test("work that fails makes room, and a gate that is closed refuses what waits", async () => {
	const { gate } = new Fixture();
	const requester = { tenant: "a", signal: new AbortController().signal };
	await expect(gate.run(requester, () => Promise.reject(new TypeError("broken")))).rejects.toThrow("broken");
	const held = Promise.withResolvers<void>();
	const running = gate.run(requester, () => held.promise);
	const waiting = gate.run(requester, async () => {});
	gate.refuseWaiting(new RangeError("closed"));
	await expect(waiting).rejects.toThrow("closed");
	held.resolve();
	await running;
	expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test("however many networks without an account wait, an account waits for one piece of theirs at most", async () => {
	const bench = new Fixture();
	const run = (tenant: string, name: string) =>
		bench.gate.run({ tenant, signal: new AbortController().signal }, () => bench.hold(name));
	const strangers = Array.from({ length: 20 }, (_, index) => run(`address:2001:db8:0:${index}::/64`, `s${index}`));
	const again = run("address:2001:db8:0:1::/64", "s1 again");
	const account = run("acc_a", "account");
	await bench.end("s0");
	expect(bench.started).toEqual(["s0", "s1"]);
	await bench.end("s1");
	expect(bench.started).toEqual(["s0", "s1", "account"]);
	for (let index = 2; index <= 21; index++) await bench.end(bench.started[index] ?? "");
	await Promise.all([...strangers, again, account, bench.end("s1 again")]);
	expect(bench.started.at(-1)).toBe("s1 again");
});

test("with a reserve networks without an account leave a place to accounts", async () => {
	const bench = new Fixture({ reserve: true });
	const run = (tenant: string, name: string) =>
		bench.gate.run({ tenant, signal: new AbortController().signal }, () => bench.hold(name));
	const all = [run("address:192.0.2.1", "s1"), run("address:192.0.2.2", "s2"), run("acc_a", "account")];
	expect(bench.started).toEqual(["s1", "account"]);
	for (const name of ["s1", "account", "s2"]) await bench.end(name);
	await Promise.all(all);
});
