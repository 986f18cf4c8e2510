import { expect, test } from "bun:test";
import { citedSources } from "./cited-sources.ts";

const source = (number: number) => ({ title: `T${number}`, url: `https://${number}.example/`, content: "", date: "" });
const SOURCES = [source(1), source(2), source(3)];

test.each([
	["Tea.^1^", [["https://1.example/", 4, 7]]],
	[
		"Tea^1,3^ or^2^",
		[
			["https://1.example/", 3, 8],
			["https://3.example/", 3, 8],
			["https://2.example/", 11, 14],
		],
	],
	[
		"^1 , 2^",
		[
			["https://1.example/", 0, 7],
			["https://2.example/", 0, 7],
		],
	],
	["x^2 + y^2 and 2^10^", []],
	["^0^ ^4^ ^-1^ ^^ ^a^", []],
] as const)("finds the numbers in %p", (text, expected) => {
	expect(citedSources(text, SOURCES).map(({ url, start_index, end_index }) => [url, start_index, end_index])).toEqual(
		expected.map((one) => [...one]),
	);
	expect(citedSources(text, [])).toEqual([]);
});
