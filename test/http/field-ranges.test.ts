/** Every field of the chat body: each edge of its range is taken, one past it refused with the field named. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatGateway, HELLO, namedField, PRICED_MODEL, startChatGateway } from "./chat-gateway.ts";

let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway();
});
afterAll(() => fixture.stop());

interface FieldCase {
	readonly taken: readonly unknown[];
	/** A value, or a value with the path that the refusal must name where that is not the field itself. */
	readonly refused: readonly (unknown | Named)[];
}

class Named {
	readonly value: unknown;
	readonly param: string;
	constructor(value: unknown, param: string) {
		this.value = value;
		this.param = param;
	}
}
const named = (value: unknown, param: string) => new Named(value, param);

const NO_NUMBER = ["1", true, [1], { a: 1 }];
const NO_STRING = [1, true, ["a"], { a: 1 }];
const NO_BOOLEAN = ["true", 1, 0, [true], {}];
const NO_OBJECT = ["{}", 1, true, []];
const NO_LIST = ["a", 1, true, { a: 1 }];

const number = (low: number, high: number): FieldCase => ({
	taken: [low, high, (low + high) / 2, null],
	refused: [low - 0.01, high + 0.01, 1e300, ...NO_NUMBER],
});
const integer = (low: number, high: number | null): FieldCase => ({
	taken: [low, low + 1, high ?? 2 ** 31, null],
	refused: [low - 1, low + 0.5, ...(high === null ? [] : [high + 1]), ...NO_NUMBER],
});
const anyInteger: FieldCase = { taken: [-1, 0, 1, 100_000, null], refused: [0.5, ...NO_NUMBER] };
const text: FieldCase = { taken: ["", "a", "ü€😀", null], refused: NO_STRING };
const flag: FieldCase = { taken: [true, false, null], refused: NO_BOOLEAN };
const oneOf = (...values: readonly string[]): FieldCase => ({
	taken: [...values, null],
	refused: ["", "other", values[0]?.toUpperCase(), ...NO_STRING],
});
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const VERBOSITIES = ["low", "medium", "high", "auto"];

const FIELDS: Readonly<Record<string, FieldCase>> = {
	frequency_penalty: number(-2, 2),
	presence_penalty: number(-2, 2),
	repetition_penalty: { taken: [0, 1, 1.5, 1000, null], refused: [-0.01, ...NO_NUMBER] },
	logprobs: flag,
	top_logprobs: integer(0, null),
	max_completion_tokens: anyInteger,
	max_tokens: anyInteger,
	max_temp: number(0, 2),
	min_temp: { taken: [0, 2, null], refused: [-0.01, 2.01, ...NO_NUMBER] },
	min_p: number(0, 1),
	top_p: number(0, 1),
	top_k: integer(0, null),
	temperature: number(0, 2),
	n: integer(1, 8),
	seed: integer(1, null),
	stop: {
		taken: ["", "a", [], ["a"], ["a", "b", "c", "d"], null],
		refused: [["a", "b", "c", "d", "e"], 1, true, { a: 1 }, named([1], "stop[0]"), named(["a", null], "stop[1]")],
	},
	stop_token_ids: { taken: [[], [1, 2], [0.5], null], refused: [...NO_LIST, named(["1"], "stop_token_ids[0]")] },
	stream: { taken: [false, null], refused: NO_BOOLEAN },
	stream_options: {
		taken: [{}, { include_usage: true }, { include_usage: false }, { include_usage: null }, { other: 1 }, null],
		refused: [...NO_OBJECT, named({ include_usage: "true" }, "stream_options.include_usage")],
	},
	prompt_cache_key: text,
	prompt_cache_retention: oneOf("default", "extended", "24h"),
	reasoning: {
		taken: [
			{},
			...EFFORTS.map((effort) => ({ effort })),
			...["auto", "concise", "detailed"].map((summary) => ({ summary })),
			{ enabled: true },
			{ enabled: false },
			{ effort: null, summary: null, enabled: null },
			{ other: 1 },
			null,
		],
		refused: [
			...NO_OBJECT,
			named({ effort: "huge" }, "reasoning.effort"),
			named({ effort: 1 }, "reasoning.effort"),
			named({ summary: "long" }, "reasoning.summary"),
			named({ enabled: "false" }, "reasoning.enabled"),
		],
	},
	reasoning_effort: oneOf(...EFFORTS),
	user: text,
	store: flag,
	verbosity: oneOf(...VERBOSITIES),
	text: {
		taken: [{}, ...VERBOSITIES.map((verbosity) => ({ verbosity })), { verbosity: null }, null],
		refused: [...NO_OBJECT, named({ verbosity: "loud" }, "text.verbosity")],
	},
	include: { taken: [[], ["a", "b"], null], refused: [...NO_LIST, named([1], "include[0]")] },
	metadata: {
		taken: [{}, { a: "b" }, { a: "" }, null],
		refused: [...NO_OBJECT, named({ a: 1 }, "metadata.a"), named({ a: "x", b: null }, "metadata.b")],
	},
	parallel_tool_calls: flag,
	fallbacks: {
		taken: [[], [{ model: "a" }], Array(10).fill({ model: "a" }), null],
		refused: [...NO_LIST, Array(11).fill({ model: "a" }), named([{}], "fallbacks[0].model"), named(["a"], "fallbacks[0]")],
	},
	tools: { taken: [[], null], refused: [...NO_LIST, named(["a"], "tools[0]"), named([{}], "tools[0].function")] },
	tool_choice: { taken: ["auto", "none", null], refused: [1, true, ["auto"]] },
	response_format: { taken: [null], refused: NO_OBJECT },
	service_parameters: { taken: [{}, { unknown_option: 1 }, null], refused: NO_OBJECT },
};

for (const [field, { taken, refused }] of Object.entries(FIELDS)) {
	test(`${field}: its range is taken and what lies outside is refused by name`, async () => {
		for (const value of taken) {
			const outcome = await namedField(fixture.gate.chat({ ...HELLO, [field]: value }));
			expect(`${JSON.stringify(value)}: ${outcome}`).toBe(`${JSON.stringify(value)}: 200`);
			expect(fixture.lastSent().complaints).toEqual([]);
		}
		const before = fixture.upstream.requests.length;
		for (const entry of refused) {
			const { value, param } = entry instanceof Named ? entry : { value: entry, param: field };
			const outcome = await namedField(fixture.gate.chat({ ...HELLO, [field]: value }));
			expect(`${JSON.stringify(value)}: ${outcome}`).toBe(`${JSON.stringify(value)}: 400 ${param}`);
		}
		expect(fixture.upstream.requests).toHaveLength(before);
	});
}

test("model and messages are required, null or not", async () => {
	const { model, messages } = HELLO;
	const cases: readonly (readonly [body: object, outcome: string])[] = [
		[{ messages }, "400 model"],
		[{ model: null, messages }, "400 model"],
		[{ model: "", messages }, "400 model"],
		[{ model: 7, messages }, "400 model"],
		[{ model: [model], messages }, "400 model"],
		[{ model }, "400 messages"],
		[{ model, messages: null }, "400 messages"],
		[{ model, messages: [] }, "400 messages"],
		[{ model, messages: "hello" }, "400 messages"],
		[{ model, messages: {} }, "400 messages"],
		[{ model, messages: ["hello"] }, "400 messages[0]"],
		[{ model, messages: [null] }, "400 messages[0]"],
	];
	for (const [body, outcome] of cases) {
		const got = await namedField(fixture.gate.chat(body));
		expect(`${JSON.stringify(body)}: ${got}`).toBe(`${JSON.stringify(body)}: ${outcome}`);
	}
});

test("every field at fault is in issues and details, the first also in the text", async () => {
	const answer = await fixture.gate.chat({ ...HELLO, temperature: 3, top_p: "x", n: 0 });
	const body = (await answer.json()) as {
		error: { message: string; param: string };
		issues: { path: string[] }[];
		details: object;
	};
	expect(body.issues.map((issue) => issue.path[0]).sort()).toEqual(["n", "temperature", "top_p"]);
	expect(body.error.message).toContain(body.error.param);
	expect(Object.keys(body.details).sort()).toEqual(["_errors", "n", "temperature", "top_p"]);
});

test("min_temp above max_temp is refused, equal is not", async () => {
	expect(await namedField(fixture.gate.chat({ ...HELLO, min_temp: 1, max_temp: 1 }))).toBe("200");
	expect(await namedField(fixture.gate.chat({ ...HELLO, min_temp: 1.1, max_temp: 1 }))).toBe("400 min_temp");
});

test("max_completion_tokens wins over max_tokens, and zero or less is the same as none", async () => {
	const sent = async (part: object) => {
		expect((await fixture.gate.chat({ ...HELLO, ...part })).status).toBe(200);
		const { max_tokens, max_completion_tokens } = fixture.lastSent().body;
		return [max_tokens, max_completion_tokens];
	};
	expect(await sent({ max_tokens: 7, max_completion_tokens: 9 })).toEqual([9, undefined]);
	expect(await sent({ max_tokens: 7 })).toEqual([7, undefined]);
	expect(await sent({ max_tokens: 7, max_completion_tokens: 0 })).toEqual([7, undefined]);
	expect(await sent({ max_tokens: -1, max_completion_tokens: -5 })).toEqual([undefined, undefined]);
});

test("a maximum that the balance lowers goes upstream, also where the caller's own is zero", async () => {
	const poor = await fixture.gate.newKey({ creditUsd: "0.004" });
	for (const part of [{}, { max_completion_tokens: 0 }, { max_tokens: 0, max_completion_tokens: -1 }]) {
		expect((await fixture.gate.chat({ ...HELLO, model: PRICED_MODEL, ...part }, { key: poor.secret })).status).toBe(200);
		const { max_tokens } = fixture.lastSent().body;
		expect(max_tokens).toBeGreaterThanOrEqual(256);
		expect(max_tokens).toBeLessThan(1024);
	}
});

test("fields that are only for this service stay here", async () => {
	const mine = { user: "u", store: true, fallbacks: [{ model: "a" }], service_parameters: { enable_e2ee: false } };
	expect((await fixture.gate.chat({ ...HELLO, ...mine })).status).toBe(200);
	for (const key of Object.keys(mine)) expect(fixture.lastSent().body).not.toHaveProperty(key);
});
