import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { splitText } from "./split-text.ts";

const texts = (text: string, language: "en-us" | "ja" | "zh" = "en-us") => splitText(text, language).map((piece) => piece.text);

describe("a text is split", () => {
	test("into sentences", () => {
		expect(texts("The first sentence is here. The second one comes after it! Is there a third one of them?")).toEqual([
			"The first sentence is here. ",
			"The second one comes after it! ",
			"Is there a third one of them?",
		]);
	});

	test("not after an abbreviation, an initial or within a number", () => {
		for (const whole of ["Yesterday Dr. Smith met Mr. J. Brown in St. Moritz.", "It was 3.14, not 3,000.5."])
			expect(texts(whole)).toEqual([whole]);
	});

	test("with very short sentences beside their neighbours", () => {
		expect(texts("Yes. No. Of course it is as you say.")).toEqual(["Yes. No. Of course it is as you say."]);
	});

	test("at clauses where a sentence is long, and earlier at the beginning, which is waited for", () => {
		const long = Array.from({ length: 20 }, (_, index) => `this is clause number ${index}`).join(", ");
		const pieces = splitText(`${long}.`, "en-us");
		expect(pieces[0]?.text.length).toBeLessThanOrEqual(60);
		for (const piece of pieces) expect(piece.text.length).toBeLessThanOrEqual(68);
		for (const piece of pieces.slice(0, -1)) expect(piece.ends).toBe("clause");
		expect(pieces.at(-1)?.ends).toBe("sentence");
	});

	test("with digits as the words that they are spoken as", () => {
		for (const piece of texts(`${"1234567890 ".repeat(14)}.`)) expect(piece.replace(/\D/g, "").length).toBeLessThanOrEqual(13);
		expect(texts("In 1999 it was 4.")).toEqual(["In 1999 it was 4."]);
	});

	test("within a clause in parts of like length", () => {
		const words = "one two six ten ".repeat(5).trim();
		expect(texts(`${words}.`).map(({ length }) => length)).toEqual([44, 36]);
	});

	test("with pauses that grow from words to paragraphs", () => {
		const ends = splitText("One sentence that is long enough.\n\nAnother sentence that is long enough.\nA third.", "en-us");
		expect(ends.map((piece) => piece.ends)).toEqual(["paragraph", "sentence"]);
	});

	test("in Japanese and Chinese by their own signs", () => {
		expect(texts("今日は天気がいいですね。明日も晴れるでしょうか。", "ja")).toEqual([
			"今日は天気がいいですね。",
			"明日も晴れるでしょうか。",
		]);
		expect(texts("我们一起去北京的银行。今天天气很好！", "zh")).toEqual(["我们一起去北京的银行。", "今天天气很好！"]);
	});

	test("so that the pieces are the text, each is short, and the last ends at its last character", () => {
		const any = fc.oneof(
			fc.string({ unit: "binary", maxLength: 900 }),
			fc.lorem({ maxCount: 80 }),
			fc.string({ unit: "grapheme", maxLength: 900 }),
		);
		fc.assert(
			fc.property(any, fc.constantFrom("en-us" as const, "ja" as const, "hi" as const), (text, language) => {
				const pieces = splitText(text, language);
				expect(pieces.map((piece) => piece.text).join("")).toBe(text);
				for (const piece of pieces) expect(piece.text.length).toBeLessThanOrEqual(68);
				expect(pieces.at(-1)?.end ?? 0).toBe([...text].length);
				const isWhole = (piece: { text: string }) => piece.text.isWellFormed();
				if (text.isWellFormed()) expect(pieces.every(isWhole)).toBe(true);
			}),
			{ numRuns: 200 },
		);
	});

	test("4096 characters without a space too", () => {
		expect(texts("a".repeat(4096)).length).toBe(61);
		expect(texts("😀".repeat(2048)).join("")).toBe("😀".repeat(2048));
	});
});
