import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { startScriptedEmbeddings } from "../../../test/support/scripted-embeddings.ts";
import { until } from "../../../test/support/until.ts";
import { ApiError } from "../../errors/index.ts";

let gate: RunningGateway;
const upstream = startScriptedEmbeddings();
/** The built-in model, as a script: its real one is tested beside its code. */
const engine = {
	prefetch() {},
	async embed(texts: readonly string[]) {
		if (texts.includes("busy")) throw new ApiError("MODEL_OVERLOADED");
		if (texts.includes("broken")) throw new ApiError("INFERENCE_FAILED");
		if (texts.includes("endless")) throw new ApiError("TOO_MANY_TOKENS", { param: "input" });
		return { vectors: texts.map((text) => Float32Array.of(text.length, 0.5, -1)), tokens: texts.length * 3 };
	},
};

beforeAll(async () => {
	const theirs = (order: number) => ({ upstream: "vectors", weight: 1, order, model: "theirs" });
	const own = { upstream: "embedded", weight: 1, order: 0 };
	const target = { upstreams: [theirs(0)] };
	gate = await startGateway({
		embeddings: engine,
		countTokens: (text) => Promise.resolve(text.split(" ").length),
		config: {
			limits: { failedRequests: 0, embeddingRequestsPerMinute: 1_000 },
			timeouts: { embeddingsMs: 2_000 },
			upstreams: {
				vectors: upstreamEntry(upstream.url, { key: "up-key", health: { failures: 1_000, probeEveryMs: 60_000 } }),
			},
			models: {
				entries: {
					priced: {
						type: "embedding",
						...target,
						embedding: { dimensions: 4, maxInputTokens: 100, customDimensions: true, perMillionTokens: 2 },
					},
					fixed: { type: "embedding", ...target, embedding: { dimensions: 4 } },
					off: { type: "embedding", offline: true },
					"theirs-first": { type: "embedding", upstreams: [theirs(0), { ...own, order: 1 }], embedding: { dimensions: 4 } },
					"own-first": { type: "embedding", upstreams: [own, theirs(1)], embedding: { dimensions: 4 } },
				},
			},
		},
	});
});
afterEach(() => upstream.reset());
afterAll(async () => {
	await gate.stop();
	upstream.stop();
});

const ask = (body: object | string, headers: Record<string, string> = {}) => gate.call("POST", "/embeddings", body, headers);
interface Answer {
	readonly object: string;
	readonly model: string;
	readonly data: readonly { readonly object: string; readonly index: number; readonly embedding: number[] | string }[];
	readonly usage: object;
	readonly error: { readonly code: string; readonly message: string; readonly param: string | null };
}
const read = (response: Response) => response.json() as Promise<Answer>;
const lastPost = async () => (await gate.posts()).at(-1);
const base64 = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString("base64");

describe("a text of more tokens than the model takes", () => {
	const words = (count: number) => Array.from({ length: count }, () => "word").join(" ");

	test("is refused before any upstream is asked, and named", async () => {
		const before = upstream.received();
		for (const [input, where] of [
			[words(101), "The input has 101 tokens"],
			[["short", words(100), words(150)], "input[2] has 150 tokens"],
			[["short", "x".repeat(100_000)], "input[1] has at least 6250 tokens"],
		] as const) {
			const response = await ask({ model: "priced", input });
			const { error } = await read(response);
			expect([response.status, error.code, error.param]).toEqual([400, "TOO_MANY_TOKENS", "input"]);
			expect(error.message).toContain(where);
		}
		expect(upstream.received()).toBe(before);
		expect(gate.gateway.budgets.holdsOpen).toBe(0);
	});

	test("is one that has more than the limit: as many are embedded, and where none is declared the upstream decides", async () => {
		expect((await ask({ model: "priced", input: [words(100), "short"] })).status).toBe(200);
		expect((await ask({ model: "fixed", input: words(5_000) })).status).toBe(200);
	});
});

describe("POST /embeddings answers 200", () => {
	test("with the vectors of an upstream, priced by the tokens that it counted", async () => {
		const response = await ask({ model: "priced", input: ["one two", "three"] });
		expect(response.status).toBe(200);
		expect(await read(response)).toEqual({
			object: "list",
			model: "priced",
			data: [
				{ object: "embedding", index: 0, embedding: [7, 0.25, -0.5, 0.125] },
				{ object: "embedding", index: 1, embedding: [5, 0.25, -0.5, 0.125] },
			],
			usage: { prompt_tokens: 3, total_tokens: 3 },
		} as never);
		expect(upstream.received()).toEqual({
			path: "/v1/embeddings",
			key: "Bearer up-key",
			body: { model: "theirs", input: ["one two", "three"], encoding_format: "float" },
		});
		expect(response.headers.get("x-service-model-id")).toBe("priced");
		expect(response.headers.get("x-service-model-router")).toBe("vectors");
		// 3 tokens at 2 USD a million.
		expect(await lastPost()).toMatchObject({
			status: 200,
			price: 6_000,
			prompt_tokens: 3,
			completion_tokens: 0,
			upstream: "vectors",
		});
	});

	test("in the form that was asked for, whatever the upstream sends, and in the order of index", async () => {
		for (const sends of ["float", "base64"] as const) {
			upstream.always({ sends, reversed: true });
			const float = await read(await ask({ model: "priced", input: ["a", "bb"] }));
			expect(float.data.map(({ embedding }) => embedding)).toEqual([
				[1, 0.25, -0.5, 0.125],
				[2, 0.25, -0.5, 0.125],
			]);
			const packed = await read(await ask({ model: "priced", input: ["a", "bb"], encoding_format: "base64" }));
			expect(packed.data.map(({ embedding }) => embedding)).toEqual([base64(1, 0.25, -0.5, 0.125), base64(2, 0.25, -0.5, 0.125)]);
		}
	});

	test("with tokens counted here where the upstream counts none, or more than the text has bytes", async () => {
		for (const usage of [null, { prompt_tokens: 1_000_000 }, { prompt_tokens: -1 }, "many"]) {
			upstream.always({ usage });
			expect(await read(await ask({ model: "priced", input: "one two three" }))).toMatchObject({
				usage: { prompt_tokens: 3, total_tokens: 3 },
			});
			expect(await lastPost()).toMatchObject({ price: 6_000, tokens_counted: 1 });
		}
	});

	test("with all tokens that the upstream tells, on whatever side of a completion it writes them", async () => {
		for (const usage of [{ completion_tokens: 7 }, { prompt_tokens: 1, total_tokens: 7 }, { total_tokens: 7 }]) {
			upstream.always({ usage });
			expect(await read(await ask({ model: "priced", input: "one two three" }))).toMatchObject({
				usage: { prompt_tokens: 7, total_tokens: 7 },
			});
			expect(await lastPost()).toMatchObject({ price: 14_000, tokens_counted: 0 });
		}
	});

	test("with fewer dimensions of a model that has them, and its own number of one that has not", async () => {
		expect((await ask({ model: "priced", input: "x", dimensions: 2 })).status).toBe(200);
		expect(upstream.received()?.body).toMatchObject({ dimensions: 2 });
		expect((await ask({ model: "fixed", input: "x", dimensions: 4 })).status).toBe(200);
	});

	test("by the next of a model's servers where one is busy, be it an upstream or the built-in model", async () => {
		upstream.always({ status: 429, raw: "{}" });
		const stoodIn = await ask({ model: "theirs-first", input: "hello" });
		expect([stoodIn.status, stoodIn.headers.get("x-service-model-router")]).toEqual([200, "embedded"]);
		upstream.reset();
		const forwarded = await ask({ model: "own-first", input: "busy" });
		expect([forwarded.status, forwarded.headers.get("x-service-model-router")]).toEqual([200, "vectors"]);
		expect((await ask({ model: "own-first", input: "endless" })).status).toBe(400);
	});

	test("of a body of 8 MB, whole", async () => {
		const input = `${"lorem ipsum ".repeat(700_000)}end`;
		expect((await ask({ model: "fixed", input })).status).toBe(200);
		expect(upstream.received()?.body.input).toBe(input);
	});

	test("by the built-in model, in both forms, free of charge", async () => {
		const float = await ask({ model: "text-embedding-3-small", input: ["abc"] });
		expect(await read(float)).toMatchObject({
			model: "all-minilm-l6-v2",
			data: [{ object: "embedding", index: 0, embedding: [3, 0.5, -1] }],
			usage: { prompt_tokens: 3, total_tokens: 3 },
		});
		const packed = await read(await ask({ model: "all-minilm-l6-v2", input: "ab", encoding_format: "base64" }));
		expect(packed.data[0]?.embedding).toBe(base64(2, 0.5, -1));
		expect(await lastPost()).toMatchObject({ price: 0, upstream: "embedded", prompt_tokens: 3 });
	});

	test("to the openai package, with its packed default and without", async () => {
		const client = new OpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key, maxRetries: 0 });
		const packed = await client.embeddings.create({ model: "priced", input: ["a", "bb"] });
		expect(packed.data.map(({ embedding }) => embedding)).toEqual([
			[1, 0.25, -0.5, 0.125],
			[2, 0.25, -0.5, 0.125],
		]);
		const float = await client.embeddings.create({ model: "priced", input: "a", encoding_format: "float" });
		expect(float.data[0]?.embedding).toEqual([1, 0.25, -0.5, 0.125]);
		expect(float.usage).toEqual({ prompt_tokens: 1, total_tokens: 1 });
	});
});

describe("POST /embeddings answers 400", () => {
	test("for inputs that are none, naming the field", async () => {
		const bad = [{}, { input: "" }, { input: [] }, { input: [""] }, { input: [1, 2, 3] }, { input: [[1, 2]] }, { input: null }];
		for (const part of bad) {
			const response = await ask({ model: "priced", ...part });
			expect(response.status, JSON.stringify(part)).toBe(400);
			expect((await read(response)).error).toMatchObject({ code: "INVALID_REQUEST", param: expect.stringContaining("input") });
		}
		expect((await ask({ model: "priced", input: Array(2_049).fill("x") })).status).toBe(400);
		expect((await ask({ model: "priced", input: Array(2_048).fill("x") })).status).toBe(200);
	});

	test("for unknown fields, a wrong format and dimensions that the model does not give", async () => {
		const bad = [{ temperature: 1 }, { encoding_format: "hex" }, { dimensions: 0 }, { dimensions: 5 }, { dimensions: 1.5 }];
		for (const part of bad) expect((await ask({ model: "priced", input: "x", ...part })).status, JSON.stringify(part)).toBe(400);
		expect((await ask({ model: "fixed", input: "x", dimensions: 3 })).status).toBe(400);
		expect((await ask({ model: "smollm2-135m-instruct", input: "x" })).status).toBe(400);
	});

	test("TOO_MANY_TOKENS where the built-in model cannot read a text whole, without a charge", async () => {
		const posts = (await gate.posts()).length;
		const response = await ask({ model: "all-minilm-l6-v2", input: "endless" });
		expect(response.status).toBe(400);
		expect((await read(response)).error).toMatchObject({ code: "TOO_MANY_TOKENS" });
		expect(await gate.posts()).toHaveLength(posts);
	});
});

describe("POST /embeddings answers", () => {
	test("401 without a key, 404 for an unknown model, 413 for more than 16 MiB, 503 for a model that is off", async () => {
		expect((await ask({ model: "priced", input: "x" }, { authorization: "" })).status).toBe(401);
		expect((await ask({ model: "no such model", input: "x" })).status).toBe(404);
		expect((await ask({ model: "priced", input: "x".repeat(16_777_216) })).status).toBe(413);
		expect((await ask({ model: "off", input: "x" })).status).toBe(503);
	});

	test("402 where the account has less than the worst case, before anything is sent", async () => {
		const poor = await startGateway({
			creditUsd: "0.00001",
			config: {
				upstreams: { vectors: upstreamEntry(upstream.url) },
				models: {
					entries: {
						priced: {
							type: "embedding",
							upstreams: [{ upstream: "vectors", weight: 1, order: 0 }],
							embedding: { perMillionTokens: 2 },
						},
					},
				},
			},
		});
		try {
			expect((await poor.call("POST", "/embeddings", { model: "priced", input: "a longer text" })).status).toBe(402);
			expect(upstream.received()).toBeNull();
		} finally {
			await poor.stop();
		}
	});

	test("500 for answers of an upstream that are no embeddings, without a charge", async () => {
		const posts = (await gate.posts()).length;
		for (const raw of [
			"",
			"not json",
			"[]",
			"{}",
			'{"data":[]}',
			'{"data":[{"embedding":[1]},{"embedding":[2]}]}',
			'{"data":[{"embedding":[1,"x"]}]}',
			'{"data":[{"embedding":[]}]}',
			'{"data":[{"embedding":"AAA"}]}',
			'{"data":[{"embedding":null}]}',
			'{"data":[{"index":3,"embedding":[1]}]}',
			'{"data":[{"index":-1,"embedding":[1]}]}',
			'{"data":[{"embedding":[1',
			'{"data":[{"index":4294967294,"embedding":[1]}]}',
			'{"data":[{"embedding":[1,,2]}]}',
			'{"data":[{"embedding":[1 2]}]}',
			'{"data":[{"embedding":[1,2,]}]}',
			'{"data":[{"embedding":[1.2.3]}]}',
			'{"data":[{"embedding":[01]}]}',
			'{"data":[{"embedding":[1-2]}]}',
			// Of four numbers, as the model has them, but for one thing.
			'{"data":[{"embedding":[1,2,3]}]}',
			'{"data":[{"embedding":[1,2,3,4,5]}]}',
			'{"data":[{"embedding":[1,2,3,1e400]}]}',
			'{"data":[{"embedding":[1,2,3,-1e39]}]}',
			`{"data":[{"embedding":[1,2,3,1${"0".repeat(40)}]}]}`,
			'{"data":[{"embedding":[1,2,,4]}]}',
			'{"data":[{"embedding":[1,2,3,04]}]}',
			`{"data":[{"embedding":"${base64(1, 2, 3)}"}]}`,
			`{"data":[{"embedding":"${base64(1, 2, 3, Number.NaN)}"}]}`,
			`{"data":[{"embedding":"${base64(1, 2, 3, Number.POSITIVE_INFINITY)}"}]}`,
		]) {
			upstream.always({ raw });
			const response = await ask({ model: "priced", input: "x" });
			expect(response.status, raw).toBe(500);
			expect((await read(response)).error.code).toBe("INFERENCE_FAILED");
		}
		expect(await gate.posts()).toHaveLength(posts);
	});

	test("what an upstream says of the request, and 503 or 504 where it is full or silent", async () => {
		upstream.always({ status: 400, raw: '{"error":{"message":"input is too long","type":"invalid_request_error"}}' });
		expect((await ask({ model: "priced", input: "x" })).status).toBe(400);
		upstream.always({ status: 429, raw: "{}" });
		expect([429, 503]).toContain((await ask({ model: "priced", input: "x" })).status);
		upstream.always({ hang: true });
		expect((await ask({ model: "priced", input: "x" })).status).toBe(504);
	});
});

test("a caller that leaves after the texts were sent stops the upstream, and pays for them", async () => {
	upstream.always({ hang: true });
	const leaving = new AbortController();
	const asked = fetch(`${gate.url}/api/v1/embeddings`, {
		method: "POST",
		headers: { authorization: `Bearer ${gate.key}`, "content-type": "application/json" },
		body: JSON.stringify({ model: "priced", input: "one two three four" }),
		signal: leaving.signal,
	}).catch(() => null);
	await until(() => upstream.received() !== null);
	leaving.abort();
	await asked;
	await until(async () => (await lastPost())?.status === 499);
	expect(await lastPost()).toMatchObject({ status: 499, price: 8_000, prompt_tokens: 4, tokens_counted: 1 });
});

/** As llama.cpp answers, in xllamacpp 2026.10.11549. */
test("a text that is too long for the server's batch is the caller's, and names the field", async () => {
	const message = "input (4001 tokens) is too large to process. increase the physical batch size (current batch size: 512)";
	upstream.always({ status: 500, raw: JSON.stringify({ error: { code: 500, message, type: "server_error" } }) });
	const response = await ask({ model: "priced", input: "long" });
	const { error } = (await response.json()) as { readonly error: object };
	expect([response.status, error]).toEqual([
		400,
		{ message, type: "invalid_request_error", param: "input", code: "context_length_exceeded" },
	]);
});
