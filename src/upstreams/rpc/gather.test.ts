import { expect, test } from "bun:test";
import { until } from "../../../test/support/until.ts";
import type { Body } from "./body.ts";
import { RpcFault } from "./faults.ts";
import { gather, gatheredInMemory } from "./gather.ts";

const MIB = 1024 * 1024;

/** A body of pieces, each a mebibyte of its own number. */
function bodyOf(mebibytes: number, fault?: Error): Body & { canceled: boolean } {
	let at = 0;
	return {
		canceled: false,
		next() {
			if (at < mebibytes) return Promise.resolve(new Uint8Array(MIB).fill(at++ % 251));
			return fault === undefined ? Promise.resolve(null) : Promise.reject(fault);
		},
		cancel() {
			this.canceled = true;
		},
	};
}

function expectWhole(bytes: Uint8Array, mebibytes: number): void {
	expect(bytes.length).toBe(mebibytes * MIB);
	for (let at = 0; at < mebibytes; at++) expect([bytes[at * MIB], bytes[(at + 1) * MIB - 1]]).toEqual([at % 251, at % 251]);
}

test("a long answer is on disk, a short one in memory, both whole", async () => {
	const short = await gather(bodyOf(20));
	expectWhole(short, 20);
	const heldShort = gatheredInMemory();
	expect(heldShort).toBeGreaterThanOrEqual(20 * MIB);
	const long = await gather(bodyOf(40));
	expectWhole(long, 40);
	expect(gatheredInMemory()).toBe(heldShort);
	// Looked at until here, so it counts until here.
	expectWhole(short, 20);
	expect((await gather(bodyOf(0))).length).toBe(0);
});

test("many answers that are looked at take no more memory than all may together", async () => {
	const held: Uint8Array[] = [];
	for (let count = 0; count < 20; count++) held.push((await gather(bodyOf(30))).subarray(5));
	expect(gatheredInMemory()).toBeLessThanOrEqual(256 * MIB);
	expect(held.every((bytes) => bytes.at(-1) === 29)).toBe(true);
	held.length = 0;
	await until(() => {
		Bun.gc(true);
		return gatheredInMemory() === 0;
	});
});

test("an answer that breaks off leaves nothing behind", async () => {
	for (const mebibytes of [3, 40]) {
		const before = gatheredInMemory();
		const body = bodyOf(mebibytes, new RpcFault("broken", "cut"));
		await expect(gather(body)).rejects.toThrow("cut");
		expect(body.canceled).toBe(true);
		expect(gatheredInMemory()).toBe(before);
	}
});
