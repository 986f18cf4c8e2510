/** Requests for what a model lacks: refused, and told to the account in its log of limits. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatGateway, HELLO, modelEntry, startChatGateway } from "./chat-gateway.ts";

interface LogEntry {
	readonly apiKeyId: string;
	readonly modelId: string;
	readonly rateLimitTier: string;
	readonly rateLimitType: string;
}

const BLIND = "blind-model";
let fixture: ChatGateway;

beforeAll(async () => {
	const capabilities = {
		supportsVision: false,
		supportsAudioInput: false,
		supportsVideoInput: false,
		supportsFunctionCalling: false,
		supportsResponseSchema: false,
		supportsReasoningEffort: false,
	};
	fixture = await startChatGateway({ models: { [BLIND]: modelEntry({ price: { input: 0, output: 0 }, capabilities }) } });
});
afterAll(() => fixture.stop());

async function log(secret: string): Promise<LogEntry[]> {
	const answer = await fixture.gate.call("GET", "/api_keys/rate_limits/log", undefined, { authorization: `Bearer ${secret}` });
	return ((await answer.json()) as { data: LogEntry[] }).data;
}

const part = (content: object) => ({ messages: [{ role: "user", content: [content] }] });
const LACKING: readonly (readonly [string, object])[] = [
	["images", part({ type: "image_url", image_url: { url: "https://example.com/a.png" } })],
	["audio", part({ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } })],
	["video", part({ type: "video_url", video_url: { url: "https://example.com/a.mp4" } })],
	["functions", { tools: [{ type: "function", function: { name: "f", parameters: {} } }] }],
	["a response schema", { response_format: { type: "json_schema", json_schema: { name: "a", schema: {} } } }],
	["a reasoning effort", { reasoning_effort: "low" }],
	["web search", { service_parameters: { enable_web_search: "on" } }],
];

test.each(LACKING)("a request for %s is logged once, under the model", async (_, body) => {
	const { secret, id } = await fixture.gate.newKey();
	const answer = await fixture.gate.chat({ ...HELLO, model: BLIND, ...body }, { key: secret });
	expect(answer.status).toBe(400);
	expect((await log(secret)).map(({ apiKeyId, modelId, rateLimitType }) => [apiKeyId, modelId, rateLimitType])).toEqual([
		[id, BLIND, "UNSUPPORTED_FEATURE_REQUESTS"],
	]);
});

test("other refusals are not, and what a model has is served", async () => {
	const { secret } = await fixture.gate.newKey();
	const refused = [
		{ temperature: 3 },
		{ model: "no-such-model" },
		part({ type: "text", text: 5 }),
		{ min_temp: 1, max_temp: 0.5 },
		{ tool_choice: "required" },
	];
	for (const body of refused)
		expect((await fixture.gate.chat({ ...HELLO, model: BLIND, ...body }, { key: secret })).status).toBeOneOf([400, 404]);
	expect((await fixture.gate.chat({ ...HELLO, model: BLIND }, { key: secret })).status).toBe(200);
	expect(await log(secret)).toEqual([]);
});
