import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { growth, LINEAR_BOUND } from "../../../../test/support/growth.ts";
import { cleanText } from "./clean-text.ts";
import { englishInWords, mathSignsInWords } from "./english-text.ts";

const american = (text: string) => englishInWords(text, false);

const SAID: Readonly<Record<string, readonly (readonly [written: string, said: string])[]>> = {
	"Roman numerals": [
		["Henry VIII had six wives.", "Henry the eighth had six wives."],
		["World War II ended in Chapter IV", "World War two ended in Chapter four"],
		["Louis XIV and Pope John Paul II", "Louis the fourteenth and Pope John Paul the second"],
		["Queen Elizabeth I of England, Charles I.", "Queen Elizabeth the first of England, Charles the first."],
		["With Charles I went home", "With Charles I went home"],
		["Section III.", "Section three."],
		["Super Bowl LVIII and WrestleMania XL", "Super Bowl fifty-eight and WrestleMania forty"],
		["Chapter XLII, Psalm CXIX", "Chapter forty-two, Psalm one hundred nineteen"],
		["Section C, Type L, Level XL", "Section C, Type L, Level XL"],
		["I saw Malcolm X on an IV drip", "I saw Malcolm X on an IV drip"],
	],
	money: [
		["It costs $3.50.", "It costs three dollars and fifty cents."],
		["$1", "one dollar"],
		["$0.01", "one cent"],
		["£1.01 and €20", "one pound and one penny and twenty euros"],
		["about $1.5 million", "about one point five million dollars"],
		["a $5k loan", "a five thousand dollars loan"],
		["20 €", "twenty euros"],
		["$1,234,567", "one million two hundred thirty-four thousand five hundred sixty-seven dollars"],
	],
	times: [
		["at 9:30 a.m. sharp", "at nine thirty A M sharp"],
		["at 10:00", "at ten o'clock"],
		["at 14:05", "at fourteen oh five"],
		["until 9pm", "until nine P M"],
	],
	dates: [
		["March 3, 2024", "March third, twenty twenty-four"],
		["2024-11-28", "November twenty-eighth, twenty twenty-four"],
		["3/4/2025", "March fourth, twenty twenty-five"],
		["in 1999, 1905 and 2005", "in nineteen ninety-nine, nineteen oh five and two thousand five"],
		["the 1980s", "the nineteen eighties"],
		["31/12/2025", "December thirty-first, twenty twenty-five"],
		["99/99/2025", "ninety-nine over ninety-nine slash twenty twenty-five"],
	],
	numbers: [
		["1,234,567 people", "one million two hundred thirty-four thousand five hundred sixty-seven people"],
		["0.5%", "zero point five percent"],
		["agent 007", "agent zero zero seven"],
		["the 21st and the 12th", "the twenty-first and the twelfth"],
		["pages 10-20", "pages ten to twenty"],
		["-5 degrees", "minus five degrees"],
		["version 2.1.3", "version two point one point three"],
		["3 1/2 cups", "three and one half cups"],
		["555-123-4567", "five five five, one two three, four five six seven"],
		["1234567890123456", "one two three four five six seven eight nine zero one two three four five six"],
	],
	abbreviations: [
		["Dr. Smith and Mrs. Jones", "Doctor Smith and Missus Jones"],
		["St. John lives on Main St. now", "Saint John lives on Main Street now"],
		["No. 12", "number twelve"],
		["fruit, e.g. apples", "fruit, for example, apples"],
		["and so on, etc.", "and so on, et cetera."],
		["The light is on, the sun and the col. are far", "The light is on, the sun and the col. are far"],
	],
	"addresses of the net": [
		["Visit https://example.com/docs/.", "Visit example dot com slash docs."],
		["mail jo.doe@example.org today", "mail jo dot doe at example dot org today"],
		["see www.example.co.uk", "see www dot example dot co dot uk"],
	],
	units: [
		["5 kg at 60 mph", "five kilograms at sixty miles per hour"],
		["1 km", "one kilometer"],
		["-5°C", "minus five degrees Celsius"],
		["16GB at 3.2 GHz", "sixteen gigabytes at three point two gigahertz"],
	],
	signs: [
		["AT&T", "AT and T"],
		["2+2=4", "two plus two equals four"],
		["#1 #tag", "number one hashtag tag"],
		["and/or", "and slash or"],
	],
};

describe("English is read aloud as people read", () => {
	for (const [kind, pairs] of Object.entries(SAID))
		test(kind, () => {
			expect(pairs.map(([written]) => american(written))).toEqual(pairs.map(([, said]) => said));
		});

	test("British dates have the day first", () => {
		expect(englishInWords("3/4/2025", true)).toBe("the third of April, twenty twenty-five");
	});

	test("plain words stay as they are", () => {
		const plain = "She said: nothing, really (not a word)!";
		expect(american(plain)).toBe(plain);
	});

	test("no digit is left, whatever the text", () => {
		fc.assert(
			fc.property(fc.string({ unit: fc.constantFrom(..."0123456789.,:/-$£€%#@+ aTmkst'()"), maxLength: 60 }), (text) => {
				expect(american(text)).not.toMatch(/\d/);
			}),
			{ numRuns: 500, examples: [["..0"], ["1..5"], ["0,0000"]] },
		);
	});

	test("the work for the longest hostile input grows with its length alone", () => {
		const read = (size: number) => {
			for (const unit of ["1", "a.", "1,", "a-", "$1 ", " ", "/1", "1:", "a@", "@a.", "1.1", "http://a"])
				american(unit.repeat(size).slice(0, size));
			for (const unit of ["<", "a<", "<a ", "<a b=", "1^", "²", "a<b>", "1 < ", "<!", "1*", "x "])
				mathSignsInWords(unit.repeat(size).slice(0, size));
		};
		expect(growth(read, 4096)).toBeLessThan(LINEAR_BOUND);
	});
});

test("powers and comparisons are read, and markup is not", () => {
	const read = (text: string) => american(mathSignsInWords(text));
	expect(read("x² + y³")).toBe("x squared plus y cubed");
	expect(read("10⁻⁶ of a metre")).toBe("ten to the power of minus six of a metre");
	expect(read("2 < 3 and 5 > 4")).toBe("two is less than three and five is greater than four");
	expect(read("a ≤ b ≠ c")).toBe("a is at most b, which is not equal to c");
	expect(mathSignsInWords("<b>bold</b> -> here")).toBe("<b>bold</b> -> here");
});

const SIGNS: readonly (readonly [written: string, said: string])[] = [
	["2^10 = 1024", "two to the power of ten equals one thousand twenty-four"],
	["2^10 and 2**8", "two to the power of ten and two to the power of eight"],
	["x^2 + y^n", "x squared plus y to the power of n"],
	["10^-6", "ten to the power of minus six"],
	["e^(x+1)", "e to the power of (x plus one)"],
	["3*4", "three times four"],
	["a != b", "a is not equal to b"],
	["a!=b, c !== d, e == f", "a is not equal to b, c is not equal to d, e equals f"],
	["a<b", "a is less than b"],
	["if a<b and c>d", "if a is less than b and c is greater than d"],
	["5 <6", "five is less than six"],
	["1 < x <= 5", "one is less than x, which is at most five"],
	["0≤x<1", "zero is at most x, which is less than one"],
	["x < -5", "x is less than minus five"],
	["10⁸ km", "ten to the power of eight kilometers"],
	["3×10⁸ m/s away", "three times ten to the power of eight meters per second away"],
	["10^3 kg", "ten cubed kilograms"],
	["20 m² and 5 km^2", "twenty square meters and five square kilometers"],
	["1 m³", "one cubic meter"],
];

test.each(SIGNS)("%s is read as people read it", (written, said) => {
	expect(american(cleanText(mathSignsInWords(written)))).toBe(said);
});

test("tags, arrows, hearts, faces, quotes and parameters of types are no comparisons", () => {
	for (const text of [
		"a<b>bold</b>c",
		'<p class="x">a</p> <br/>',
		"a -> b => c <- d << e >> f",
		"I <3 you",
		"^_^ and [^1]",
		"said she\n> quoted words",
		"Map<string, number> and List<T>",
		"**bold** *words*",
		"What!",
	])
		expect(mathSignsInWords(text)).toBe(text);
});
