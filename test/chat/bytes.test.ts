import { afterAll, beforeAll, expect, test } from "bun:test";
import { topLevelMembers } from "../../src/wire/index.ts";
import { chunksOf, completionOf, type Speech, TOOL_SPEECH } from "../support/chat-answers.ts";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type Behaviour, type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	upstream.models(["org/name:7b", "llama3.2:1b"]);
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { renamed: pricedModel(["scripted"]) } },
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

function choicesBytes(json: string): string {
	const bytes = new TextEncoder().encode(json);
	const member = topLevelMembers(bytes).find((candidate) => candidate.key === "choices");
	return member === undefined ? "" : new TextDecoder().decode(bytes.subarray(member.valueStart, member.valueEnd));
}

const ODD: Speech = {
	content: ["", "a\u2028b", 'é"\\/', "\u0000", "1.0", "😀"],
	reasoning: ["hm", ""],
	logprobs: true,
	choices: 2,
};

test.each<[string, Speech]>([
	["tool calls in fragments, two at once", TOOL_SPEECH],
	["empty deltas and odd characters", ODD],
])("the bytes of choices are the upstream's: %s", async (_, speech) => {
	const framings: Behaviour[] = [
		{},
		{ byteByByte: true },
		{ framing: "crlf" },
		{ framing: "cr" },
		{ framing: "comments" },
		{ usage: "every-chunk" },
	];
	for (const behaviour of framings) {
		upstream.next({ speech, ...behaviour });
		const answer = await gate.chat({ model: "renamed", messages: HELLO, n: 2, stream: true });
		const text = await answer.text();
		const ours = text
			.split("\n\n")
			.filter((event) => event.startsWith("data: {"))
			.map((event) => choicesBytes(event.slice(6)));
		expect(ours).toEqual(chunksOf(speech, "scripted").map((chunk) => choicesBytes(JSON.stringify(chunk))));
		expect(text).not.toContain(": keep-alive");
		expect(text).not.toContain("event:");
		expect(text).not.toContain('"scripted"');
	}
	upstream.next({ speech });
	const whole = await (await gate.chat({ model: "renamed", messages: HELLO, n: 2 })).text();
	expect(choicesBytes(whole)).toBe(choicesBytes(JSON.stringify(completionOf(speech, "scripted"))));
});

test("numbers, spaces and key order inside choices stay as they were written", async () => {
	const choices =
		'[ {"index":0, "message":{"role":"assistant","content":"x","score":1.0,"big":12345678901234567890}, "finish_reason":"stop"} ]';
	upstream.next({
		raw: `{"id":"x1","object":"chat.completion","created":1,"model":"other","choices":${choices},"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},"system_fingerprint":"fp"}`,
	});
	const text = await (await gate.chat({ model: "renamed", messages: HELLO })).text();
	expect(text).toContain(`"choices":${choices}`);
	const body = JSON.parse(text);
	expect(body).toMatchObject({ model: "renamed", system_fingerprint: "fp" });
	expect(body.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
});

test("the caller's own bytes go upstream where nothing must change", async () => {
	const messages = '[ {"role":"user","content":"hé\\u00e9llo 1.0"} ]';
	const tools =
		'[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"minimum":1.0,"maximum":12345678901234567890}}}}}]';
	const raw = `{"model":"renamed","messages":${messages},"tools":${tools},"top_k":40,"unknown_key":{"a":1.50}}`;
	const answer = await gate.call("POST", "/chat/completions", raw);
	expect(answer.status).toBe(200);
	const sent = upstream.requests.at(-1);
	expect(sent?.text).toContain(`"messages":${messages}`);
	expect(sent?.text).toContain(`"tools":${tools}`);
	expect(sent?.text).toContain('"unknown_key":{"a":1.50}');
	expect(sent?.body.model).toBe("scripted");
	expect(sent?.complaints).toEqual([]);
});

test("an upstream's ids with : and / work in chat, with a suffix and in GET /models/{id}", async () => {
	for (const id of ["org/name:7b", "llama3.2:1b"]) {
		const answer = await gate.chat({ model: `${id}:enable_web_search=auto`, messages: HELLO });
		expect(answer.status).toBe(200);
		expect(((await answer.json()) as { model: string }).model).toBe(id);
		expect(upstream.requests.at(-1)?.body.model).toBe(id);
		for (const path of [id, encodeURIComponent(id)]) {
			const model = await gate.call("GET", `/models/${path}`);
			expect(model.status).toBe(200);
			expect(((await model.json()) as { id: string }).id).toBe(id);
		}
	}
});
