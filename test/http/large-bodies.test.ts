/** Bodies over 4 MiB are parsed without the rest of their long strings: they must be judged like small ones. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatGateway, HELLO, MODEL, modelEntry, namedField, startChatGateway, verdict } from "./chat-gateway.ts";

let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway({
		models: { wide: modelEntry({ price: { input: 1, output: 4 }, maxCompletionTokens: 1024 }) },
	});
});
afterAll(() => fixture.stop());

const LONG = 5 * 1_048_576;
const post = (body: string | Uint8Array) =>
	fetch(`${fixture.gate.url}/api/v1/chat/completions`, {
		method: "POST",
		headers: { authorization: `Bearer ${fixture.gate.key}`, "content-type": "application/json" },
		body: body as Uint8Array<ArrayBuffer> | string,
	});
/** A body whose only message is `before`, a long run of letters, `after`. */
const around = (before: string, after: string, rest = "") =>
	Buffer.concat([
		Buffer.from(`{"model":"${MODEL}"${rest},"messages":[{"role":"user","content":"${before}`),
		Buffer.alloc(LONG, "a"),
		Buffer.from(`${after}"}]}`),
	]);
const image = (base64: string) => ({
	messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } }] }],
});

function png(width: number, height: number, bytes = LONG): string {
	const file = Buffer.alloc(bytes);
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(file);
	file.writeUInt32BE(width, 16);
	file.writeUInt32BE(height, 20);
	return file.toString("base64");
}

test("a long message goes upstream byte for byte, escapes and characters of several bytes included", async () => {
	const body = around("\\u00e9\\n", '\\"😀é');
	expect(await verdict(post(body))).toBe("200");
	const { bytes, complaints } = fixture.lastSent();
	expect(complaints).toEqual([]);
	const messages = body.subarray(body.indexOf('"messages"'));
	expect(Buffer.from(bytes).includes(messages.subarray(0, -1))).toBe(true);
});

test("fields before and after a long string are judged as ever", async () => {
	expect(await namedField(post(around("", "", ',"temperature":3')))).toBe("400 temperature");
	const late = JSON.stringify({ ...HELLO, extra: "a".repeat(LONG), top_p: 2 });
	expect(await namedField(post(late))).toBe("400 top_p");
	const twice = JSON.stringify({ ...HELLO, temperature: 9, extra: "a".repeat(LONG) }).replace(/}$/, ',"temperature":0.5}');
	expect(await verdict(post(twice))).toBe("200");
	expect(fixture.lastSent().body.temperature).toBe(0.5);
});

test("a long string is never taken for the short one that it begins like", async () => {
	const long = "x".repeat(LONG);
	expect(await verdict(fixture.gate.chat({ ...HELLO, model: `${MODEL}${long}` }))).toBe("404 MODEL_NOT_FOUND");
	expect(await namedField(fixture.gate.chat({ ...HELLO, reasoning_effort: `high${long}` }))).toBe("400 reasoning_effort");
	expect(await namedField(fixture.gate.chat({ ...HELLO, service_parameters: { character_slug: long } }))).toBe(
		"400 service_parameters.character_slug",
	);
});

test("an image's header is read, however long its data", async () => {
	expect(await verdict(fixture.gate.chat({ ...HELLO, ...image(png(640, 480)) }))).toBe("200");
	expect(await verdict(fixture.gate.chat({ ...HELLO, ...image(png(32, 480)) }))).toBe("400 IMAGE_TOO_SMALL");
	expect(await verdict(fixture.gate.chat({ ...HELLO, ...image(png(8_000, 8_000)) }))).toBe("422 IMAGE_TOO_LARGE");
	expect(await verdict(fixture.gate.chat({ ...HELLO, ...image(Buffer.alloc(LONG).toString("base64")) }))).toBe(
		"400 CORRUPTED_IMAGE",
	);
});

test("a large image is held for as a picture, a large text as text", async () => {
	const poor = await fixture.gate.newKey({ creditUsd: "0.01" });
	const priced = { ...HELLO, model: "wide" };
	expect(await verdict(fixture.gate.chat({ ...priced, ...image(png(640, 480)) }, { key: poor.secret }))).toBe("200");
	const text = { messages: [{ role: "user", content: "word ".repeat(LONG / 5) }] };
	expect(await verdict(fixture.gate.chat({ ...priced, ...text }, { key: poor.secret }))).toBe("402 INSUFFICIENT_BALANCE");
});

test("a large body that is cut off, or goes on after its end, is a 400", async () => {
	const whole = around("", "");
	for (const body of [whole.subarray(0, -1), whole.subarray(0, LONG), Buffer.concat([whole, Buffer.from("}")])])
		expect(await verdict(post(body))).toBe("400 INVALID_REQUEST");
});

test("what is no JSON inside a long string is a 400, and reaches no upstream", async () => {
	const before = fixture.upstream.requests.length;
	const broken = [around("", "\\x"), around("", "\n"), around("", "\\ud8"), Buffer.from(around("", "#"))];
	broken[3]?.fill(0xff, broken[3].indexOf("#"), broken[3].indexOf("#") + 1);
	const verdicts: string[] = [];
	for (const body of broken) verdicts.push(await verdict(post(body)));
	expect(verdicts).toEqual(broken.map(() => "400 INVALID_REQUEST"));
	expect(fixture.upstream.requests).toHaveLength(before);
});
