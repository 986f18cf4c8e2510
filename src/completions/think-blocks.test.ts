import { expect, test } from "bun:test";
import fc from "fast-check";
import { ThinkBlockStripper, withoutThinkBlocks } from "./think-blocks.ts";

test("takes out blocks and the blank lines behind them", () => {
	expect(withoutThinkBlocks("<think>hm</think>\n\nFour.")).toBe("Four.");
	expect(withoutThinkBlocks("a<think>x</think>b<think>y</think> c")).toBe("abc");
	expect(withoutThinkBlocks("<think>never closed")).toBe("");
	expect(withoutThinkBlocks("a < b <thin c </think> d")).toBe("a < b <thin c </think> d");
});

test("says the same wherever the pieces are cut", () => {
	const token = fc.constantFrom("<think>", "</think>", "<", "th", "ink>", "</", " ", "\n", "word", "é");
	fc.assert(
		fc.property(fc.array(token, { maxLength: 12 }), fc.array(fc.nat(40), { maxLength: 8 }), (tokens, cuts) => {
			const text = tokens.join("");
			const stripper = new ThinkBlockStripper();
			let said = "";
			let from = 0;
			for (const cut of [...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]) {
				said += stripper.push(text.slice(from, cut));
				from = cut;
			}
			expect(said + stripper.end()).toBe(withoutThinkBlocks(text));
		}),
	);
});
