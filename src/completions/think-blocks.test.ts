import { expect, test } from "bun:test";
import fc from "fast-check";
import { splitThinkBlocks, ThinkBlockSplitter } from "./think-blocks.ts";

test("takes blocks and the blank lines behind them out of the text", () => {
	expect(splitThinkBlocks("<think>\nhm</think>\n\nFour.")).toEqual({ thought: "hm", content: "Four." });
	expect(splitThinkBlocks("a<think>x</think>b<think>y</think> c")).toEqual({ thought: "xy", content: "abc" });
	expect(splitThinkBlocks("<think>never closed</thi")).toEqual({ thought: "never closed</thi", content: "" });
	expect(splitThinkBlocks("a < b <thin c </think> d")).toEqual({ thought: "", content: "a < b <thin c </think> d" });
});

test("a text that begins inside a block needs no first tag, and may have one", () => {
	expect(splitThinkBlocks("hm</think>\nFour.", true)).toEqual({ thought: "hm", content: "Four." });
	expect(splitThinkBlocks("\n<think>hm</think>Four.", true)).toEqual({ thought: "hm", content: "Four." });
	expect(splitThinkBlocks("<thi", true)).toEqual({ thought: "<thi", content: "" });
	expect(splitThinkBlocks("cut off", true)).toEqual({ thought: "cut off", content: "" });
});

test("says the same wherever the pieces are cut", () => {
	const token = fc.constantFrom("<think>", "</think>", "<", "th", "ink>", "</", " ", "\n", "word", "é");
	const cuts = fc.array(fc.nat(40), { maxLength: 8 });
	fc.assert(
		fc.property(fc.array(token, { maxLength: 12 }), cuts, fc.boolean(), (tokens, cuts, inside) => {
			const text = tokens.join("");
			const splitter = new ThinkBlockSplitter(inside);
			const said = { content: "", thought: "" };
			const take = ({ content, thought }: { readonly content: string; readonly thought: string }) => {
				said.content += content;
				said.thought += thought;
			};
			let from = 0;
			for (const cut of [...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]) {
				take(splitter.push(text.slice(from, cut)));
				from = cut;
			}
			take(splitter.end());
			expect(said).toEqual(splitThinkBlocks(text, inside));
		}),
	);
});
