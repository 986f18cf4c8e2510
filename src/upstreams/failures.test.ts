import { describe, expect, test } from "bun:test";
import { ApiError } from "../errors/index.ts";
import {
	brokenAnswer,
	type FailureKind,
	failureOfAnswer,
	failureOfConnection,
	failureOfOwnError,
	isErrorBody,
	mostInformative,
	ownErrorOf,
	retryAfterSeconds,
	upstreamAtCapacity,
	upstreamOffline,
	upstreamTimedOut,
} from "./failures.ts";

const told = (status: number, error: unknown, retryAfter: string | null = null) => {
	const failure = failureOfAnswer(status, typeof error === "string" ? { error } : { error }, retryAfter);
	return [failure.kind, failure.answer.code] as const;
};

describe("an upstream's answer", () => {
	const cases: [string, number, unknown, FailureKind, string][] = [
		["400", 400, { message: "temperature: must be <= 2", param: "temperature" }, "request", "INVALID_REQUEST"],
		["413", 413, { message: "too big" }, "request", "INVALID_REQUEST"],
		["422", 422, "unprocessable", "request", "INVALID_REQUEST"],
		["401", 401, { message: "Incorrect API key provided" }, "account", "MODEL_OFFLINE"],
		["402", 402, { message: "Insufficient credits" }, "account", "MODEL_OFFLINE"],
		["403", 403, { message: "forbidden" }, "account", "MODEL_OFFLINE"],
		["404", 404, { message: "model not found" }, "offline", "MODEL_OFFLINE"],
		["408", 408, {}, "timeout", "REQUEST_TIMEOUT"],
		["429", 429, { message: "Rate limit reached", code: "rate_limit_exceeded" }, "busy", "MODEL_OVERLOADED"],
		["429 too many tokens a minute", 429, { message: "Too many tokens, please wait" }, "busy", "MODEL_OVERLOADED"],
		["500", 500, { message: "oops" }, "broken", "INFERENCE_FAILED"],
		["502", 502, {}, "broken", "INFERENCE_FAILED"],
		["503", 503, {}, "broken", "INFERENCE_FAILED"],
		["529", 529, { type: "overloaded_error" }, "busy", "MODEL_OVERLOADED"],
		["301", 301, {}, "broken", "INFERENCE_FAILED"],
		["308", 308, {}, "broken", "INFERENCE_FAILED"],
		["418", 418, {}, "broken", "INFERENCE_FAILED"],
		[
			"429 quota",
			429,
			{ message: "You exceeded your current quota, please check your plan and billing details.", code: "insufficient_quota" },
			"account",
			"MODEL_OFFLINE",
		],
		[
			"429 of Gemini's quota of a minute",
			429,
			{ message: "You exceeded your current quota, please retry.", code: 429, details: [{ retryDelay: "25.8s" }] },
			"busy",
			"MODEL_OVERLOADED",
		],
		["429 quota by its type", 429, { message: "x", type: "insufficient_quota" }, "account", "MODEL_OFFLINE"],
		["400 credit", 400, { message: "Your credit balance is too low to access the API" }, "account", "MODEL_OFFLINE"],
		["400 key", 400, { message: "API key not valid. Please pass a valid API key." }, "account", "MODEL_OFFLINE"],
		[
			"400 that only mentions billing",
			400,
			{ message: "tools[0].function.name: 'billing_lookup' is taken" },
			"request",
			"INVALID_REQUEST",
		],
		["400 by a content filter", 400, { message: "flagged", code: "content_filter" }, "request", "CONTENT_POLICY_VIOLATION"],
		[
			"403 by moderation",
			403,
			{ message: "your input was flagged", code: 403, metadata: { reasons: ["violence"] } },
			"request",
			"CONTENT_POLICY_VIOLATION",
		],
		["400 model missing", 400, { message: "no such model", code: "model_not_found" }, "offline", "MODEL_OFFLINE"],
		["200 with an error", 200, { message: "boom" }, "broken", "INFERENCE_FAILED"],
		["200 with an error and its status", 200, { message: "slow down", code: 429 }, "busy", "MODEL_OVERLOADED"],
		["200 with a refused request", 200, { message: "bad schema", code: 400 }, "request", "INVALID_REQUEST"],
		["200 with an account error", 200, { message: "x", code: 402 }, "account", "MODEL_OFFLINE"],
	];
	for (const [name, status, error, kind, code] of cases) {
		test(`${name} is ${kind}, ${code}`, () => {
			expect(told(status, error)).toEqual([kind, code as never]);
		});
	}

	const inside: [object, FailureKind, string][] = [
		[{ error: "out of memory" }, "broken", "INFERENCE_FAILED"],
		[{ error: {} }, "broken", "INFERENCE_FAILED"],
		[{ error: "temperature must be between 0 and 2" }, "unable", "INVALID_REQUEST"],
		[{ error: "CUDA error: index must be in range" }, "broken", "INFERENCE_FAILED"],
		[{ error: "400 Bad Request: bad schema" }, "request", "INVALID_REQUEST"],
		[{ error: "Error code: 429 - slow down" }, "busy", "MODEL_OVERLOADED"],
		[{ error: "500 tokens were made, then it broke" }, "broken", "INFERENCE_FAILED"],
		[{ error: "Rate limit reached for requests" }, "busy", "MODEL_OVERLOADED"],
		[{ error: "Insufficient balance" }, "account", "MODEL_OFFLINE"],
		[{ error: { message: "x", code: "invalid_value", param: "temperature" } }, "request", "INVALID_REQUEST"],
		[{ error: { message: "x", type: "BadRequestError" } }, "request", "INVALID_REQUEST"],
		[{ error: { message: "x", param: "top_k" } }, "request", "INVALID_REQUEST"],
		[{ error: { message: "x", type: "rate_limit_error" } }, "busy", "MODEL_OVERLOADED"],
		[{ error: { message: "x", type: "overloaded_error" } }, "busy", "MODEL_OVERLOADED"],
		[{ error: { message: "x", code: "InvalidApiKey" } }, "account", "MODEL_OFFLINE"],
		[{ success: false, message: "messages is required" }, "unable", "INVALID_REQUEST"],
		[{ success: false, errors: [{ code: 7000, message: "No route for that URI" }] }, "broken", "INFERENCE_FAILED"],
		[{ success: false, errors: [{ code: 10_000, message: "Authentication error" }] }, "account", "MODEL_OFFLINE"],
		[{ success: false, result: null }, "broken", "INFERENCE_FAILED"],
		[{ code: 1214, msg: "top_p is invalid" }, "unable", "INVALID_REQUEST"],
		[{ error_code: 336_003, error_msg: "messages must not be empty" }, "unable", "INVALID_REQUEST"],
		[{ base_resp: { status_code: 1004, status_msg: "login fail" } }, "account", "MODEL_OFFLINE"],
		[{ choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } }, "account", "MODEL_OFFLINE"],
		[{ base_resp: { status_code: 1002, status_msg: "rate limit" } }, "busy", "MODEL_OVERLOADED"],
		[{ base_resp: { status_code: 2013, status_msg: "invalid params" } }, "request", "INVALID_REQUEST"],
		[{ base_resp: { status_code: 1026, status_msg: "input sensitive" } }, "request", "CONTENT_POLICY_VIOLATION"],
		[{ base_resp: { status_code: 1000, status_msg: "unknown error" } }, "broken", "INFERENCE_FAILED"],
	];
	test.each(inside)("of status 200 that says %j is an error: %s, %s", (body, kind, code) => {
		expect(isErrorBody(body as Record<string, unknown>)).toBe(true);
		const failure = failureOfAnswer(200, body, null);
		expect([failure.kind, failure.answer.code]).toEqual([kind, code as never]);
	});

	/** As llama-cpp-python 0.3.36 answers to a body that its schema refuses. */
	test.each([
		[
			"1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}\n\n  File \"/srv/llama_cpp/server/app.py\", line 376, in create_chat_completion\n    POST /v1/chat/completions",
			"response_format.type: Input should be 'text' or 'json_object'",
		],
		[
			"2 validation errors:\n  {'type': 'literal_error', 'loc': ('body', 'messages', 0, 'role'), 'msg': \"Input should be 'user'\", 'input': 'alien'}\n  {'type': 'missing', 'loc': ('body', 'messages', 0, 'name'), 'msg': 'Field required', 'input': {}}\n",
			"messages.0.role: Input should be 'user'; messages.0.name: Field required",
		],
	])("of 500 with faults of validation is the caller's, told field by field", (message, text) => {
		const failure = failureOfAnswer(500, { error: { message, type: "internal_server_error", param: null, code: null } }, null);
		expect([failure.kind, failure.answer.code, failure.answer.message]).toEqual(["unable", "INVALID_REQUEST", text]);
		expect(failure.isFault).toBe(false);
	});

	const overflows: [string, number, unknown][] = [
		[
			"OpenAI",
			400,
			{ message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded", param: "messages" },
		],
		[
			"vLLM",
			400,
			{
				message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
				type: "BadRequestError",
			},
		],
		["vLLM, newer", 400, { message: "The decoder prompt (length 5000) is longer than the maximum model length of 4096." }],
		[
			"llama.cpp",
			400,
			{
				message: "the request exceeds the available context size, try increasing it",
				type: "exceed_context_size_error",
				code: 400,
			},
		],
		[
			"llama.cpp, older",
			500,
			{ message: "the request exceeds the available context size. try increasing the context size", code: 500 },
		],
		[
			"LM Studio",
			400,
			"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
		],
		["LM Studio, newer", 400, "The number of tokens to keep from the initial prompt is greater than the context length"],
		[
			"llama.cpp's embeddings",
			500,
			{ message: "input (4001 tokens) is too large to process. increase the physical batch size (current batch size: 512)" },
		],
		["Ollama", 400, { message: "input length exceeds the context length" }],
		["Anthropic", 400, { message: "prompt is too long: 210000 tokens > 200000 maximum" }],
		["OpenRouter", 400, { message: "This endpoint's maximum context length is 16385 tokens", code: 400 }],
	];
	for (const [name, status, error] of overflows) {
		test(`that says the context is too small (${name}) is TOO_MANY_TOKENS with OpenAI's code`, () => {
			const failure = failureOfAnswer(status, { error }, null);
			expect(failure.kind).toBe("request");
			expect(failure.answer.code).toBe("TOO_MANY_TOKENS");
			expect(failure.answer.options).toMatchObject({ openAiCode: "context_length_exceeded", param: "messages" });
		});
	}

	test("of 400 keeps its message and field, in every shape that servers use", () => {
		for (const body of [
			{ error: { message: "bad top_k", param: "top_k" } },
			{ object: "error", message: "bad top_k", param: "top_k", code: 40 },
			{ message: "bad top_k" },
			{ detail: "bad top_k" },
			{ error: "bad top_k" },
			{ detail: [{ msg: "bad top_k" }] },
		]) {
			expect(failureOfAnswer(400, body, null).answer.message).toBe("bad top_k");
		}
		expect(failureOfAnswer(400, { error: { message: "m", param: "top_k" } }, null).answer.options.param).toBe("top_k");
		expect(failureOfAnswer(400, { error: { message: "x ".repeat(9_000) } }, null).answer.message).toHaveLength(2_000);
		const fastApi = { detail: [{ loc: ["body", "top_k"], msg: "too big" }, { loc: ["body", "n"], msg: "too small" }, null, "x"] };
		expect(failureOfAnswer(422, fastApi, null).answer.message).toBe("top_k: too big; n: too small");
		expect(failureOfAnswer(400, {}, null).answer.message).not.toBe("");
		expect(failureOfAnswer(400, null, null).answer.code).toBe("INVALID_REQUEST");
	});

	test("of ElevenLabs has its words and its code inside of detail", () => {
		const of = (status: number, detail: object) => failureOfAnswer(status, { detail }, null);
		const refused = of(400, { status: "invalid_voice_settings", message: "speed is too high" });
		expect([refused.kind, refused.answer.message, refused.message]).toEqual([
			"request",
			"speed is too high",
			"status 400, invalid_voice_settings",
		]);
		const full = of(400, { status: "voice_limit_reached", message: "You have 10 of 10 voices" });
		expect([full.kind, full.answer.code, full.isFault]).toEqual(["account", "MODEL_OFFLINE", false]);
		expect(full.answer.message).not.toContain("10");
		expect(of(429, { status: "quota_exceeded", message: "x" }).kind).toBe("account");
	});

	test("about our account never shows its words to the caller", () => {
		for (const status of [400, 401, 402, 403, 429]) {
			const { answer } = failureOfAnswer(
				status,
				{ error: { message: "sk-secret: quota exceeded", code: "insufficient_quota" } },
				null,
			);
			expect(answer.message).not.toMatch(/secret|quota|key|credit|billing/i);
		}
	});

	test("leaves no text of a refused request in the log", () => {
		expect(failureOfAnswer(400, { error: { message: "messages[0]: my private words" } }, null).message).not.toContain("private");
		expect(failureOfAnswer(500, { error: { message: "failed on: my private words" } }, null).message).not.toContain("private");
	});
});

test("an error body is one with an error, or of the object error", () => {
	expect(isErrorBody({ error: { message: "x" } })).toBe(true);
	expect(isErrorBody({ object: "error", message: "x" })).toBe(true);
	expect(isErrorBody({ error: null, choices: [] })).toBe(false);
	expect(isErrorBody({ object: "chat.completion.chunk" })).toBe(false);
	expect(isErrorBody({ base_resp: { status_code: 0, status_msg: "success" }, choices: [{}] })).toBe(false);
	expect(isErrorBody({ success: true, choices: [{}] })).toBe(false);
});

test("Retry-After is read as seconds or a date, and bounded", () => {
	expect(retryAfterSeconds("7")).toBe(7);
	expect(retryAfterSeconds("0")).toBe(1);
	expect(retryAfterSeconds("0.2")).toBe(1);
	expect(retryAfterSeconds("99999")).toBe(300);
	expect(retryAfterSeconds("-5")).toBe(1);
	expect(retryAfterSeconds("soon")).toBe(5);
	expect(retryAfterSeconds(null)).toBe(5);
	const now = Date.parse("2026-01-01T00:00:00Z");
	expect(retryAfterSeconds("Thu, 01 Jan 2026 00:00:30 GMT", now)).toBe(30);
	expect(retryAfterSeconds("Thu, 01 Jan 2020 00:00:30 GMT", now)).toBe(1);
	expect(failureOfAnswer(429, {}, "9").answer.options.retryAfterSeconds).toBe(9);
});

describe("a connection", () => {
	test("that is not there is offline; one that breaks is broken", () => {
		for (const code of ["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ETIMEDOUT", "CERT_HAS_EXPIRED", "FailedToOpenSocket"])
			expect(failureOfConnection(Object.assign(new Error("x"), { code })).kind, code).toBe("offline");
		for (const code of ["ECONNRESET", "ConnectionClosed", "EPIPE", "InvalidHTTPResponse", "ZlibError"])
			expect(failureOfConnection(Object.assign(new Error("x"), { code })).kind, code).toBe("broken");
	});
});

describe("of several failures", () => {
	const busy = failureOfAnswer(429, {}, "3");
	const account = failureOfAnswer(401, {}, null);
	const quota = failureOfAnswer(429, { error: { code: "insufficient_quota" } }, null);
	test("the one decides that tells the caller most", () => {
		expect(mostInformative([busy, brokenAnswer("x"), account]).kind).toBe("busy");
		expect(mostInformative([account, upstreamOffline("x")]).kind).toBe("offline");
		expect(mostInformative([upstreamOffline("x"), brokenAnswer("x"), upstreamTimedOut("x")]).kind).toBe("timeout");
		expect(mostInformative([brokenAnswer("x"), upstreamAtCapacity("x")]).answer.code).toBe("MODEL_AT_CAPACITY");
		expect(
			mostInformative([failureOfOwnError(new ApiError("MODEL_OFFLINE", { message: "loading 40 %" })), upstreamOffline("x")])
				.answer.message,
		).toBe("loading 40 %");
		expect(mostInformative([]).answer.code).toBe("MODEL_OFFLINE");
	});

	test("faults are those that tell of bad health", () => {
		expect(
			[brokenAnswer("x"), upstreamTimedOut("x"), upstreamOffline("refused"), account, quota].map((failure) => failure.isFault),
		).toEqual([true, true, true, true, true]);
		const healthy = [
			busy,
			upstreamAtCapacity("x"),
			upstreamOffline("no model", 404),
			failureOfAnswer(400, {}, null),
			failureOfAnswer(403, {}, null),
		];
		expect(healthy.some((failure) => failure.isFault)).toBe(false);
	});
});

test("the embedded engine's own codes pass as they are, others do not", () => {
	const body = { error: { message: "queue is full", code: "MODEL_OVERLOADED" }, code: "MODEL_OVERLOADED" };
	expect(ownErrorOf(429, body, "2")).toMatchObject({ code: "MODEL_OVERLOADED", message: "queue is full" });
	const overflow = {
		error: { message: "too long", code: "context_length_exceeded", param: "messages" },
		code: "TOO_MANY_TOKENS",
	};
	expect(ownErrorOf(400, overflow, null)).toMatchObject({
		code: "TOO_MANY_TOKENS",
		options: { openAiCode: "context_length_exceeded" },
	});
	expect(ownErrorOf(500, body, null)).toBeUndefined();
	expect(ownErrorOf(400, { error: { code: "toString" } }, null)).toBeUndefined();
	expect(ownErrorOf(500, null, null)).toBeUndefined();
});
