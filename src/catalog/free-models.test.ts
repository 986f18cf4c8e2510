import { expect, test } from "bun:test";
import { buildCatalog } from "./build-catalog.ts";
import { freeUpstreams } from "./free-models.ts";
import { inputsOf, listed } from "./testing/config.ts";

function freeOf(written: Record<string, unknown>, lists: Parameters<typeof inputsOf>[1] = {}) {
	const inputs = inputsOf({ chat: { embedded: { enabled: false } }, ...written }, lists);
	return freeUpstreams(buildCatalog(inputs), inputs.config);
}

const price = { input: 1, output: 1 };

test("an upstream that may bill the operator is told with the number of its models at price 0", () => {
	const upstreams = { openai: { url: "https://api.openai.com/v1", key: "k" } };
	const entries = { large: { price, upstreams: [{ upstream: "openai", model: "gpt-a" }] } };
	expect(freeOf({ upstreams, models: { entries } }, { openai: listed("gpt-a", "gpt-b", "gpt-c") })).toEqual([
		{ upstream: "openai", models: 2, billed: true, example: { id: "gpt-b", type: "text" } },
	]);
	const closed = { openai: { ...upstreams.openai, discover: false } };
	expect(freeOf({ upstreams: closed, models: { entries } }, { openai: listed("gpt-a", "gpt-b", "gpt-c") })).toEqual([]);
});

test("a key or an address beyond the private network makes a bill likely; neither does not", () => {
	const lists = { a: listed("m"), b: listed("m"), c: listed("m") };
	const upstreams = {
		a: { url: "http://10.0.0.5:8000/v1", key: "k" },
		b: { url: "https://models.example.com/v1" },
		c: { url: "http://localhost:11434/v1" },
	};
	expect(freeOf({ upstreams }, lists).map(({ upstream, billed }) => [upstream, billed])).toEqual([
		["a", true],
		["b", true],
		["c", false],
	]);
});

test("a price on either side, an offline model and a hidden one are not given away", () => {
	const upstreams = { a: { url: "https://models.example.com/v1" } };
	const entries = {
		output: { price: { input: 0, output: 1 } },
		input: { price: { input: 1, output: 0 } },
		off: { offline: true },
		hidden: { hidden: true },
	};
	expect(freeOf({ upstreams, models: { entries } }, { a: listed("output", "input", "off", "hidden") })).toEqual([]);
});
