/** What a body may be made of: bytes, encoding, JSON, content type. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatGateway, errorOf, HELLO, MODEL, startChatGateway, verdict } from "./chat-gateway.ts";

let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway();
});
afterAll(() => fixture.stop());

const post = (body: string | Uint8Array, type: string | null = "application/json") =>
	fetch(`${fixture.gate.url}/api/v1/chat/completions`, {
		method: "POST",
		headers: { authorization: `Bearer ${fixture.gate.key}`, ...(type === null ? {} : { "content-type": type }) },
		body: body as Uint8Array<ArrayBuffer> | string,
	});

const GOOD = JSON.stringify(HELLO);
const bytes = (text: string) => new TextEncoder().encode(text);
const joined = (...parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

const NOT_JSON: readonly (readonly [name: string, body: string | Uint8Array, text: RegExp])[] = [
	["empty", "", /empty/],
	["white space", " \n\t ", /empty/],
	["an open brace", "{", /not valid JSON/],
	["cut off inside a string", GOOD.slice(0, -6), /not valid JSON/],
	["a trailing comma", `${GOOD.slice(0, -1)},}`, /not valid JSON/],
	["single quotes", "{'model':'x'}", /not valid JSON/],
	["a comment", `${GOOD} // hello`, /not valid JSON/],
	["two values", `${GOOD}${GOOD}`, /not valid JSON/],
	["NaN", `{"model":"${MODEL}","messages":[],"temperature":NaN}`, /not valid JSON/],
	["a control character in a string", `{"model":"a\u0001b"}`, /not valid JSON/],
	["form data", "model=x&messages=y", /not valid JSON/],
	["invalid UTF-8", joined(bytes('{"model":"'), Uint8Array.of(0xff, 0xfe), bytes('"}')), /UTF-8/],
	["a surrogate as UTF-8", joined(bytes('{"model":"'), Uint8Array.of(0xed, 0xa0, 0x80), bytes('"}')), /UTF-8/],
	["a character cut off", joined(bytes('{"model":"'), Uint8Array.of(0xe2, 0x82)), /UTF-8/],
	["UTF-16", new Uint8Array(Buffer.from(`\ufeff${GOOD}`, "utf16le")), /UTF-8/],
	["gzip", Bun.gzipSync(bytes(GOOD)), /UTF-8/],
	["an array", `[${GOOD}]`, /must be a JSON object/],
	["a string", '"hello"', /must be a JSON object/],
	["a number", "7", /must be a JSON object/],
	["null", "null", /must be a JSON object/],
	["true", "true", /must be a JSON object/],
	[
		"a number past all doubles",
		`{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"temperature":1e999}`,
		/temperature/,
	],
];

test("a body that is no JSON object is a 400 that says what it is", async () => {
	const before = fixture.upstream.requests.length;
	for (const [name, body, text] of NOT_JSON) {
		const answer = await post(body);
		const { error, code } = await errorOf(answer);
		expect({ name, status: answer.status, code, type: error.type }).toEqual({
			name,
			status: 400,
			code: "INVALID_REQUEST",
			type: "invalid_request_error",
		});
		expect(error.message).toMatch(text);
		expect(answer.headers.get("x-request-id")).toMatch(/^[0-9A-Za-z]{32}$/);
	}
	expect(fixture.upstream.requests).toHaveLength(before);
});

test("nesting a hundred thousand levels deep is refused, or passed on, but never ends the server", async () => {
	const levels = 100_000;
	const deep = `{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"extra":${"[".repeat(levels)}${"]".repeat(levels)}}`;
	const answer = await post(deep);
	expect([200, 400]).toContain(answer.status);
	await answer.body?.cancel();
	expect(await verdict(post(GOOD))).toBe("200");
});

test("a byte order mark before the body is no fault", async () => {
	expect(await verdict(post(joined(Uint8Array.of(0xef, 0xbb, 0xbf), bytes(GOOD))))).toBe("200");
	expect(fixture.lastSent().complaints).toEqual([]);
});

test("of duplicate keys the last wins, and only that one goes on", async () => {
	const body = `{"model":"no-such-model","temperature":5,"model":"${MODEL}","messages":[],"temperature":0.5,"messages":[{"role":"user","content":"second"}]}`;
	expect(await verdict(post(body))).toBe("200");
	const sent = fixture.lastSent();
	expect(sent.body).toMatchObject({ model: "scripted", temperature: 0.5, messages: [{ role: "user", content: "second" }] });
	for (const key of ["model", "temperature", "messages"]) expect(sent.text.split(`"${key}"`)).toHaveLength(2);
});

test("a duplicate that differs only by its escapes is a duplicate too", async () => {
	const body = `{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"temper\\u0061ture":9,"temperature":0.25}`;
	expect(await verdict(post(body))).toBe("200");
	expect(fixture.lastSent().body.temperature).toBe(0.25);
	expect(Object.keys(fixture.lastSent().body).filter((key) => key === "temperature")).toHaveLength(1);
	expect(fixture.lastSent().text).not.toContain("9");
});

test("keys that objects have by themselves are ordinary keys", async () => {
	const body = `{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"__proto__":{"stream":true},"constructor":1}`;
	const answer = await post(body);
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-type")).toBe("application/json");
	await answer.body?.cancel();
});

test("unknown top-level keys go on as they came, character by character", async () => {
	const extra = '{"a" : 1.0e0,"\\u00e9":"\\/","big":123456789012345678901234567890}';
	expect(await verdict(post(`{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"my_extra":${extra}}`))).toBe("200");
	expect(fixture.lastSent().text).toContain(`"my_extra":${extra}`);
});

const TYPES: readonly (readonly [type: string | null, verdict: string])[] = [
	["application/json", "200"],
	["application/json; charset=utf-8", "200"],
	["application/json;charset=UTF-8", "200"],
	["APPLICATION/JSON", "200"],
	["application/vnd.api+json", "200"],
	["text/plain", "415 INVALID_CONTENT_TYPE"],
	["text/json", "415 INVALID_CONTENT_TYPE"],
	["application/x-www-form-urlencoded", "415 INVALID_CONTENT_TYPE"],
	["multipart/form-data; boundary=x", "415 INVALID_CONTENT_TYPE"],
	["application/jsonp", "415 INVALID_CONTENT_TYPE"],
	["application/json, text/plain", "415 INVALID_CONTENT_TYPE"],
	["", "415 INVALID_CONTENT_TYPE"],
];

test("only JSON content types are taken; a charset parameter is fine", async () => {
	for (const [type, expected] of TYPES) expect([type, await verdict(post(bytes(GOOD), type))]).toEqual([type, expected]);
	const { error } = await errorOf(post(bytes(GOOD), "text/plain"));
	expect(error.message).toContain("text/plain");
	expect(error.message).toContain("application/json");
});
