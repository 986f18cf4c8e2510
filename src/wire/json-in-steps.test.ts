import { describe, expect, test } from "bun:test";
import { atOnce } from "./in-turns.ts";
import { parseInSteps, stringifyInSteps } from "./json-in-steps.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function parse(text: string): { readonly value: unknown; readonly steps: number } {
	const reading = parseInSteps(encode(text));
	for (let steps = 1; ; steps++) {
		const step = reading.next();
		if (step.done === true) return { value: step.value, steps };
	}
}

const numbers = Array.from({ length: 60_000 }, (_, index) => index);
const large = JSON.stringify(numbers);
const texts = JSON.stringify(numbers.map((number) => `text ${number} "é" \\`));
const members = JSON.stringify(Object.fromEntries(numbers.map((number) => [`key ${number}`, { number }])));

describe("large JSON is parsed in steps as JSON.parse does it:", () => {
	test.each([
		["numbers", large],
		["texts", texts],
		["members", members],
		["large among small", `[1, ${large} ,2,{"a":${members}, "b" : [ ]},${texts}]`],
		["large members", `{"a":1,"b":${large},"c":{},"d" : ${members}\n, "e":[${texts}]}`],
		["keys that are there twice", `{"a":1,"b":${large},"a":2,"b":3}`],
		["a key __proto__", `{"a":${large},"__proto__":{"x":1}}`],
		["a large value of __proto__", `{"__proto__":${large}}`],
		["a long text", JSON.stringify(["é".repeat(300_000), 1])],
		["white space", ` \n[ ${large.replaceAll(",", " ,\t")}\r\n] `],
		["nothing much", "[]"],
		["a number", "1"],
	])("%s", (_, text) => {
		const { value, steps } = parse(text);
		expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
		expect(steps > 2).toBe(text.length > 150_000);
	});

	test.each([
		["nothing", ""],
		["a comma too many", `[${large},]`],
		["a comma too few", `[${large} 1]`],
		["a comma at the beginning", `[,${large}]`],
		["a comma too many in an object", `{"a":${large},}`],
		["a key without quotes", `{a:${large}}`],
		["no colon", `{"a" ${large}}`],
		["no key", `{${large}}`],
		["no end", `[${large}`],
		["no end of a text", `[${large},"a`],
		["the end of another kind", `[${large}}`],
		["text behind it", `${large} 1`],
		["a bad word", large.replace("59999", "nul")],
		["a bad number", large.replace("59999", "01")],
	])("and refused: %s", (_, text) => {
		expect(() => JSON.parse(text)).toThrow();
		expect(() => parse(text)).toThrow(SyntaxError);
	});

	test("bytes that are no UTF-8 are refused, and a byte order mark is passed over", () => {
		const bytes = encode(large);
		expect(atOnce(parseInSteps(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])))).toEqual(numbers);
		bytes[1_000] = 0xff;
		expect(() => atOnce(parseInSteps(bytes))).toThrow(SyntaxError);
	});

	test("random JSON, with random mistakes", () => {
		let seed = 7;
		const random = (most: number) => {
			seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
			return seed % most;
		};
		const make = (depth: number): unknown => {
			const kind = random(depth > 3 ? 4 : 7);
			if (kind === 0) return random(1_000) / 7;
			if (kind === 1) return "x".repeat(random(40_000));
			if (kind === 2) return null;
			if (kind === 3) return numbers.slice(0, random(30_000));
			const items = Array.from({ length: random(6) }, () => make(depth + 1));
			return kind === 4 ? Object.fromEntries(items.map((item, index) => [`k${index}`, item])) : items;
		};
		for (let round = 0; round < 60; round++) {
			const text = JSON.stringify([make(0), make(0), make(0)]);
			expect(JSON.stringify(parse(text).value)).toBe(text);
			const at = random(text.length);
			const mistaken = `${text.slice(0, at)}${'[]{},:"1x '[random(10)]}${text.slice(at + random(2))}`;
			let right: string | null = null;
			try {
				right = JSON.stringify(JSON.parse(mistaken));
			} catch {}
			let ours: string | null = null;
			try {
				ours = JSON.stringify(parse(mistaken).value);
			} catch {}
			expect(ours).toBe(right);
		}
	});
});

describe("large values are written in steps as JSON.stringify does it:", () => {
	const value = JSON.parse(
		`{"z":[${large},${texts},{"a":${members},"b":[],"c":{}}],"1":${large},"s":"${"é".repeat(200_000)}"}`,
	) as unknown;

	test.each([
		["of all kinds", value],
		["a list of large lists", [numbers, numbers, numbers]],
		["without what is undefined", { a: undefined, b: numbers, c: [undefined, numbers] }],
		["a text", "é".repeat(2_000_000)],
		["nothing", null],
		["empty ones", [[], {}]],
	])("%s", (_, written) => {
		expect(atOnce(stringifyInSteps(written))).toBe(JSON.stringify(written));
	});

	test("in many of them", () => {
		let steps = 0;
		for (const writing = stringifyInSteps(value); writing.next().done !== true; ) steps++;
		expect(steps).toBeGreaterThan(10);
	});
});
