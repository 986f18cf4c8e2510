/** `modelId`, the name of a model on some routes, is never passed over on the others. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatGateway, type ErrorAnswer, MODEL, startChatGateway } from "./chat-gateway.ts";

let fixture: ChatGateway;
beforeAll(async () => {
	fixture = await startChatGateway();
});
afterAll(() => fixture.stop());

const MESSAGES = [{ role: "user", content: "hello" }];
const ROUTES: readonly (readonly [path: string, body: object])[] = [
	["/chat/completions", { messages: MESSAGES }],
	["/completions", { prompt: "hello" }],
	["/responses", { input: "hello" }],
	["/messages", { messages: MESSAGES, max_tokens: 10 }],
	["/messages/count_tokens", { messages: MESSAGES }],
	["/embeddings", { input: "hello" }],
	["/audio/speech", { input: "hello" }],
	["/image/generate", { prompt: "a cat" }],
	["/images/generations", { prompt: "a cat" }],
];

const textOf = async (answer: Response) => {
	const { error } = (await answer.json()) as ErrorAnswer;
	return typeof error === "string" ? error : error.message;
};

test.each(ROUTES)("%s: alone it is refused by name, beside another model too", async (path, body) => {
	const sent = fixture.upstream.requests.length;
	const alone = await fixture.gate.call("POST", path, { ...body, modelId: MODEL });
	expect([alone.status, await textOf(alone)]).toEqual([400, expect.stringContaining("the field is named 'model'")]);
	const other = await fixture.gate.call("POST", path, { ...body, model: MODEL, modelId: "another" });
	expect([other.status, await textOf(other)]).toEqual([400, expect.stringContaining("modelId: must be the same as model")]);
	expect(fixture.upstream.requests).toHaveLength(sent);
});

test("beside the same model it is taken out", async () => {
	const answer = await fixture.gate.call("POST", "/chat/completions", { model: MODEL, modelId: MODEL, messages: MESSAGES });
	expect(answer.status).toBe(200);
	expect(fixture.lastSent().body).not.toHaveProperty("modelId");
	await answer.body?.cancel();
});

test("a form is no exception", async () => {
	const form = new FormData();
	form.set("file", new File(["RIFF"], "a.wav"));
	form.set("modelId", "another");
	const answer = await fetch(`${fixture.gate.url}/api/v1/audio/transcriptions`, {
		method: "POST",
		headers: { authorization: `Bearer ${fixture.gate.key}` },
		body: form,
	});
	expect([answer.status, await textOf(answer)]).toEqual([400, expect.stringContaining("modelId")]);
});
