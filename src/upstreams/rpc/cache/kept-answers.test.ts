import { expect, test } from "bun:test";
import fc from "fast-check";
import { LruAnswers } from "./lru-answers.ts";

const entry = (value: string | Uint8Array, block: number | null = null, network = "a", expiresAtMs: number | null = null) => ({
	network,
	block,
	expiresAtMs,
	value: Buffer.from(value),
});

test("the least used goes first when the bound is passed", () => {
	const kept = new LruAnswers(10_000);
	for (const key of ["a", "b", "c"]) kept.set(key, entry(Buffer.alloc(1_000)));
	expect(kept.get("a", null, 0)).not.toBeNull();
	for (let more = 0; more < 5; more++) kept.set(`more${more}`, entry(Buffer.alloc(1_000)));
	expect(["a", "b", "c"].filter((key) => kept.get(key, null, 0) !== null)).toEqual(["a", "c"]);
	expect(kept.bytes).toBeLessThanOrEqual(10_000);
});

test("whatever is set and dropped, the bytes stay in their bound and are those of the entries", () => {
	const step = fc.oneof(
		fc.record({ key: fc.nat({ max: 30 }), size: fc.nat({ max: 3_000 }), block: fc.option(fc.nat({ max: 9 })) }),
		fc.record({ above: fc.nat({ max: 9 }) }),
		fc.record({ expire: fc.nat({ max: 30 }) }),
	);
	fc.assert(
		fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
			const kept = new LruAnswers(20_000);
			for (const one of steps) {
				if ("above" in one) kept.dropAbove("a", one.above);
				else if ("expire" in one) kept.set(`k${one.expire}`, entry("x", null, "a", 5));
				else kept.set(`k${one.key}`, entry(Buffer.alloc(one.size), one.block));
				expect(kept.bytes).toBeLessThanOrEqual(20_000);
			}
			for (let key = 0; key <= 30; key++) kept.get(`k${key}`, 9, 10);
			kept.dropAbove("a", -1);
			for (let key = 0; key <= 30; key++) kept.set(`k${key}`, entry("", 1));
			kept.dropAbove("a", 0);
			expect([kept.entries, kept.bytes]).toEqual([0, 0]);
		}),
		{ numRuns: 300 },
	);
});

test("a value over an eighth of the whole is not kept, and takes nothing's place", () => {
	const kept = new LruAnswers(80_000);
	kept.set("small", entry("x"));
	kept.set("big", entry(Buffer.alloc(10_001)));
	expect([kept.get("big", null, 0), kept.entries]).toEqual([null, 1]);
	kept.set("fits", entry(Buffer.alloc(10_000)));
	expect(kept.get("fits", null, 0)).toHaveLength(10_000);
});

test("a value is given out only while its block is final and its time has not passed", () => {
	const kept = new LruAnswers(80_000);
	kept.set("block", entry("x", 5));
	kept.set("aged", entry("y", null, "a", 1_000));
	expect(kept.get("block", 5, 0)).not.toBeNull();
	expect([kept.get("block", 4, 0), kept.get("block", null, 0)]).toEqual([null, null]);
	expect(kept.get("aged", null, 999)).not.toBeNull();
	expect([kept.get("aged", null, 1_000), kept.get("aged", null, 0)]).toEqual([null, null]);
});

test("dropping above a block leaves what is below, and other networks", () => {
	const kept = new LruAnswers(80_000);
	for (const [key, block, network] of [
		["low", 4, "a"],
		["high", 6, "a"],
		["other", 6, "b"],
		["constant", null, "a"],
	] as const)
		kept.set(key, entry("x", block, network));
	kept.dropAbove("a", 5);
	expect(["low", "high", "other", "constant"].filter((key) => kept.get(key, 9, 0) !== null)).toEqual([
		"low",
		"other",
		"constant",
	]);
});

test("a value is a copy: what it was made of may be written over", () => {
	const kept = new LruAnswers(80_000);
	const value = Buffer.from("abc");
	kept.set("key", { network: "a", block: null, expiresAtMs: null, value });
	value.fill(0);
	expect(String(kept.get("key", null, 0))).toBe("97,98,99");
});
