import { describe, expect, test } from "bun:test";
import { chatForward, type ForwardOptions, HELLO, textModel } from "../../../test/support/chat-forward.ts";
import { DIALECT_TABLE, type DialectName } from "./dialects.ts";
import { shapeChatBody } from "./request-body.ts";

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function shapeText(body: object | string, dialect: DialectName = "generic", options: ForwardOptions = {}): string {
	return textOf(shapeChatBody(chatForward(body, options), "up/m:1", DIALECT_TABLE[dialect]));
}
function shape(body: object, dialect: DialectName = "generic", options: ForwardOptions = {}): Record<string, unknown> {
	return JSON.parse(shapeText({ ...HELLO, ...body }, dialect, options));
}
const only = (result: Record<string, unknown>): Record<string, unknown> => {
	const { model: _, messages: __, ...rest } = result;
	return rest;
};

/** Every field of the specification at once. */
const EVERY_FIELD = {
	frequency_penalty: 0.1,
	presence_penalty: 0.2,
	repetition_penalty: 1.1,
	logprobs: true,
	top_logprobs: 2,
	max_completion_tokens: 50,
	max_tokens: 60,
	max_temp: 1.5,
	min_temp: 0.5,
	min_p: 0.05,
	top_p: 0.9,
	top_k: 40,
	temperature: 0.7,
	n: 2,
	seed: 7,
	stop: ["a", "b"],
	stop_token_ids: [1, 2],
	stream: true,
	stream_options: { include_usage: false },
	prompt_cache_key: "k",
	prompt_cache_retention: "extended",
	reasoning: { effort: "low", summary: "auto" },
	reasoning_effort: "high",
	user: "someone",
	store: true,
	verbosity: "low",
	text: { verbosity: "high" },
	include: ["x"],
	metadata: { a: "b" },
	parallel_tool_calls: true,
	response_format: {
		type: "json_schema",
		json_schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
	},
	tools: [{ function: { name: "f", parameters: { type: "object" } } }, { type: "web_search" }, { type: "x_search" }],
	tool_choice: { type: "function", function: { name: "f" } },
	fallbacks: [{ model: "other" }],
	service_parameters: { enable_web_search: "off" },
	top_a: 0.3,
	logit_bias: { "50256": -100 },
};

/** What all dialects send of it: OpenAI's old core, and keys that are no fields of ours. */
const EVERYWHERE = {
	frequency_penalty: 0.1,
	presence_penalty: 0.2,
	seed: 7,
	stop: ["a", "b"],
	stream: true,
	stream_options: { include_usage: true },
	top_p: 0.9,
	response_format: {
		type: "json_schema",
		json_schema: { name: "response", schema: EVERY_FIELD.response_format.json_schema },
	},
	tools: [{ function: { name: "f", parameters: { type: "object" } }, type: "function" }],
	top_a: 0.3,
	logit_bias: { "50256": -100 },
};
const NAMED = { type: "function", function: { name: "f" } };
const LOGPROBS = { logprobs: true, top_logprobs: 2 };

const EXPECTED: Readonly<Record<DialectName, object>> = {
	generic: {
		...LOGPROBS,
		max_tokens: 50,
		min_p: 0.05,
		n: 2,
		parallel_tool_calls: true,
		reasoning_effort: "high",
		repetition_penalty: 1.1,
		stop_token_ids: [1, 2],
		temperature: 0.7,
		tool_choice: NAMED,
		top_k: 40,
	},
	openai: {
		...LOGPROBS,
		max_completion_tokens: 50,
		n: 2,
		parallel_tool_calls: true,
		prompt_cache_key: "k",
		prompt_cache_retention: "24h",
		reasoning_effort: "high",
		temperature: 0.7,
		tool_choice: NAMED,
		verbosity: "low",
	},
	openrouter: {
		...LOGPROBS,
		max_completion_tokens: 50,
		metadata: { a: "b" },
		min_p: 0.05,
		n: 2,
		parallel_tool_calls: true,
		prompt_cache_key: "k",
		reasoning: { effort: "high", summary: "auto" },
		repetition_penalty: 1.1,
		temperature: 0.7,
		tool_choice: NAMED,
		top_k: 40,
		verbosity: "low",
	},
	vllm: {
		...LOGPROBS,
		max_completion_tokens: 50,
		min_p: 0.05,
		n: 2,
		parallel_tool_calls: true,
		reasoning_effort: "high",
		repetition_penalty: 1.1,
		stop_token_ids: [1, 2],
		temperature: 0.7,
		tool_choice: NAMED,
		top_k: 40,
	},
	"llama.cpp": {
		...LOGPROBS,
		dynatemp_range: 0.5,
		max_tokens: 50,
		min_p: 0.05,
		n: 2,
		parallel_tool_calls: true,
		reasoning_effort: "high",
		repeat_penalty: 1.1,
		temperature: 1,
		tool_choice: "required",
		top_k: 40,
	},
	ollama: { ...LOGPROBS, max_tokens: 50, reasoning_effort: "high", temperature: 0.7 },
	lmstudio: {
		max_tokens: 50,
		reasoning_effort: "high",
		repeat_penalty: 1.1,
		temperature: 0.7,
		tool_choice: "required",
		top_k: 40,
	},
};

describe("every field of the specification goes to", () => {
	for (const [dialect, expected] of Object.entries(EXPECTED) as [DialectName, object][]) {
		test(`${dialect} under its names, without what it does not know`, () => {
			const result = shape(EVERY_FIELD, dialect);
			expect(result.model).toBe("up/m:1");
			expect(result.messages).toEqual(HELLO.messages);
			expect(only(result)).toEqual({ ...EVERYWHERE, ...expected });
		});
	}
});

describe("bytes", () => {
	test("of members that need no change go out as they came", () => {
		const body =
			'{ "messages" : [ {"role":"user","content":"\\u00e9  1.50" } ], "temperature":1.0e0,"model":"test-model", "x":[1 ,2] }';
		expect(shapeText(body)).toBe(body.replace('"test-model"', '"up/m:1"'));
	});

	test("are the caller's own where nothing changes at all", () => {
		const call = chatForward({ ...HELLO, model: "up/m:1" });
		expect(shapeChatBody(call, "up/m:1", DIALECT_TABLE.generic)).toBe(call.raw);
	});

	test("of duplicate keys leave only the last", () => {
		const text = shapeText('{"model":"a","messages":[],"user":"x","model":"b","max_tokens":5,"user":"y"}');
		expect(text).toBe('{"messages":[],"model":"up/m:1","max_tokens":5}');
	});

	test("of messages change only where a role must", () => {
		const messages =
			'[ {"role":"developer" , "content":"be brief \\u00e9"},\n{"content":"a \\"developer\\" hello","role":"user"} ]';
		const body = `{"model":"up/m:1","messages":${messages}}`;
		expect(shapeText(body, "openai")).toBe(body);
		expect(shapeText(body, "vllm")).toBe(body.replace('"role":"developer"', '"role":"system"'));
		expect(shapeText(body.replace('"role":"developer"', '"role":"\\u0064eveloper"'), "ollama")).toContain('"role":"system"');
	});
});

describe("edits of the route", () => {
	const edited = (edits: Record<string, string | null>, body: object = {}, dialect: DialectName = "generic") =>
		only(shape(body, dialect, { edits: new Map(Object.entries(edits)) }));

	test("are what the dialect sees", () => {
		expect(edited({ max_completion_tokens: "12" }, { max_tokens: 90 })).toEqual({ max_tokens: 12 });
		expect(edited({ max_tokens: null }, { max_tokens: 90 })).toEqual({});
		expect(edited({ temperature: "0.5" }, { temperature: 1 })).toEqual({ temperature: 0.5 });
		expect(edited({ repetition_penalty: "1.2" }, {}, "llama.cpp")).toEqual({ repeat_penalty: 1.2 });
	});

	test("may bring messages, which are rewritten like the caller's", () => {
		const edits = new Map([["messages", '[{"role":"developer","content":"x"},{"role":"user","content":"y"}]']]);
		expect(shape({}, "vllm", { edits }).messages).toEqual([
			{ role: "system", content: "x" },
			{ role: "user", content: "y" },
		]);
	});
});

describe("the output maximum", () => {
	test("is dropped at 0 and below, under either name", () => {
		expect(only(shape({ max_tokens: 0 }))).toEqual({});
		expect(only(shape({ max_tokens: -1, max_completion_tokens: 0 }, "openai"))).toEqual({});
		expect(only(shape({ max_tokens: 5, max_completion_tokens: 0 }, "openai"))).toEqual({ max_completion_tokens: 5 });
	});

	test("keeps the number as it was written where its name is right", () => {
		expect(shapeText('{"model":"up/m:1","messages":[],"max_tokens":1e2}')).toContain('"max_tokens":1e2');
	});
});

describe("null, empty lists and dependent fields", () => {
	test("go as if absent", () => {
		const empty = {
			temperature: null,
			stop: [],
			stop_token_ids: [],
			tools: [],
			tool_choice: null,
			response_format: null,
			reasoning: null,
		};
		expect(
			only(shape({ ...empty, max_tokens: null, logprobs: null, verbosity: null, text: null, stream: null }, "vllm")),
		).toEqual({});
	});

	test("that speak of tools go where no tools are left", () => {
		expect(only(shape({ tools: [{ type: "web_search" }], tool_choice: "auto", parallel_tool_calls: false }))).toEqual({});
	});

	test("stream_options go where there is no stream", () => {
		expect(only(shape({ stream: false, stream_options: { include_usage: true } }))).toEqual({ stream: false });
	});

	test("top_logprobs goes without logprobs; both go for a model without them", () => {
		expect(only(shape({ top_logprobs: 3 }))).toEqual({});
		expect(only(shape({ top_logprobs: 3, logprobs: false }))).toEqual({ logprobs: false });
		const model = textModel([{}], { supportsLogProbs: false });
		expect(only(shape({ top_logprobs: 3, logprobs: true }, "openai", { model }))).toEqual({});
	});
});

describe("tools", () => {
	test("are functions, whatever type they say: servers run tools of their own by other types", () => {
		const other = [
			{ type: "openrouter:web_search", id: "1", function: { name: "a" } },
			{ type: "custom", function: { name: "b" } },
		];
		for (const dialect of ["generic", "openai", "openrouter", "vllm"] as const)
			expect(only(shape({ tools: other }, dialect)).tools).toEqual([
				{ type: "function", function: { name: "a" } },
				{ type: "function", function: { name: "b" } },
			]);
	});

	const named = { type: "function", function: { name: "b" } };
	const tools = [
		{ type: "function", function: { name: "a" } },
		{ type: "function", id: "t1", function: { name: "b", strict: true } },
	];

	test("lose our own key id, and keep their bytes otherwise", () => {
		const body =
			'{"model":"up/m:1","messages":[],"tools":[ {"function":{"name":"a"} , "type":"function"},{"id":"1","type":"function","function":{"name":"b"}}]}';
		expect(shapeText(body)).toContain(
			'"tools":[{"function":{"name":"a"} , "type":"function"},{"type":"function","function":{"name":"b"}}]',
		);
	});

	test("are narrowed to the named one where a server cannot be told its name", () => {
		for (const dialect of ["llama.cpp", "lmstudio"] as const) {
			expect(only(shape({ tools, tool_choice: named }, dialect))).toEqual({
				tools: [{ type: "function", function: { name: "b", strict: true } }],
				tool_choice: "required",
			});
		}
		expect(only(shape({ tools, tool_choice: named }, "ollama"))).toEqual({
			tools: [{ type: "function", function: { name: "b", strict: true } }],
		});
	});

	test("are left out for a choice of none where a server knows no choice", () => {
		expect(only(shape({ tools, tool_choice: "none" }, "ollama"))).toEqual({});
		expect(only(shape({ tools, tool_choice: "none" }, "openai")).tool_choice).toBe("none");
	});
});

describe("response_format", () => {
	test("wraps a bare schema, also one with properties called name", () => {
		const schema = { type: "object", properties: { name: { type: "string" } } };
		const wrapped = { type: "json_schema", json_schema: { name: "response", schema } };
		expect(only(shape({ response_format: { type: "json_schema", json_schema: schema } }))).toEqual({ response_format: wrapped });
	});

	test("leaves a wrapped schema, and names one without a name", () => {
		const format = { type: "json_schema", json_schema: { name: "n", strict: true, schema: { type: "object" } } };
		expect(only(shape({ response_format: format }))).toEqual({ response_format: format });
		const nameless = { type: "json_schema", json_schema: { schema: { type: "object" } } };
		expect(only(shape({ response_format: nameless })).response_format).toEqual({
			type: "json_schema",
			json_schema: { schema: { type: "object" }, name: "response" },
		});
	});

	test("json_object becomes a schema of any object for a server that refuses it", () => {
		expect(only(shape({ response_format: { type: "json_object" } }, "openai")).response_format).toEqual({ type: "json_object" });
		expect(only(shape({ response_format: { type: "json_object" } }, "lmstudio")).response_format).toEqual({
			type: "json_schema",
			json_schema: { name: "response", schema: { type: "object" } },
		});
	});
});

describe("thinking", () => {
	const listed = textModel([{}], { reasoningEffortOptions: ["none", "low"] });

	test("takes reasoning_effort before reasoning.effort, and either alone", () => {
		expect(only(shape({ reasoning: { effort: "low" } }))).toEqual({ reasoning_effort: "low" });
		expect(only(shape({ reasoning: { effort: "low" }, reasoning_effort: "high" }))).toEqual({ reasoning_effort: "high" });
		expect(only(shape({ reasoning_effort: "minimal" }, "openrouter"))).toEqual({ reasoning: { effort: "minimal" } });
		expect(only(shape({ reasoning: { enabled: true, other: 1 } }, "openrouter"))).toEqual({ reasoning: { enabled: true } });
		expect(only(shape({ reasoning: { summary: "auto" } }))).toEqual({});
	});

	test("uses efforts that Ollama takes", () => {
		expect(only(shape({ reasoning_effort: "minimal" }, "ollama"))).toEqual({ reasoning_effort: "low" });
		expect(only(shape({ reasoning_effort: "max" }, "ollama"))).toEqual({ reasoning_effort: "high" });
	});

	const off: [string, object][] = [
		["reasoning.enabled false", { reasoning: { enabled: false }, reasoning_effort: "high" }],
		["disable_thinking", { service_parameters: { disable_thinking: true }, reasoning_effort: "high" }],
	];
	for (const [name, body] of off) {
		test(`is turned off by ${name}, before any effort, as each server wants it`, () => {
			const kwargs = { chat_template_kwargs: { enable_thinking: false, thinking: false } };
			expect(only(shape(body, "vllm"))).toEqual(kwargs);
			expect(only(shape(body, "llama.cpp"))).toEqual(kwargs);
			expect(only(shape(body, "ollama"))).toEqual({ reasoning_effort: "none" });
			expect(only(shape(body, "lmstudio"))).toEqual({ reasoning_effort: "none" });
			expect(only(shape(body, "openrouter"))).toEqual({ reasoning: { enabled: false } });
			expect(only(shape(body, "openai"))).toEqual({});
			expect(only(shape(body, "openai", { model: listed }))).toEqual({ reasoning_effort: "none" });
			expect(only(shape(body, "generic", { model: listed }))).toEqual({ reasoning_effort: "none" });
		});
	}

	test("keeps the caller's own template variables", () => {
		const body = { reasoning: { enabled: false }, chat_template_kwargs: { tone: "dry", enable_thinking: true } };
		expect(only(shape(body, "vllm"))).toEqual({ chat_template_kwargs: { tone: "dry", enable_thinking: false, thinking: false } });
	});
});

describe("dynamic temperature", () => {
	test("is a centre and a half width for llama.cpp; one bound takes the temperature as the other", () => {
		expect(only(shape({ min_temp: 0.2, max_temp: 0.8 }, "llama.cpp"))).toEqual({ temperature: 0.5, dynatemp_range: 0.3 });
		expect(only(shape({ max_temp: 1.1, temperature: 0.7 }, "llama.cpp"))).toEqual({ temperature: 0.9, dynatemp_range: 0.2 });
		expect(only(shape({ max_temp: 1.1 }, "llama.cpp"))).toEqual({});
		expect(only(shape({ min_temp: 0.2, max_temp: 0.8, temperature: 0.4 }, "vllm"))).toEqual({ temperature: 0.4 });
	});
});

describe("verbosity and cache retention", () => {
	test("take the object form where the plain one is absent, and drop auto and default", () => {
		expect(only(shape({ text: { verbosity: "high" } }, "openai"))).toEqual({ verbosity: "high" });
		expect(only(shape({ verbosity: "auto" }, "openai"))).toEqual({});
		expect(only(shape({ prompt_cache_retention: "default" }, "openai"))).toEqual({});
		expect(only(shape({ prompt_cache_retention: "24h" }, "openai"))).toEqual({ prompt_cache_retention: "24h" });
	});
});

describe("what assistants said before", () => {
	const said = {
		role: "assistant",
		content: "a",
		reasoning_content: "r",
		reasoning_details: [{ type: "t" }],
		thought_signature: "s",
	};
	const messages = (dialect: DialectName) =>
		shape(
			{ messages: [said, { role: "user", content: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }] }] },
			dialect,
		).messages as Record<string, unknown>[];

	test("goes without keys that OpenAI refuses, cache_control among them", () => {
		expect(messages("openai")).toEqual([
			{ role: "assistant", content: "a" },
			{ role: "user", content: [{ type: "text", text: "x" }] },
		]);
	});

	test("goes with reasoning under the name that a server reads", () => {
		for (const dialect of ["ollama", "openrouter"] as const) {
			expect(messages(dialect)[0]).toEqual({
				role: "assistant",
				content: "a",
				reasoning: "r",
				reasoning_details: [{ type: "t" }],
				thought_signature: "s",
			});
		}
		expect(messages("vllm")[0]).toEqual(said);
	});
});
