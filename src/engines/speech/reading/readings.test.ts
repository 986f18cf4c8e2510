import { describe, expect, test } from "bun:test";
import { chineseInWords, chineseNumber } from "./chinese-numbers.ts";
import { cleanText, hasWords } from "./clean-text.ts";
import { japaneseNumber } from "./japanese-numbers.ts";
import { mathSignsInLanguage } from "./math-words.ts";

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
	expect(chineseInWords(mathSignsInLanguage("2^10", "zh"))).toBe("二的十次方");
	expect(mathSignsInLanguage("a != b，x² > 5，1 < x <= 5", "zh")).toBe("a不等于b，x的平方大于5，1小于x小于等于5");
	expect(mathSignsInLanguage("2^10、a<b、10⁻⁶", "ja")).toBe("2の10乗、a小なりb、10のマイナス6乗");
	for (const language of ["zh", "ja"] as const) expect(mathSignsInLanguage("<b>字</b> -> 字", language)).toBe("<b>字</b> -> 字");
});

const SIGNS = "x² + y³, 2^10, 10⁻⁶; a != b, 1 < x <= 5, n ≥ 3, a==b, x ≈ 2, 3*4; 20 m² et 1 km²";

test.each([
	[
		"fr",
		"x au carré + y au cube, 2 puissance 10, 10 puissance moins 6; a est différent de b, 1 est inférieur à x, qui est inférieur ou égal à 5, n est supérieur ou égal à 3, a est égal à b, x est environ égal à 2, 3 fois 4; 20 mètres carrés et 1 kilomètre carré",
	],
	[
		"es",
		"x al cuadrado + y al cubo, 2 elevado a 10, 10 elevado a menos 6; a es distinto de b, 1 es menor que x, que es menor o igual que 5, n es mayor o igual que 3, a es igual a b, x es aproximadamente igual a 2, 3 por 4; 20 metros cuadrados et 1 kilómetro cuadrado",
	],
	[
		"it",
		"x al quadrato + y al cubo, 2 elevato a 10, 10 elevato a meno 6; a è diverso da b, 1 è minore di x, che è minore o uguale a 5, n è maggiore o uguale a 3, a è uguale a b, x è circa uguale a 2, 3 per 4; 20 metri quadrati et 1 chilometro quadrato",
	],
	[
		"pt-br",
		"x ao quadrado + y ao cubo, 2 elevado a 10, 10 elevado a menos 6; a é diferente de b, 1 é menor que x, que é menor ou igual a 5, n é maior ou igual a 3, a é igual a b, x é aproximadamente igual a 2, 3 vezes 4; 20 metros quadrados et 1 quilômetro quadrado",
	],
	[
		"hi",
		"x का वर्ग + y का घन, 2 की घात 10, 10 की घात माइनस 6; a के बराबर नहीं है b, 1 से बड़ा है x, जिस से बड़ा या बराबर है 5, n से छोटा या बराबर है 3, a के बराबर है b, x के लगभग बराबर है 2, 3 गुणा 4; 20 वर्ग मीटर et 1 वर्ग किलोमीटर",
	],
] as const)("powers, comparisons and square units are read in %s", (language, spoken) => {
	const read = mathSignsInLanguage(SIGNS, language)
		.replaceAll(/\s+/g, " ")
		.replaceAll(/ (?=[,;])/g, "");
	expect(read).toBe(spoken);
	for (const text of ["<b>mot</b> -> fin", "List<String>", "moi <3 toi", "^_^", "**gras**"])
		expect(mathSignsInLanguage(text, language)).toBe(text);
});

test.each([
	["x < 5", "x से बड़ा है 5"],
	["5 > 3", "5 से छोटा है 3"],
	["यदि a<=b", "यदि a से बड़ा या बराबर है b"],
	["y ≥ 2,5", "y से छोटा या बराबर है 2,5"],
	["a != b", "a के बराबर नहीं है b"],
	["1 < x < 5", "1 से बड़ा है x, जिस से बड़ा है 5"],
	["<b>पाठ</b> -> पाठ", "<b>पाठ</b> -> पाठ"],
])("Hindi words for %s", (written, spoken) => {
	expect(mathSignsInLanguage(written, "hi")).toBe(spoken);
});
