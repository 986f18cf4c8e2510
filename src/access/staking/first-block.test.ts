import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Block } from "../evm/index.ts";
import { firstBlockSince } from "./first-block.ts";

/** A chain by the gaps between its blocks. */
const chains = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 400 }).map((gaps) => {
	let timestamp = 1_000;
	return gaps.map((gap, number): Block => {
		timestamp += gap;
		return { number, hash: `0x${number}`, timestamp };
	});
});

test("it is the first one at or after the instant, found by few questions, on any chain", async () => {
	await fc.assert(
		fc.asyncProperty(chains, fc.nat(), async (blocks, pick) => {
			const head = blocks.at(-1);
			if (head === undefined) return;
			const since = 900 + (pick % (head.timestamp - 899));
			let asked = 0;
			const found = await firstBlockSince(since, head, async (number) => {
				asked++;
				const block = blocks[number];
				if (block === undefined) throw new Error(`there is no block ${number}`);
				return block;
			});
			expect(found).toEqual(blocks.find((block) => block.timestamp >= since) as Block);
			expect(asked).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(blocks.length + 1)) + 2);
		}),
	);
});

test("it asks for no block that is much older than the instant", async () => {
	const blockAt = async (number: number): Promise<Block> => ({ number, hash: "0x", timestamp: number * 2 });
	let oldest = Number.POSITIVE_INFINITY;
	const head = await blockAt(30_000_000);
	const found = await firstBlockSince(59_900_001, head, (number) => {
		oldest = Math.min(oldest, number);
		return blockAt(number);
	});
	expect(found.number).toBe(29_950_001);
	expect(oldest).toBeGreaterThan(29_850_000);
});
