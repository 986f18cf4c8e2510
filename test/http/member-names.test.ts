/** Names of members in another spelling: servers that read them without case would obey what was never checked. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NOT_THE_CALLERS } from "../../src/completions/forwarded-members.ts";
import { ChatBodySchema } from "../../src/completions/index.ts";
import { type ChatGateway, errorOf, MODEL, namedField, startChatGateway, verdict } from "./chat-gateway.ts";

let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway();
});
afterAll(() => fixture.stop());

const post = (body: string, path = "/chat/completions") =>
	fetch(`${fixture.gate.url}/api/v1${path}`, {
		method: "POST",
		headers: { authorization: `Bearer ${fixture.gate.key}`, "content-type": "application/json" },
		body,
	});
const USER = '{"role":"user","content":"hello"}';
/** A chat body with more members at its end. */
const chat = (more: string, messages = USER) => `{"model":"${MODEL}","messages":[${messages}]${more === "" ? "" : `,${more}`}}`;
const refusedBeforeUpstream = async (body: string, field: string, path?: string) => {
	const before = fixture.upstream.requests.length;
	expect({ body, told: await namedField(post(body, path)) }).toEqual({ body, told: `400 ${field}` });
	expect(fixture.upstream.requests).toHaveLength(before);
};

describe("a chat body's member in another spelling is 400 and named", () => {
	test("each field of ours and each that is dropped", async () => {
		for (const name of [
			...Object.keys(ChatBodySchema.properties),
			...NOT_THE_CALLERS,
			"chat_template_kwargs",
			"repeat_penalty",
		]) {
			const odd = `${name[0]?.toUpperCase()}${name.slice(1)}`;
			await refusedBeforeUpstream(chat(`"${odd}":1`), odd);
			await refusedBeforeUpstream(chat(`"${name.toUpperCase()}":null`), name.toUpperCase());
		}
	});

	test("whatever folding, escape or end of a C string hides it", async () => {
		for (const name of [
			"max_to\u212aens",
			"max_complet\u0130on_tokens",
			"M\u0130N_P",
			"\u017ftore",
			"\\u004dodel",
			"max_tokens\\u0000",
			"max_tokens\\u0000x",
			"m\\u004fdel",
		])
			await refusedBeforeUpstream(chat(`"${name}":90000`), JSON.parse(`"${name}"`));
	});

	test("at every depth that an upstream reads", async () => {
		const call = (inner: string) => `{"role":"assistant","tool_calls":[{"id":"1","type":"function",${inner}}]}`;
		const tool = (inner: string) => `"tools":[{"type":"function","function":{"name":"f",${inner}}}]`;
		const part = (inner: string) => `{"role":"user","content":[{"type":"text","text":"a"},{${inner}}]}`;
		const cases: readonly (readonly [body: string, field: string])[] = [
			[chat("", '{"role":"user","content":"a","Content":"b"}'), "messages[0].Content"],
			[chat("", `${USER},{"role":"user","Role":"system","content":"b"}`), "messages[1].Role"],
			[
				chat("", `${USER},${call('"function":{"name":"f","arguments":"{}","Arguments":"{}"}')}`),
				"messages[1].tool_calls[0].function.Arguments",
			],
			[chat("", `${USER},${call('"Function":{"name":"f"}')}`), "messages[1].tool_calls[0].Function"],
			[chat("", `${USER},{"role":"assistant","content":"x","Reasoning":"y"}`), "messages[1].Reasoning"],
			[
				chat("", part('"type":"image_url","image_url":{"url":"https://example.com/a.png","URL":"http://127.0.0.1/"}')),
				"messages[0].content[1].image_url.URL",
			],
			[chat("", part('"type":"text","text":"x","Image_url":{"url":"http://127.0.0.1/"}')), "messages[0].content[1].Image_url"],
			[
				chat("", part('"type":"input_audio","input_audio":{"data":"AAAA","Data":"AAAA"}')),
				"messages[0].content[1].input_audio.Data",
			],
			[
				chat("", part('"type":"file","file":{"file_data":"data:text/plain;base64,YQ==","File_Data":"x"}')),
				"messages[0].content[1].file.File_Data",
			],
			[chat(tool('"Parameters":{}')), "tools[0].function.Parameters"],
			[chat('"tools":[{"function":{"name":"f"},"Type":"web_search"}]'), "tools[0].Type"],
			[chat('"stream_options":{"include_usage":true,"Include_Usage":false}'), "stream_options.Include_Usage"],
			[chat('"reasoning":{"effort":"low","Effort":"high"}'), "reasoning.Effort"],
			[
				chat('"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{},"Schema":{}}}'),
				"response_format.json_schema.Schema",
			],
			[chat('"response_format":{"type":"text","Type":"json_object"}'), "response_format.Type"],
			[chat('"service_parameters":{"Strip_thinking_response":true}'), "service_parameters.Strip_thinking_response"],
		];
		for (const [body, field] of cases) await refusedBeforeUpstream(body, field);
	});

	test("the refusal says how the name is written", async () => {
		const { error } = await errorOf(post(chat('"Max_Tokens":5')));
		expect(error.message).toBe("Max_Tokens: is 'max_tokens' in another spelling; write 'max_tokens'");
	});

	test("a body whose long strings are cut for parsing is looked at too", async () => {
		const long = `{"role":"user","content":"${"a".repeat(5_000_000)}"}`;
		await refusedBeforeUpstream(chat('"Model":"dear"', long), "Model");
		expect(await verdict(post(chat("", long)))).toBe("200");
	});
});

test("a known member that stands twice below the top level is 400 and named", async () => {
	await refusedBeforeUpstream(chat("", '{"role":"user","content":"a","content":"b"}'), "messages[0].content");
	await refusedBeforeUpstream(chat("", '{"role":"user","content":"a","c\\u006fntent":"b"}'), "messages[0].content");
	await refusedBeforeUpstream(chat('"tools":[{"function":{"name":"f"},"function":{"name":"g"}}]'), "tools[0].function");
	expect(await verdict(post(chat("", `${USER},${USER}`)))).toBe("200");
});

test("other routes refuse other spellings too", async () => {
	const responses = (more: string) => `{"model":"${MODEL}","input":"hello",${more}}`;
	await refusedBeforeUpstream(responses('"Max_Output_Tokens":9'), "Max_Output_Tokens", "/responses");
	await refusedBeforeUpstream(
		responses('"text":{"format":{"type":"json_schema","name":"a","schema":{},"Schema":{}}}'),
		"text.format.Schema",
		"/responses",
	);
	const items = `{"model":"${MODEL}","input":[{"role":"user","content":[{"type":"input_text","text":"a","Text":"b"}]}]}`;
	await refusedBeforeUpstream(items, "input[0].content[0].Text", "/responses");
	await refusedBeforeUpstream('{"model":"all-minilm-l6-v2","input":"a","Input":"b"}', "Input", "/embeddings");
	await refusedBeforeUpstream('{"input":"a","Model":"b"}', "Model", "/audio/speech");
	await refusedBeforeUpstream('{"prompt":"a","N":8}', "N", "/images/generations");
	for (const path of ["/messages", "/messages/count_tokens"]) {
		const body = `{"model":"${MODEL}","max_tokens":5,"messages":[${USER}],"Messages":[]}`;
		const answer = await post(body, path);
		expect(answer.status).toBe(400);
		expect(JSON.stringify(await answer.json())).toContain("Messages: is 'messages' in another spelling");
	}
});

test("what is free stays free: schemas of tools, metadata, unknown members, values of theirs", async () => {
	const schema = '{"type":"object","Type":1,"properties":{"Name":{"TYPE":"string"},"name":{"type":"string"},"NAME":{}}}';
	const body = chat(
		[
			`"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]`,
			`"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":${schema}}}`,
			'"metadata":{"Model":"a","model":"b","MODEL":"c"}',
			'"logit_bias":{"1":2}',
			'"my_extra":{"Model":1,"model":2,"model":3}',
			'"My_Extra":1',
			'"chat_template_kwargs":{"Model":1}',
		].join(","),
		`{"role":"user","content":"Model","Foo":{"Role":1},"foo":2},{"role":"assistant","content":"","reasoning_details":[{"Type":1,"type":2}]},${USER}`,
	);
	expect(await verdict(post(body))).toBe("200");
	const input = '{"type":"tool_use","id":"1","name":"f","input":{"Model":1,"model":2}}';
	const messages = `{"model":"${MODEL}","max_tokens":5,"messages":[${USER},{"role":"assistant","content":[${input}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`;
	expect(await verdict(post(messages, "/messages"))).toBe("200");
});
