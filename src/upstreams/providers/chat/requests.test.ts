import { describe, expect, test } from "bun:test";
import * as scripts from "../../../../test/support/providers/index.ts";
import { CALLS, type ProviderScript, SCRIPTS, type Scene, TALK } from "../../../../test/support/providers/index.ts";
import { LOOKUP, talkTo } from "../../../../test/support/providers/talk.ts";
import { playOf } from "../../../../test/support/providers/upstream.ts";
import { codeOf } from "../../../../test/support/upstream-pair.ts";
import { type PublicFetch, PublicFetchFault } from "../../public-fetch/port.ts";

const PIXELS = "iVBORw0KGgo=";
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const FORMAT = { type: "json_schema", json_schema: { name: "place", strict: true, schema: SCHEMA } };

/** The body that a provider is sent for this one of ours. */
async function sent(script: ProviderScript, body: object, scene: Scene = TALK): Promise<Record<string, unknown>> {
	const talk = talkTo(script);
	talk.played.next(playOf(script, false, scene));
	await talk.hear(body);
	const [request] = talk.played.requests;
	if (request === undefined) throw new Error("nothing was asked");
	expect(script.complaints(request)).toEqual([]);
	return request.body;
}

const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXELS}` } };
const user = (...content: object[]) => ({ messages: [{ role: "user", content }] });

describe("messages", () => {
	test("pictures go as their bytes, in the form of each provider", async () => {
		const body = user({ type: "text", text: "what?" }, image);
		const forms = await Promise.all(
			SCRIPTS.map(async (script) => [script.provider, JSON.stringify(await sent(script, body))] as const),
		);
		for (const [provider, text] of forms)
			expect([provider, text.includes(PIXELS), text.includes("what?")]).toEqual([provider, true, true]);
		expect((await sent(scripts.anthropic, body)).messages).toEqual([
			{
				role: "user",
				content: [
					{ type: "text", text: "what?" },
					{ type: "image", source: { type: "base64", media_type: "image/png", data: PIXELS } },
				],
			},
		]);
		expect((await sent(scripts.google, body)).contents).toEqual([
			{ role: "user", parts: [{ text: "what?" }, { inlineData: { mimeType: "image/png", data: PIXELS } }] },
		]);
	});

	test("addresses of pictures go as addresses where the provider reads them", async () => {
		const url = "https://img.example/cat.png";
		const { messages } = await sent(scripts.anthropic, user({ type: "image_url", image_url: { url } }));
		expect(messages).toMatchObject([{ content: [{ type: "image", source: { type: "url", url } }] }]);
	});

	test("addresses of pictures go as their bytes where the provider reads none, from public addresses alone", async () => {
		const public_ = (type: string): PublicFetch => {
			const read: PublicFetch["read"] = async (url) => {
				if (url.includes("private")) throw new PublicFetchFault("private", "private.example is a private address");
				return { url, status: 200, headers: new Map([["content-type", type]]), bytes: new Uint8Array([1, 2, 3]) };
			};
			return { read, get: read };
		};
		const linked = (host: string) => user({ type: "image_url", image_url: { url: `https://${host}.example/a` } });
		for (const script of [scripts.bedrock, scripts.google]) {
			const talk = talkTo(script, { fetchPublic: public_("image/png; x=y") });
			talk.played.next(playOf(script, false, TALK));
			await talk.hear(linked("img"));
			expect([script.provider, JSON.stringify(talk.lastBody)]).toEqual([script.provider, expect.stringContaining("AQID")]);
			expect(await codeOf(talk.hear(linked("private")))).toBe("INVALID_REQUEST");
			expect(await codeOf(talkTo(script, { fetchPublic: public_("text/html") }).hear(linked("img")))).toBe("INVALID_REQUEST");
		}
	});

	test("films go by their address where the provider reads them there", async () => {
		const url = "https://www.youtube.com/watch?v=scripted";
		const read = () => Promise.reject(new Error("it was read here"));
		const talk = talkTo(scripts.google, { fetchPublic: { read, get: read } });
		talk.played.next(playOf(scripts.google, false, TALK));
		await talk.hear(user({ type: "video_url", video_url: { url } }));
		expect(talk.lastBody.contents).toMatchObject([{ parts: [{ fileData: { fileUri: url, mimeType: "video/mp4" } }] }]);
	});

	test("what a provider cannot be told is a refused request, and nothing is sent", async () => {
		const talk = talkTo(scripts.anthropic);
		talk.played.next(playOf(scripts.anthropic, false, TALK));
		const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
		expect(await codeOf(talk.hear(user(audio)))).toBe("INVALID_REQUEST");
		expect(talk.played.requests).toEqual([]);
	});

	test("sound goes to a provider that hears", async () => {
		const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } };
		expect((await sent(scripts.google, user(audio))).contents).toEqual([
			{ role: "user", parts: [{ inlineData: { mimeType: "audio/mpeg", data: "AAAA" } }] },
		]);
	});

	test("system messages go first where a provider takes them there alone, in their order", async () => {
		const messages = [
			{ role: "system", content: "one" },
			{ role: "user", content: "hi" },
			{ role: "developer", content: [{ type: "text", text: "two" }] },
			{ role: "user", content: "again" },
		];
		const { system, messages: rest } = await sent(scripts.anthropic, { messages });
		expect(system).toEqual([
			{ type: "text", text: "one" },
			{ type: "text", text: "two" },
		]);
		expect(rest).toMatchObject([{ role: "user", content: [{ text: "hi" }, { text: "again" }] }]);
	});

	test("hints that a prompt may be kept go to the providers that take them", async () => {
		const hinted = { type: "text", text: "long", cache_control: { type: "ephemeral", ttl: "1h" } };
		expect((await sent(scripts.anthropic, user(hinted))).messages).toEqual([
			{ role: "user", content: [{ type: "text", text: "long", cache_control: { type: "ephemeral", ttl: "1h" } }] },
		]);
		expect((await sent(scripts.bedrock, user(hinted))).messages).toMatchObject([
			{ role: "user", content: [{ text: "long" }, { cachePoint: { type: "default" } }] },
		]);
		expect(JSON.stringify(await sent(scripts.groq, user(hinted)))).not.toContain("cache");
	});
});

describe("a turn of tools", () => {
	const turn = (details?: readonly object[]) => ({
		messages: [
			{ role: "user", content: "tea?" },
			{
				role: "assistant",
				content: "One moment.",
				reasoning_content: "Two look-ups.",
				...(details ? { reasoning_details: details } : {}),
				tool_calls: [
					{ id: "call_a", type: "function", function: { name: "lookup", arguments: '{"q":"tea"}' } },
					{ id: "call_b", type: "function", function: { name: "lookup", arguments: "" } },
				],
			},
			{ role: "tool", tool_call_id: "call_a", content: "green" },
			{ role: "tool", tool_call_id: "call_b", content: [{ type: "text", text: "none" }] },
		],
		tools: [LOOKUP],
	});

	test("goes back to each provider with its calls and results", async () => {
		for (const script of SCRIPTS) {
			const text = JSON.stringify(await sent(script, turn()));
			// Cohere's package leaves out what was said beside calls.
			const said = script.provider === "cohere" ? [] : ["One moment."];
			for (const word of ["tea?", "green", "none", "lookup", ...said])
				expect([script.provider, text]).toEqual([script.provider, expect.stringContaining(word)]);
		}
		expect((await sent(scripts.google, turn())).contents).toMatchObject([
			{ role: "user" },
			{
				role: "model",
				parts: [
					{ text: "Two look-ups.", thought: true },
					{ text: "One moment." },
					{ functionCall: { name: "lookup", args: { q: "tea" } } },
					{ functionCall: { args: {} } },
				],
			},
			{ role: "user", parts: [{ functionResponse: { name: "lookup" } }, { functionResponse: { name: "lookup" } }] },
		]);
	});

	test("gives a provider its signatures back, from a whole answer and from a streamed one", async () => {
		const signature = { anthropic: scripts.SIGNATURE, bedrock: "c2lnbmVk", google: "c2lnbmVk", xai: "ZW5jcnlwdGVk" };
		for (const [provider, signed] of Object.entries(signature)) {
			const script = SCRIPTS.find((one) => one.provider === provider);
			if (script === undefined) throw new Error(provider);
			for (const stream of [false, true]) {
				const talk = talkTo(script);
				talk.played.next(playOf(script, stream, CALLS));
				const { details, calls, thoughts } = await talk.hear({
					stream,
					tools: [LOOKUP],
					reasoning_effort: "high",
					max_completion_tokens: 4_000,
				});
				const [, answer, ...rest] = turn(details).messages;
				const renamed = rest.map((message, index) => ({ ...message, tool_call_id: calls[index]?.id }));
				const tool_calls = calls.map(({ id, name, arguments: text }) => ({
					id,
					type: "function",
					function: { name, arguments: text },
				}));
				const messages = [{ role: "user", content: "tea?" }, { ...answer, reasoning_content: thoughts, tool_calls }, ...renamed];
				const body = await sent(script, { messages, tools: [LOOKUP], reasoning_effort: "high", max_completion_tokens: 4_000 });
				expect([provider, JSON.stringify(body)]).toEqual([provider, expect.stringContaining(signed)]);
			}
		}
	});

	test("does without thinking where Claude's signed thoughts are not given back, or were changed", async () => {
		const asked = { reasoning_effort: "high", max_completion_tokens: 4_000 };
		expect((await sent(scripts.anthropic, { ...turn(), ...asked })).thinking).toEqual({ type: "disabled" });
		const forged = [{ type: "reasoning", format: "anthropic", index: 0, data: "bm90IGpzb24" }];
		expect((await sent(scripts.anthropic, { ...turn(forged), ...asked })).thinking).toEqual({ type: "disabled" });
	});

	test("is refused where arguments are no JSON, or a result has no call", async () => {
		const talk = talkTo(scripts.google);
		talk.played.next(playOf(scripts.google, false, TALK));
		const nested = "[".repeat(100_000) + "]".repeat(100_000);
		for (const written of ["{", nested]) {
			const call = { id: "a", type: "function", function: { name: "lookup", arguments: written } };
			const bad = [
				{ role: "user", content: "x" },
				{ role: "assistant", content: null, tool_calls: [call] },
			];
			expect(await codeOf(talk.hear({ messages: bad }))).toBe("INVALID_REQUEST");
		}
		expect(await codeOf(talk.hear({ messages: [{ role: "tool", tool_call_id: "none", content: "x" }] }))).toBe("INVALID_REQUEST");
		expect(talk.played.requests).toEqual([]);
	});
});

describe("settings", () => {
	test("tools and how they are to be chosen go in the words of each provider", async () => {
		const tools = { tools: [LOOKUP], parallel_tool_calls: false };
		const named = { ...tools, tool_choice: { type: "function", function: { name: "lookup" } } };
		expect(await sent(scripts.anthropic, named)).toMatchObject({
			tools: [{ name: "lookup", input_schema: LOOKUP.function.parameters }],
			tool_choice: { type: "tool", name: "lookup", disable_parallel_tool_use: true },
		});
		expect(await sent(scripts.google, { ...tools, tool_choice: "required" })).toMatchObject({
			tools: [{ functionDeclarations: [{ name: "lookup" }] }],
			toolConfig: { functionCallingConfig: { mode: "ANY" } },
		});
		expect(await sent(scripts.mistral, { ...tools, tool_choice: "required" })).toMatchObject({
			tool_choice: "any",
			parallel_tool_calls: false,
		});
		expect(await sent(scripts.groq, named)).toMatchObject({
			parallel_tool_calls: false,
			tool_choice: { function: { name: "lookup" } },
		});
		expect(await sent(scripts.deepinfra, named)).toMatchObject({ parallel_tool_calls: false });
		expect(await sent(scripts.xai, named)).toMatchObject({ parallel_tool_calls: false });
		expect(await sent(scripts.bedrock, named)).toMatchObject({ toolConfig: { tools: [{ toolSpec: { name: "lookup" } }] } });
		expect(await sent(scripts.cohere, { ...tools, tool_choice: "required" })).toMatchObject({ tool_choice: "REQUIRED" });
	});

	test("a schema goes to every provider, meant as strictly as the caller says", async () => {
		for (const script of SCRIPTS.filter(({ provider }) => provider !== "bedrock" && provider !== "anthropic"))
			expect([script.provider, JSON.stringify(await sent(script, { response_format: FORMAT }))]).toEqual([
				script.provider,
				expect.stringContaining('"city"'),
			]);
		expect(await sent(scripts.groq, { response_format: FORMAT })).toMatchObject({
			response_format: { json_schema: { strict: true } },
		});
		const loose = { type: "json_schema", json_schema: { name: "place", schema: SCHEMA } };
		expect(await sent(scripts.groq, { response_format: loose })).toMatchObject({
			response_format: { json_schema: { strict: false } },
		});
		expect(await sent(scripts.deepinfra, { response_format: loose })).toMatchObject({ response_format: loose });
		expect(await sent(scripts.google, { response_format: { type: "json_object" } })).toMatchObject({
			generationConfig: { responseMimeType: "application/json" },
		});
	});

	test("Claude's answer to a schema is the text of the answer", async () => {
		for (const script of [scripts.anthropic, scripts.bedrock]) {
			for (const stream of [false, true]) {
				const talk = talkTo(script);
				const call = { id: "call_j", name: "json", pieces: ['{"city":', '"Bonn"}'] };
				talk.played.next(playOf(script, stream, { ...TALK, thoughts: [], text: [], calls: [call], end: "tool_calls" }));
				const heard = await talk.hear({ stream, response_format: FORMAT });
				expect(JSON.parse(heard.content ?? "")).toEqual({ city: "Bonn" });
				expect([heard.finish, heard.calls]).toEqual(["stop", []]);
			}
		}
	});

	test("samplers go where a provider has them, and the output maximum everywhere", async () => {
		const body = {
			temperature: 0.5,
			top_p: 0.9,
			top_k: 7,
			seed: 3,
			stop: ["END"],
			max_completion_tokens: 50,
			min_p: 0.1,
			presence_penalty: 1,
		};
		expect(await sent(scripts.deepinfra, body)).toMatchObject({
			...{ temperature: 0.5, top_p: 0.9, top_k: 7, seed: 3, stop: ["END"], max_tokens: 50, min_p: 0.1, presence_penalty: 1 },
		});
		expect((await sent(scripts.google, body)).generationConfig).toMatchObject({
			...{ temperature: 0.5, topP: 0.9, topK: 7, seed: 3, stopSequences: ["END"], maxOutputTokens: 50 },
		});
		expect(await sent(scripts.mistral, body)).toMatchObject({ temperature: 0.5, random_seed: 3, stop: ["END"], max_tokens: 50 });
		expect(await sent(scripts.cohere, body)).toMatchObject({ k: 7, p: 0.9, seed: 3, stop_sequences: ["END"], max_tokens: 50 });
		expect(await sent(scripts.anthropic, body)).toMatchObject({
			temperature: 0.5,
			top_k: 7,
			stop_sequences: ["END"],
			max_tokens: 50,
		});
		expect((await sent(scripts.bedrock, body)).inferenceConfig).toMatchObject({
			temperature: 0.5,
			stopSequences: ["END"],
			maxTokens: 50,
		});
		expect(await sent(scripts.xai, body)).toMatchObject({ top_p: 0.9, min_p: 0.1, max_output_tokens: 50 });
	});

	test("a budget of thoughts is a part of the output maximum, and none where there is no room for one", async () => {
		const asked = (maximum: number) => ({ reasoning_effort: "high", max_completion_tokens: maximum });
		expect(await sent(scripts.anthropic, asked(10_000))).toMatchObject({
			max_tokens: 10_000,
			thinking: { budget_tokens: 6_000 },
		});
		expect(await sent(scripts.anthropic, asked(1_000))).toMatchObject({ max_tokens: 1_000, thinking: { type: "disabled" } });
		expect(await sent(scripts.bedrock, asked(10_000))).toMatchObject({
			inferenceConfig: { maxTokens: 10_000 },
			additionalModelRequestFields: { thinking: { budget_tokens: 6_000 } },
		});
		expect((await sent(scripts.google, asked(10_000))).generationConfig).toMatchObject({
			maxOutputTokens: 10_000,
			thinkingConfig: { thinkingBudget: 6_000, includeThoughts: true },
		});
		expect(await sent(scripts.cohere, asked(10_000))).toMatchObject({ max_tokens: 10_000, thinking: { token_budget: 6_000 } });
	});

	test("a newer Claude is told an effort, within the maximum", async () => {
		const script = { ...scripts.anthropic, model: "claude-opus-4-6" };
		const body = await sent(script, { reasoning_effort: "high", max_completion_tokens: 2_000 });
		expect(body).toMatchObject({ max_tokens: 2_000, thinking: { type: "adaptive" }, output_config: { effort: "high" } });
	});

	test("an effort above which a package would leave the output maximum out is lowered", async () => {
		const script = { ...scripts.bedrock, model: "amazon.nova-2-lite-v1:0" };
		expect(await sent(script, { reasoning_effort: "high", max_completion_tokens: 2_000 })).toMatchObject({
			inferenceConfig: { maxTokens: 2_000 },
			additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } },
		});
	});

	test("thinking is turned off in the words of each provider, and for a model without it nothing is said", async () => {
		const off = { reasoning: { enabled: false } };
		expect((await sent(scripts.google, off)).generationConfig).toMatchObject({ thinkingConfig: { thinkingBudget: 0 } });
		expect(await sent(scripts.cohere, off)).toMatchObject({ thinking: { type: "disabled" } });
		const talk = talkTo(scripts.groq);
		talk.played.next(playOf(scripts.groq, false, TALK));
		await talk.hear(off, { capabilities: { supportsReasoning: false } });
		expect(talk.lastBody).not.toHaveProperty("reasoning_effort");
		expect(talk.lastBody).not.toHaveProperty("reasoning_format");
	});

	test("nothing of the caller's own, and nothing that a provider does not know, is sent", async () => {
		const odd = {
			user: "alice",
			metadata: { a: "b" },
			store: true,
			service_tier: "priority",
			unknown_key: "x",
			service_parameters: {},
		};
		for (const script of SCRIPTS) {
			const text = JSON.stringify(await sent(script, odd));
			for (const word of ["alice", "priority", "unknown_key", "service_parameters", '"store":true'])
				expect([script.provider, text.includes(word)]).toEqual([script.provider, false]);
		}
	});
});
