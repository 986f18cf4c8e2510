/** Providers in their own protocols behind a whole gateway: what callers get, and what is posted for it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChatCompletion, type ErrorBody, eventsOf, HELLO } from "../support/chat-bodies.ts";
import { CALLS, CUT, type ProviderScript, SCRIPTS, type Scene, SIGNATURE, TALK } from "../support/providers/index.ts";
import { type ProviderServer, startProviderServer } from "../support/providers/server.ts";
import { errorPlay, playOf } from "../support/providers/upstream.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";

let providers: ProviderServer;
let native: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	providers = startProviderServer();
	native = startScriptedUpstream();
	const first = { upstream: "anthropic", model: "claude-3-7-sonnet-20250219", weight: 1, order: 0 };
	const second = { upstream: "native", model: "scripted", weight: 1, order: 1 };
	gate = await startGateway({
		config: {
			upstreams: { ...providers.upstreams, native: upstreamEntry(native.url) },
			models: { entries: { ...providers.models, both: { ...providers.models.anthropic, upstreams: [first, second] } } },
			limits: { failedRequests: 0 },
		},
	});
});
afterAll(async () => {
	expect(providers.complaints).toEqual([]);
	expect((await gate.audit()).ok).toBe(true);
	await gate.stop();
	await Promise.all([providers.stop(), native.stop()]);
});

const lastPost = async () => (await gate.posts()).at(-1);

/** Nano-USD of what the provider told: 1, 0.1 and 2 USD for a million of prompt tokens, 4 for one of output. */
function priceOf({ tells }: ProviderScript, { usage }: Scene): number {
	const cached = tells.cached ? usage.cached : 0;
	const written = tells.written ? usage.written : 0;
	return (usage.input - cached - written) * 1_000 + cached * 100 + written * 2_000 + usage.output * 4_000;
}

describe.each(SCRIPTS.map((script) => [script.provider, script] as const))("%s", (model, script) => {
	test("an answer that is whole, or cut by its maximum, is posted with the tokens that the provider told", async () => {
		for (const scene of [TALK, CUT, CALLS]) {
			for (const stream of [false, true]) {
				providers.next(scene);
				const answer = await gate.chat({ model, messages: HELLO, stream, stream_options: { include_usage: true } });
				expect(answer.status).toBe(200);
				const text = await answer.text();
				expect(await lastPost()).toMatchObject({
					...{ request_id: answer.headers.get("x-request-id"), model, upstream: model, status: 200 },
					...{ prompt_tokens: scene.usage.input, completion_tokens: scene.usage.output, tokens_counted: 0 },
					price: priceOf(script, scene),
				});
				const said = stream ? eventsOf(text).chunks.at(-1) : (JSON.parse(text) as ChatCompletion);
				expect(said?.usage).toMatchObject({ prompt_tokens: scene.usage.input, completion_tokens: scene.usage.output });
				expect(said?.cost?.usd).toBeCloseTo(priceOf(script, scene) / 1e9, 9);
				expect(text).not.toContain(script.model);
				if (stream) expect(eventsOf(text).done).toBe(true);
			}
		}
	});

	test("a caller who leaves a stream pays the prompt and what was said, once, and the provider is let go", async () => {
		providers.next((asked) => ({ ...opening(asked), hangs: true }));
		const before = await gate.balance();
		const abort = new AbortController();
		const answer = await gate.chat({ model, messages: HELLO, stream: true }, { signal: abort.signal });
		const reader = answer.body?.getReader();
		let text = "";
		while (!text.includes("Grüße")) text += new TextDecoder().decode((await reader?.read())?.value);
		abort.abort();
		await providers.requests.at(-1)?.aborted;
		await until(async () => (await lastPost())?.request_id === answer.headers.get("x-request-id"), "the post");
		const post = await lastPost();
		expect(post).toMatchObject({ status: 499, upstream: model });
		expect(post?.completion_tokens).toBeGreaterThan(0);
		expect(post?.completion_tokens).toBeLessThan(TALK.usage.output);
		expect(before - (await gate.balance())).toBe((post?.prompt_tokens ?? 0) * 1_000 + (post?.completion_tokens ?? 0) * 4_000);
		expect(gate.gateway.budgets.holdsOpen).toBe(0);
	});

	test("a stream that fails in the middle is an error event, and prompt and what was said are paid once", async () => {
		const said = Promise.withResolvers<void>();
		providers.next((asked) => ({ ...opening(asked), breaks: true, after: said.promise }));
		const before = await gate.balance();
		const answer = await gate.chat({ model, messages: HELLO, stream: true });
		const reader = answer.body?.getReader();
		let text = "";
		for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
			text += new TextDecoder().decode(read.value);
			if (text.includes("Grüße")) said.resolve();
		}
		const { chunks, done } = eventsOf(text);
		expect([done, chunks.at(-1)?.error?.code]).toEqual([false, "INFERENCE_FAILED"]);
		await until(async () => (await lastPost())?.request_id === answer.headers.get("x-request-id"), "the post");
		const post = await lastPost();
		expect(post?.completion_tokens).toBeGreaterThan(0);
		expect(before - (await gate.balance())).toBe((post?.prompt_tokens ?? 0) * 1_000 + (post?.completion_tokens ?? 0) * 4_000);
		expect(gate.gateway.budgets.holdsOpen).toBe(0);
	});

	test("a failure before anything was said costs nothing", async () => {
		const before = await gate.balance();
		for (const stream of [false, true]) {
			providers.next(errorPlay(script.errors.broken));
			const answer = await gate.chat({ model, messages: HELLO, stream });
			expect([answer.status, ((await answer.json()) as ErrorBody).code]).toEqual([500, "INFERENCE_FAILED"]);
		}
		expect(await gate.balance()).toBe(before);
		// It is back at once where it answers well.
		expect((await gate.chat({ model, messages: HELLO })).status).toBe(200);
	});
});

test("a message of an assistant that goes back as it came brings the provider its signatures", async () => {
	const tools = [{ type: "function", function: { name: "lookup", parameters: { type: "object", properties: {} } } }];
	const asked = { model: "anthropic", tools, reasoning_effort: "low", max_completion_tokens: 1_500 };
	providers.next(CALLS);
	const first = (await (await gate.chat({ ...asked, messages: HELLO })).json()) as ChatCompletion;
	const message = first.choices[0]?.message;
	const results = CALLS.calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "found" }));
	const answer = await gate.chat({ ...asked, messages: [...HELLO, message, ...results] });
	expect(answer.status).toBe(200);
	await answer.text();
	const { body } = providers.requests.at(-1) ?? {};
	expect(body?.thinking).toMatchObject({ type: "enabled" });
	expect(body?.messages).toMatchObject([
		{ role: "user" },
		{ role: "assistant", content: [{ type: "thinking", thinking: CALLS.thoughts.join(""), signature: SIGNATURE }, {}, {}, {}] },
		{ role: "user", content: [{ type: "tool_result" }, { type: "tool_result" }] },
	]);
});

test("where a provider tells no usage, prompt and answer are counted, and told so", async () => {
	for (const stream of [false, true]) {
		providers.next((script) => {
			const play = playOf(script, stream, TALK);
			const text = new TextDecoder().decode(play.bytes).replace(/,"usage":\{.*?\}\}/, "");
			return { ...play, bytes: new TextEncoder().encode(text) };
		});
		const answer = await gate.chat({ model: "deepinfra", messages: HELLO, stream });
		expect(answer.status).toBe(200);
		await answer.text();
		const post = await lastPost();
		expect(post).toMatchObject({ request_id: answer.headers.get("x-request-id"), tokens_counted: 1 });
		expect(post?.price).toBe((post?.prompt_tokens ?? 0) * 1_000 + (post?.completion_tokens ?? 0) * 4_000);
		expect(post?.completion_tokens).toBeGreaterThan(0);
	}
});

test("where a provider is busy the next upstream answers, an OpenAI-compatible one", async () => {
	for (const stream of [false, true]) {
		providers.next(
			errorPlay({ status: 529, body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } }),
		);
		const answer = await gate.chat({ model: "both", messages: HELLO, stream });
		expect(answer.status).toBe(200);
		expect(await answer.text()).toContain("Hello");
		expect(answer.headers.get("x-retry-count")).toBe("1");
		expect(await lastPost()).toMatchObject({ upstream: "native" });
		// The pause that it asked for is over with the next good answer of its own.
		await (await gate.chat({ model: "anthropic", messages: HELLO })).text();
	}
});

test("keys of providers stand in no answer and on no page", async () => {
	const secrets = ["sk-ant-scripted", "secret-of-the-scripted-key", "AKIASCRIPTED"];
	const text: string[] = [];
	for (const path of ["/models", "/models/anthropic"]) text.push(await (await gate.call("GET", path)).text());
	providers.next(
		errorPlay({ status: 400, body: { error: { message: "bad x-api-key sk-ant-scripted", type: "invalid_request_error" } } }),
	);
	text.push(await (await gate.chat({ model: "anthropic", messages: HELLO })).text());
	for (const secret of secrets) expect(text.join("")).not.toContain(secret);
	expect(text.join("")).toContain("[");
});

/** A stream up to its first words. */
function opening(script: ProviderScript) {
	const { bytes, headers = {} } = playOf(script, true, TALK);
	return { bytes: bytes.slice(0, Buffer.from(bytes).indexOf("Welt")), headers };
}
