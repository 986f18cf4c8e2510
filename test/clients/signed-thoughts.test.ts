/** Thoughts that a provider signed go through responses and messages, and come back to it as they were. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { CALLS, SIGNATURE, TALK } from "../support/providers/index.ts";
import { type ProviderServer, startProviderServer } from "../support/providers/server.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";

let providers: ProviderServer;
let gate: RunningGateway;
let openai: OpenAI;
let claude: Anthropic;

beforeAll(async () => {
	providers = startProviderServer();
	gate = await startGateway({ config: { upstreams: providers.upstreams, models: { entries: providers.models } } });
	openai = new OpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key, maxRetries: 0 });
	claude = new Anthropic({ baseURL: `${gate.url}/api`, apiKey: gate.key, maxRetries: 0 });
});
afterAll(async () => {
	expect(providers.complaints).toEqual([]);
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await providers.stop();
});

const hello = { role: "user" as const, content: "hello" };
const parameters = { type: "object" as const, properties: { q: { type: "string" } }, additionalProperties: false };
const scene = { ...CALLS, thoughts: TALK.thoughts };
const lastAsked = () => JSON.stringify(providers.requests.at(-1)?.body);
const SIGNED = { anthropic: SIGNATURE, bedrock: "c2lnbmVk", google: "c2lnbmVk" };

describe.each(Object.entries(SIGNED))("%s", (model, signature) => {
	test.each([false, true])("messages, streamed: %p", async (streamed) => {
		const ask = {
			...{ model, max_tokens: 900 },
			tools: [{ name: "lookup", input_schema: parameters }],
		};
		providers.next(scene);
		const body = { ...ask, messages: [hello] };
		const { content } = await (streamed ? claude.messages.stream(body).finalMessage() : claude.messages.create(body));
		const results = content.flatMap((block) =>
			block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "42" }] : [],
		);
		expect(results).toHaveLength(CALLS.calls.length);
		const turn = { role: "assistant" as const, content: content as Anthropic.ContentBlockParam[] };
		const next = await claude.messages.create({ ...ask, messages: [hello, turn, { role: "user", content: results }] });
		expect(next.stop_reason).toBe("end_turn");
		expect(lastAsked()).toContain(`"${signature}"`);
		expect(lastAsked()).toContain(JSON.stringify(TALK.thoughts.join("")));
	});

	test.each([false, true])("responses, streamed: %p", async (streamed) => {
		const tools: OpenAI.Responses.FunctionTool[] = [{ type: "function", name: "lookup", parameters, strict: false }];
		const input: OpenAI.Responses.ResponseInputItem[] = [hello];
		providers.next(scene);
		const { output } = await (streamed
			? openai.responses.stream({ model, input, tools }).finalResponse()
			: openai.responses.create({ model, input, tools }));
		input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
		for (const item of output)
			if (item.type === "function_call") input.push({ type: "function_call_output", call_id: item.call_id, output: "42" });
		expect((await openai.responses.create({ model, input, tools })).output_text).toBe(TALK.text.join(""));
		expect(lastAsked()).toContain(`"${signature}"`);
		expect(lastAsked()).toContain(JSON.stringify(TALK.thoughts.join("")));
	});
});
