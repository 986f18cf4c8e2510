/** What a model's context holds is declared: a prompt that has more is refused before any upstream is asked. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { type ChatGateway, HELLO, modelEntry, startChatGateway, verdict } from "./chat-gateway.ts";

/** Tokens of the context of `narrow`. */
const CONTEXT = 8_192;

let fixture: ChatGateway;
const counted: string[] = [];
beforeAll(async () => {
	fixture = await startChatGateway({
		models: {
			narrow: modelEntry({ price: { input: 1, output: 4 }, contextTokens: CONTEXT, maxCompletionTokens: 1024 }),
			unknown: modelEntry({ price: { input: 0, output: 0 } }),
		},
		countTokens(text) {
			counted.push(text);
			return Promise.resolve(text.split(" ").length);
		},
	});
});
afterAll(() => fixture.stop());

const words = (count: number) => Array.from({ length: count }, () => "word").join(" ");
const file = (text: string) => ({
	type: "file",
	file: { filename: "a.txt", file_data: `data:text/plain;base64,${Buffer.from(text).toString("base64")}` },
});
/** The refusal's code, field and upstream's share in it. */
async function refusal(answer: Promise<Response>): Promise<object> {
	const before = fixture.upstream.requests.length;
	const response = await answer;
	const body = (await response.json()) as { code?: string; error?: { code?: string; param?: string; type?: string } };
	expect(fixture.upstream.requests).toHaveLength(before);
	return { status: response.status, code: body.code ?? body.error?.type, openAi: body.error?.code, param: body.error?.param };
}
const REFUSED = { status: 400, code: "TOO_MANY_TOKENS", openAi: "context_length_exceeded", param: "messages" };

test("a prompt of more tokens than the context is refused, one of as many is not", async () => {
	const chat = (count: number) =>
		fixture.gate.chat({ ...HELLO, model: "narrow", messages: [{ role: "user", content: words(count) }] });
	expect(await refusal(chat(400_000))).toEqual(REFUSED);
	expect(await refusal(chat(CONTEXT + 1))).toEqual(REFUSED);
	expect(await verdict(chat(CONTEXT))).toBe("200");
	await until(() => fixture.gate.gateway.budgets.holdsOpen === 0);
	const parts = Array.from({ length: 3 }, () => ({ type: "text", text: words(3_000) }));
	expect(await refusal(fixture.gate.chat({ ...HELLO, model: "narrow", messages: [{ role: "user", content: parts }] }))).toEqual(
		REFUSED,
	);
	const system = [{ role: "system", content: words(9_000) }, ...HELLO.messages];
	expect(await refusal(fixture.gate.chat({ ...HELLO, model: "narrow", stream: true, messages: system }))).toEqual(REFUSED);
	const tools = [{ type: "function", function: { name: "f", description: words(9_000) } }];
	expect(await refusal(fixture.gate.chat({ ...HELLO, model: "narrow", tools }))).toEqual(REFUSED);
});

test("responses and messages say the same in their own form", async () => {
	const response = fixture.gate.call("POST", "/responses", { model: "narrow", input: words(20_000) });
	expect(await refusal(response)).toEqual({ ...REFUSED, param: "input" });
	const message = fixture.gate.call("POST", "/messages", {
		model: "narrow",
		max_tokens: 10,
		messages: [{ role: "user", content: words(20_000) }],
	});
	expect((await refusal(message)) as { status: number }).toMatchObject({ status: 400, code: "TOO_MANY_TOKENS" });
});

test("a file's text counts, and the refusal costs nothing", async () => {
	const before = await fixture.gate.balance();
	const content = [file(words(9_000)), { type: "text", text: "Sum up." }];
	expect(await refusal(fixture.gate.chat({ ...HELLO, model: "narrow", messages: [{ role: "user", content }] }))).toEqual(REFUSED);
	expect(fixture.gate.gateway.budgets.holdsOpen).toBe(0);
	expect(await fixture.gate.balance()).toBe(before);
});

test("nothing is counted where the bytes cannot be so many tokens, or nobody knows the context", async () => {
	counted.length = 0;
	expect(
		await verdict(fixture.gate.chat({ ...HELLO, model: "narrow", messages: [{ role: "user", content: words(1_000) }] })),
	).toBe("200");
	expect(
		await verdict(fixture.gate.chat({ ...HELLO, model: "unknown", messages: [{ role: "user", content: words(20_000) }] })),
	).toBe("200");
	expect(counted).toEqual([]);
});

test("a text file of 25 MB goes to a model whose context nobody knows, whole", async () => {
	const text = "The quick brown <fox> jumps.\n".repeat(903_945).slice(0, 26_214_400);
	const content = [file(text), { type: "text", text: "Sum up." }];
	expect(await verdict(fixture.gate.chat({ ...HELLO, model: "unknown", messages: [{ role: "user", content }] }))).toBe("200");
	const sent = fixture.lastSent().body.messages as { content: { text: string }[] }[];
	const read = sent[0]?.content[0]?.text ?? "";
	expect(read.length).toBeGreaterThan(text.length);
	expect(read.includes(text.trimEnd().slice(-1_000_000))).toBe(true);
	expect(await refusal(fixture.gate.chat({ ...HELLO, model: "narrow", messages: [{ role: "user", content }] }))).toEqual(REFUSED);
});
