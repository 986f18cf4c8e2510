import { describe, expect, test } from "bun:test";
import { tokenUsageOf, usageOf } from "./usage.ts";

const counts = (usage: Record<string, unknown>) => {
	const found = tokenUsageOf(usage);
	return found && [found.promptTokens, found.completionTokens, found.cachedTokens, found.cacheWriteTokens, found.reasoningTokens];
};

describe("usage is read in the spelling of", () => {
	const spellings: [string, Record<string, unknown>, number[]][] = [
		[
			"OpenAI",
			{
				prompt_tokens: 100,
				completion_tokens: 20,
				total_tokens: 120,
				prompt_tokens_details: { cached_tokens: 40 },
				completion_tokens_details: { reasoning_tokens: 5 },
			},
			[100, 20, 40, 0, 5],
		],
		[
			"vLLM without details",
			{ prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: null, completion_tokens_details: null },
			[100, 20, 0, 0, 0],
		],
		[
			"DeepSeek",
			{ prompt_tokens: 100, completion_tokens: 20, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
			[100, 20, 64, 0, 0],
		],
		[
			"cache creation inside the details",
			{ prompt_tokens: 100, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 10, cache_creation_input_tokens: 30 } },
			[100, 2, 10, 30, 0],
		],
		[
			"OpenRouter",
			{ prompt_tokens: 100, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 30 } },
			[100, 2, 10, 30, 0],
		],
		[
			"Responses",
			{
				input_tokens: 9,
				output_tokens: 3,
				input_tokens_details: { cached_tokens: 1 },
				output_tokens_details: { reasoning_tokens: 2 },
			},
			[9, 3, 1, 0, 2],
		],
		["a server that gives only a total", { prompt_tokens: 9, total_tokens: 12 }, [9, 3, 0, 0, 0]],
	];
	for (const [name, usage, expected] of spellings) {
		test(name, () => {
			expect(counts(usage)).toEqual(expected);
		});
	}

	test("Ollama's own API and Groq's streams", () => {
		expect(usageOf({ prompt_eval_count: 8, eval_count: 4, done: true })).toMatchObject({ promptTokens: 8, completionTokens: 4 });
		expect(usageOf({ x_groq: { usage: { prompt_tokens: 8, completion_tokens: 4 } } })).toMatchObject({
			promptTokens: 8,
			completionTokens: 4,
		});
	});
});

test("absent, null, empty or zero usage is none: then we count", () => {
	for (const body of [
		{},
		{ usage: null },
		{ usage: {} },
		{ usage: { prompt_tokens: 0, completion_tokens: 0 } },
		{ usage: [] },
		{ usage: "x" },
	])
		expect(usageOf(body)).toBeNull();
});

test("numbers that are no counts never become money", () => {
	expect(usageOf({ usage: { prompt_tokens: -5, completion_tokens: 3 } })).toBeNull();
	expect(counts({ prompt_tokens: "12", completion_tokens: 3 })).toEqual([0, 3, 0, 0, 0]);
	expect(counts({ prompt_tokens: 10.4, completion_tokens: 1e300 })).toEqual([10, 1_000_000_000, 0, 0, 0]);
	expect(
		counts({
			prompt_tokens: 10,
			completion_tokens: 1,
			prompt_tokens_details: { cached_tokens: 50, cache_creation_input_tokens: 9 },
		}),
	).toEqual([10, 1, 10, 0, 0]);
});

describe("what is in the total and on neither side counts", () => {
	const cases: [string, Record<string, unknown>, number[]][] = [
		[
			"as output where a server leaves its thinking out of it",
			{ prompt_tokens: 11, completion_tokens: 3, total_tokens: 114, completion_tokens_details: { reasoning_tokens: 100 } },
			[11, 103, 0, 0, 100],
		],
		[
			"as output where nobody says what it is",
			{ prompt_tokens: 11, completion_tokens: 3, total_tokens: 114 },
			[11, 103, 0, 0, 0],
		],
		[
			"as output, in the names of the Responses API",
			{ input_tokens: 11, output_tokens: 3, total_tokens: 114 },
			[11, 103, 0, 0, 0],
		],
		[
			"as the prompt where cached tokens are told beside it",
			{ input_tokens: 11, output_tokens: 3, total_tokens: 1_014, cache_read_input_tokens: 1_000 },
			[1_011, 3, 1_000, 0, 0],
		],
		[
			"as both, where thinking is left out too",
			{ input_tokens: 11, output_tokens: 3, total_tokens: 1_021, cache_read_input_tokens: 1_000, reasoning_tokens: 7 },
			[1_011, 10, 1_000, 0, 7],
		],
		[
			"as the prompt, in Anthropic's form, which has no total",
			{ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 50 },
			[160, 5, 100, 50, 0],
		],
		[
			"as the prompt where the total leaves cached tokens out too",
			{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cache_read_input_tokens: 100 },
			[110, 5, 100, 0, 0],
		],
		["as the prompt where that is not told", { completion_tokens: 3, total_tokens: 14 }, [11, 3, 0, 0, 0]],
	];
	for (const [name, usage, expected] of cases) test(name, () => expect(counts(usage)).toEqual(expected));

	test("and nothing does where the total is the sum, less than it, or no number", () => {
		for (const total_tokens of [14, 13, 0, -5, "114", Number.NaN])
			expect(counts({ prompt_tokens: 11, completion_tokens: 3, total_tokens })).toEqual([11, 3, 0, 0, 0]);
		const cached = { prompt_tokens: 100, completion_tokens: 3, total_tokens: 103, prompt_tokens_details: { cached_tokens: 90 } };
		expect(counts(cached)).toEqual([100, 3, 90, 0, 0]);
	});

	test("thinking that is more than the output, without a total, is beside it", () => {
		expect(counts({ prompt_tokens: 11, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 100 } })).toEqual([
			11, 103, 0, 0, 100,
		]);
		expect(counts({ prompt_tokens: 11, completion_tokens: 120, completion_tokens_details: { reasoning_tokens: 100 } })).toEqual([
			11, 120, 0, 0, 100,
		]);
	});
});
