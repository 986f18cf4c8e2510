/** Bodies with a Content-Encoding: taken as they were before they were packed, within the same limits. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type ChatGateway, errorOf, HELLO, startChatGateway } from "./chat-gateway.ts";

let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway();
});
afterAll(() => fixture.stop());

const post = (body: Uint8Array, coding: string, path = "/chat/completions", type = "application/json") =>
	fetch(`${fixture.gate.url}/api/v1${path}`, {
		method: "POST",
		headers: { authorization: `Bearer ${fixture.gate.key}`, "content-type": type, "content-encoding": coding },
		body: body as Uint8Array<ArrayBuffer>,
	});

const PACKERS: readonly (readonly [string, (body: Uint8Array) => Uint8Array])[] = [
	["gzip", gzipSync],
	["x-gzip", gzipSync],
	["GZIP", gzipSync],
	["deflate", deflateSync],
	["deflate", deflateRawSync],
	["br", brotliCompressSync],
	["zstd", zstdCompressSync],
	["identity", (body) => body],
	["utf-8", (body) => body],
];
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const HELLO_BYTES = bytes(HELLO);

test.each(PACKERS)("%s is unpacked, and what the upstream gets is plain", async (coding, pack) => {
	expect((await post(pack(HELLO_BYTES), coding)).status).toBe(200);
	const sent = fixture.upstream.requests.at(-1);
	expect(sent?.headers.get("content-encoding")).toBeNull();
	expect(sent?.body?.messages).toEqual(HELLO.messages);
});

test.each(PACKERS.slice(0, 7))("%s in a large body and in a form is unpacked", async (coding, pack) => {
	const said = Array.from({ length: 40_000 }, (_, index) => `line ${index}`).join("\n");
	const large = await post(pack(bytes({ ...HELLO, messages: [{ role: "user", content: said }] })), coding);
	expect(large.status).toBe(200);
	expect(fixture.upstream.requests.at(-1)?.body?.messages).toEqual([{ role: "user", content: said }]);
	const form = new FormData();
	form.set("file", new File(["some words of a text"], "a.txt", { type: "text/plain" }));
	const packed = new Response(form);
	const type = packed.headers.get("content-type") ?? "";
	const parsed = await post(pack(await packed.bytes()), coding, "/augment/text-parser", type);
	expect([parsed.status, await parsed.text()]).toEqual([200, expect.stringContaining("some words of a text")]);
});

test.each(PACKERS.slice(0, 7))("%s that is damaged, cut off or empty is a 400 or a body that is none", async (coding, pack) => {
	const packed = pack(bytes({ ...HELLO, metadata: { filler: crypto.randomUUID().repeat(40) } }));
	for (const body of [packed.subarray(0, packed.length - 9), Buffer.from("no packed bytes at all"), new Uint8Array(0)]) {
		const answer = await post(body, coding);
		const { code } = await errorOf(answer);
		expect([answer.status, code]).toEqual([400, "INVALID_REQUEST"]);
	}
});

test("what grows out of proportion, or past the route's limit, is refused before it is in memory", async () => {
	const bomb = gzipSync(Buffer.alloc(200 * 1_048_576, 32));
	const before = fixture.gate.gateway.pipeline.bodyMemory.used;
	for (const [coding, body] of [
		["gzip", bomb],
		["br", brotliCompressSync(Buffer.alloc(8 * 1_048_576, 32))],
		["zstd", zstdCompressSync(Buffer.alloc(8 * 1_048_576, 32))],
	] as const) {
		const answer = await post(body, coding);
		expect([answer.status, (await errorOf(answer)).code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
	}
	expect(fixture.gate.gateway.pipeline.bodyMemory.used).toBe(before);
});

test.each(["compress", "gzip, br", "gzip,gzip", "x-compress"])("%s is a 415 that names what is taken", async (coding) => {
	const answer = await post(HELLO_BYTES, coding);
	expect(answer.status).toBe(415);
	expect(answer.headers.get("accept-encoding")).toBe("gzip, deflate, br, zstd");
});

test.each([
	['application/json; charset="UTF-8"', 200],
	["application/json;charset=utf8", 200],
	["application/json; charset=iso-8859-1", 415],
	["application/json; charset=utf-16", 415],
])("%s: %d", async (type, status) => {
	expect((await post(HELLO_BYTES, "identity", "/chat/completions", type)).status).toBe(status);
});
