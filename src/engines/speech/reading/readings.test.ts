import { describe, expect, test } from "bun:test";
import { chineseInWords, chineseNumber } from "./chinese-numbers.ts";
import { cleanText, hasWords } from "./clean-text.ts";
import { japaneseNumber } from "./japanese-numbers.ts";
import { mathSignsInChinese, mathSignsInJapanese } from "./math-signs.ts";

describe("a text is cleaned of what has no sound", () => {
	test("pictures, control characters, marks of direction and broken characters go", () => {
		expect(cleanText("Hi 👋🏽 there 👨‍👩‍👧 🇫🇷 1️⃣!\u0000\u001b \u202eend\ud800")).toBe("Hi there 1 ! end");
		expect(cleanText("so\u00adft hy\u200bphen")).toBe("soft hyphen");
	});

	test("markup becomes its words", () => {
		expect(cleanText('<speak>Hi <break time="1s"/> you</speak>')).toBe('speak Hi break time="1s"/ you /speak');
	});

	test("one way of writing is left", () => {
		expect(cleanText("ＡＢＣ ｶﾀｶﾅ ½ ﬁne…")).toBe("ABC カタカナ 1/2 fine...");
		expect(cleanText("  a\n\n\tb  ")).toBe("a b");
	});

	test("letters with more marks than any language has lose them", () => {
		expect([...cleanText(`a${"\u0301\u0317".repeat(100)}b`)].length).toBeLessThan(10);
	});

	test("a text without words is told from one with them", () => {
		for (const silent of ["", "   ", "🙂🎉", "?!…", "\u0000\u200b", "\ud83d", "---", "「」"])
			expect(hasWords(silent)).toBe(false);
		for (const said of ["a", "7", "%", "日本", "नमस्ते", "🙂 ok"]) expect(hasWords(said)).toBe(true);
	});
});

test("Japanese numbers change their sounds where people do", () => {
	const pairs: [string, string][] = [
		["0", "ゼロ"],
		["10", "ジュー"],
		["300", "サンビャク"],
		["3,800", "サンゼンハッピャク"],
		["10000", "イチマン"],
		["12345678", "イッセンニヒャクサンジューヨンマンゴセンロッピャクナナジューハチ"],
		["3.14", "サンテンイチヨン"],
		["007", "ゼロゼロナナ"],
	];
	expect(pairs.map(([digits]) => japaneseNumber(digits))).toEqual(pairs.map(([, said]) => said));
});

test("Chinese numbers have their zeros where people say them", () => {
	const pairs: [string, string][] = [
		["0", "零"],
		["10", "十"],
		["105", "一百零五"],
		["110", "一百一十"],
		["1005", "一千零五"],
		["12345", "一万二千三百四十五"],
		["100050", "十万零五十"],
		["3.14", "三点一四"],
	];
	expect(pairs.map(([digits]) => chineseNumber(digits))).toEqual(pairs.map(([, said]) => said));
	expect(chineseInWords("2024年有50%，￥12元")).toBe("二零二四年有百分之五十，十二元元");
});

test("powers and comparisons are read in Chinese and Japanese", () => {
	expect(chineseInWords(mathSignsInChinese("2^10"))).toBe("二的十次方");
	expect(mathSignsInChinese("a != b，x² > 5，1 < x <= 5")).toBe("a不等于b，x的平方大于5，1小于x小于等于5");
	expect(mathSignsInJapanese("2^10、a<b、10⁻⁶")).toBe("2の10乗、a小なりb、10のマイナス6乗");
	for (const read of [mathSignsInChinese, mathSignsInJapanese]) expect(read("<b>字</b> -> 字")).toBe("<b>字</b> -> 字");
});
