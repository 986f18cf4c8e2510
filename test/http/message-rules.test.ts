/** Rules of messages, parts, tools and response formats (what a schema alone cannot say, too). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatGateway, HELLO, MODEL, modelEntry, namedField, startChatGateway, verdict } from "./chat-gateway.ts";

let fixture: ChatGateway;
const BLIND = "blind-model";
const SEEING = "seeing-model";
const ONE_IMAGE = "one-image-model";

beforeAll(async () => {
	const none = {
		supportsVision: false,
		supportsAudioInput: false,
		supportsVideoInput: false,
		supportsFunctionCalling: false,
		supportsResponseSchema: false,
		supportsReasoningEffort: false,
	};
	fixture = await startChatGateway({
		models: {
			[BLIND]: modelEntry({ price: { input: 0, output: 0 }, capabilities: none }),
			[ONE_IMAGE]: modelEntry({
				price: { input: 0, output: 0 },
				capabilities: { supportsVision: true, supportsMultipleImages: false },
			}),
			[SEEING]: modelEntry({
				price: { input: 0, output: 0 },
				capabilities: {
					supportsVision: true,
					maxImages: 2,
					supportsReasoningEffort: true,
					reasoningEffortOptions: ["low", "high"],
				},
			}),
		},
	});
});
afterAll(() => fixture.stop());

const chat = (part: object) => fixture.gate.chat({ ...HELLO, ...part });
const ask = (...messages: readonly unknown[]) => namedField(chat({ messages }));
/** The outcome for one user message of these parts. */
const parts = (...content: readonly unknown[]) => ask({ role: "user", content });

const user = { role: "user", content: "hello" };
const call = (id?: string) => ({
	role: "assistant",
	tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
});
const result = (id: unknown, content: unknown = "4") => ({ role: "tool", tool_call_id: id, content });
const text = { type: "text", text: "hello" };

/** The header of a PNG of that size: what is checked of an image. */
function png(width: number, height: number): string {
	const bytes = Buffer.alloc(64);
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(bytes);
	bytes.writeUInt32BE(width, 16);
	bytes.writeUInt32BE(height, 20);
	return `data:image/png;base64,${bytes.toString("base64")}`;
}
const image = (url: unknown, more: object = {}) => ({ type: "image_url", image_url: { url }, ...more });
const audio = (part: object) => ({ type: "input_audio", input_audio: { data: "UklGRg==", ...part } });
const video = (url: unknown) => ({ type: "video_url", video_url: { url } });

const TAKEN: Readonly<Record<string, readonly unknown[]>> = {
	"an empty text of a user": [{ role: "user", content: "" }],
	"a name, and null for a name": [
		{ ...user, name: "ann" },
		{ ...user, name: null },
	],
	"keys of a message that nobody knows": [{ ...user, mood: "good" }],
	"system and developer as text and as text parts": [
		{ role: "system", content: "be kind" },
		{ role: "developer", content: [text] },
		user,
	],
	"an assistant message with calls only": [user, call("a"), result("a")],
	"an assistant message with null content and calls": [user, { ...call("a"), content: null }, result("a")],
	"an assistant message with an empty text": [user, { role: "assistant", content: "" }, user],
	"what a model gave back: reasoning and signatures": [
		user,
		{
			role: "assistant",
			content: "4",
			reasoning_content: "2+2",
			reasoning_details: [{ type: "reasoning.text", text: "2+2" }],
			thought_signature: "abc",
			tool_calls: [],
		},
		user,
	],
	"two parallel calls answered in the other order": [
		user,
		{ role: "assistant", tool_calls: [...call("a").tool_calls, ...call("b").tool_calls] },
		result("b"),
		result("a", [text]),
	],
	"a call answered a few messages later": [user, call("a"), user, { role: "assistant", content: "x" }, result("a")],
	"a part with cache_control": [{ role: "user", content: [{ ...text, cache_control: { type: "ephemeral", ttl: "1h" } }] }],
	"an empty text part": [{ role: "user", content: [{ type: "text", text: "" }] }],
	"an image of a public address, detail or not": [
		{ role: "user", content: [text, image("https://img.example/a.png"), image("http://8.8.8.8/a.png", { detail: "low" })] },
	],
	"an image of data": [{ role: "user", content: [image(png(64, 64))] }],
	"audio of every format": ["wav", "mp3", "aiff", "aac", "ogg", "flac", "m4a", "pcm16", "pcm24", undefined].map((format) => ({
		role: "user",
		content: [audio(format === undefined ? {} : { format })],
	})),
	"three videos": [{ role: "user", content: Array(3).fill(video("https://v.example/a.mp4")) }],
};

for (const [name, messages] of Object.entries(TAKEN))
	test(`takes ${name}, and sends it on as it came`, async () => {
		expect(await ask(...messages)).toBe("200");
		expect(fixture.lastSent().complaints).toEqual([]);
		const sent = fixture.lastSent().body.messages as { role: string }[];
		expect(sent).toEqual(JSON.parse(JSON.stringify(messages).replaceAll('"role":"developer"', '"role":"system"')));
	});

const REFUSED: readonly (readonly [name: string, messages: readonly unknown[], param: string])[] = [
	["a role that does not exist", [{ role: "robot", content: "x" }], "messages[0].role"],
	["no role", [{ content: "x" }], "messages[0].role"],
	["a user without content", [{ role: "user" }], "messages[0].content"],
	["a user with null", [{ role: "user", content: null }], "messages[0].content"],
	["content that is a number", [user, { role: "user", content: 5 }], "messages[1].content"],
	["an empty list of parts", [{ role: "user", content: [] }], "messages[0].content"],
	["an empty list of parts of a system message", [{ role: "system", content: [] }, user], "messages[0].content"],
	["an image part of a system message", [{ role: "system", content: [image(png(64, 64))] }, user], "messages[0].content[0].text"],
	["a name that is a number", [{ ...user, name: 5 }], "messages[0].name"],
	["an assistant message that says nothing", [user, { role: "assistant" }], "messages[1].content"],
	[
		"an assistant message of null and no calls",
		[user, { role: "assistant", content: null, tool_calls: [] }],
		"messages[1].content",
	],
	["a tool result without an id", [user, call("a"), { role: "tool", content: "4" }], "messages[2].tool_call_id"],
	["a tool result that answers no call", [user, call("a"), result("b")], "messages[2].tool_call_id"],
	["a tool result before its call", [user, result("a"), call("a")], "messages[1].tool_call_id"],
	["a tool result with an id that is a number", [user, call("a"), result(5)], "messages[2].tool_call_id"],
	["a tool result without content", [user, call("a"), { role: "tool", tool_call_id: "a" }], "messages[2].content"],
	["a part of an unknown type", [{ role: "user", content: [text, { type: "smell" }] }], "messages[0].content[1].type"],
	["a part that is text", [{ role: "user", content: ["hello"] }], "messages[0].content[0]"],
	["a text part without text", [{ role: "user", content: [{ type: "text" }] }], "messages[0].content[0].text"],
	[
		"a cache_control of another type",
		[{ role: "user", content: [{ ...text, cache_control: { type: "forever" } }] }],
		"messages[0].content[0].cache_control.type",
	],
	[
		"an image part with a text for a URL object",
		[{ role: "user", content: [{ type: "image_url", image_url: "x" }] }],
		"messages[0].content[0].image_url",
	],
];

test("what is no message is refused by its place", async () => {
	const before = fixture.upstream.requests.length;
	for (const [name, messages, param] of REFUSED) expect(`${name}: ${await ask(...messages)}`).toBe(`${name}: 400 ${param}`);
	expect(fixture.upstream.requests).toHaveLength(before);
});

const URL_PARAM = "messages[0].content[0].image_url.url";
const MEDIA: readonly (readonly [name: string, part: object, verdict: string])[] = [
	["63 pixels", image(png(63, 64)), "400 IMAGE_TOO_SMALL"],
	["63 pixels high", image(png(64, 63)), "400 IMAGE_TOO_SMALL"],
	["the most pixels", image(png(7680, 4320)), "200"],
	["a row of pixels too many", image(png(7680, 4321)), "422 IMAGE_TOO_LARGE"],
	["sides that overflow 32 bits", image(png(0xffffffff, 0xffffffff)), "422 IMAGE_TOO_LARGE"],
	["no image at all", image("data:image/png;base64,aGVsbG8gd29ybGQgaGVsbG8="), "400 CORRUPTED_IMAGE"],
	[
		"a cut-off PNG",
		image(`data:image/png;base64,${Buffer.from("89504e470d0a1a0a00000000", "hex").toString("base64")}`),
		"400 CORRUPTED_IMAGE",
	],
	["an empty image", image("data:image/png;base64,"), "400 CORRUPTED_IMAGE"],
	["data of another kind", image("data:text/plain;base64,aGVsbG8="), "400 INVALID_REQUEST"],
	["data that is not base64", image("data:image/png,abc"), "400 INVALID_REQUEST"],
	["no URL", image("cat.png"), "400 INVALID_REQUEST"],
	["an empty URL", image(""), "400 INVALID_REQUEST"],
	["another scheme", image("ftp://img.example/a.png"), "400 INVALID_REQUEST"],
	["a file", image("file:///etc/passwd"), "400 INVALID_REQUEST"],
	["audio as a URL in place of data", { type: "input_audio", input_audio: { data: "", format: "wav" } }, "400 INVALID_REQUEST"],
	["audio of another format", audio({ format: "midi" }), "400 INVALID_REQUEST"],
];

test("media are judged by their header and their address", async () => {
	for (const [name, part, expected] of MEDIA)
		expect(`${name}: ${await verdict(chat({ messages: [{ role: "user", content: [part] }] }))}`).toBe(`${name}: ${expected}`);
});

test("no caller points the service at a private address", async () => {
	const hosts = [
		"localhost",
		"LOCALHOST",
		"api.localhost",
		"printer.local",
		"127.0.0.1",
		"127.1",
		"2130706433",
		"0x7f.0.0.1",
		"0177.0.0.1",
		"0.0.0.0",
		"10.1.2.3",
		"172.16.0.1",
		"192.168.1.1",
		"169.254.169.254",
		"100.64.0.1",
		"224.0.0.1",
		"[::1]",
		"[::]",
		"[fd00::1]",
		"[fe80::1]",
		"[::ffff:127.0.0.1]",
		"[::ffff:10.0.0.1]",
		"[64:ff9b::7f00:1]",
	];
	for (const host of hosts) expect(`${host}: ${await parts(image(`http://${host}/a.png`))}`).toBe(`${host}: 400 ${URL_PARAM}`);
	for (const host of ["img.example", "8.8.8.8", "[2606:4700::1111]", "172.32.0.1", "localhost.example"])
		expect(`${host}: ${await parts(image(`https://${host}/a.png`))}`).toBe(`${host}: 200`);
});

test("a model that lacks an ability refuses what needs it; one of which nothing is known does not", async () => {
	const tools = [{ type: "function", function: { name: "f" } }];
	const format = { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } };
	const cases: readonly (readonly [body: object, param: string])[] = [
		[{ messages: [{ role: "user", content: [image(png(64, 64))] }] }, "messages[0].content[0].type"],
		[{ messages: [{ role: "user", content: [audio({})] }] }, "messages[0].content[0].type"],
		[{ messages: [{ role: "user", content: [video("https://v.example/a.mp4")] }] }, "messages[0].content[0].type"],
		[{ tools }, "tools"],
		[{ response_format: format }, "response_format"],
		[{ reasoning_effort: "low" }, "reasoning_effort"],
		[{ reasoning: { effort: "low" } }, "reasoning.effort"],
	];
	for (const [part, param] of cases) {
		expect(`${JSON.stringify(part)} ${await namedField(chat({ model: BLIND, ...part }))}`).toBe(
			`${JSON.stringify(part)} 400 ${param}`,
		);
		expect(await namedField(chat(part))).toBe("200");
	}
	expect(await namedField(chat({ model: BLIND, response_format: { type: "json_object" } }))).toBe("200");
});

test("images, videos and efforts stay within what the model names", async () => {
	const images = (count: number) => ({ messages: [{ role: "user", content: Array(count).fill(image(png(64, 64))) }] });
	expect(await namedField(chat({ model: SEEING, ...images(2) }))).toBe("200");
	expect(await namedField(chat({ model: SEEING, ...images(3) }))).toBe("400 messages");
	expect(await parts(...Array(4).fill(video("https://v.example/a.mp4")))).toBe("400 messages");
	for (const [effort, outcome] of [
		["low", "200"],
		["medium", "400 reasoning_effort"],
	] as const)
		expect(await namedField(chat({ model: SEEING, reasoning_effort: effort }))).toBe(outcome);
	// The top-level effort wins: the nested one is not judged.
	expect(await namedField(chat({ model: SEEING, reasoning_effort: "high", reasoning: { effort: "max" } }))).toBe("200");
	expect(fixture.lastSent().body.reasoning_effort).toBe("high");
});

const F = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } };
const TOOLS: readonly (readonly [name: string, body: object, outcome: string])[] = [
	["a function", { tools: [F] }, "200"],
	["a function without a type", { tools: [{ function: { name: "f" } }] }, "200"],
	[
		"nulls inside a function",
		{ tools: [{ type: null, id: null, function: { name: "f", description: null, parameters: null, strict: null } }] },
		"200",
	],
	["auto, none and required", { tools: [F], tool_choice: "required" }, "200"],
	["a choice of the function", { tools: [F], tool_choice: { type: "function", function: { name: "f" } } }, "200"],
	["a function without a name", { tools: [{ type: "function", function: {} }] }, "400 tools[0].function.name"],
	["an empty name", { tools: [{ type: "function", function: { name: "" } }] }, "400 tools[0].function.name"],
	[
		"parameters that are text",
		{ tools: [{ type: "function", function: { name: "f", parameters: "{}" } }] },
		"400 tools[0].function.parameters",
	],
	["another type without a function", { tools: [{ type: "code_interpreter" }] }, "400 tools[0].function"],
	["required without tools", { tool_choice: "required" }, "400 tool_choice"],
	["another word", { tools: [F], tool_choice: "always" }, "400 tool_choice"],
	[
		"a choice of a function that is not there",
		{ tools: [F], tool_choice: { type: "function", function: { name: "g" } } },
		"400 tool_choice.function.name",
	],
	["a choice without a function", { tools: [F], tool_choice: { type: "function" } }, "400 tool_choice.function"],
	["hosted web search, which acts as off", { tools: [{ type: "web_search" }] }, "200"],
	["hosted X search", { tools: [{ type: "x_search" }] }, "400 tools"],
];

test("tools and tool_choice: what is taken reaches the upstream as OpenAI writes it", async () => {
	for (const [name, body, outcome] of TOOLS) {
		expect(`${name}: ${await namedField(chat(body))}`).toBe(`${name}: ${outcome}`);
		expect(fixture.lastSent().complaints).toEqual([]);
	}
});

const SCHEMA = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const FORMATS: readonly (readonly [format: unknown, outcome: string])[] = [
	[{ type: "text" }, "200"],
	[{ type: "json_object" }, "200"],
	[{ type: "json_schema", json_schema: SCHEMA }, "200"],
	[{ type: "json_schema", json_schema: { name: "a", strict: true, schema: SCHEMA } }, "200"],
	[{ type: "text", extra: 1 }, "400 response_format.extra"],
	[{ type: "json_object", json_schema: {} }, "200"],
	[{ type: "json_object", extra: 1 }, "400 response_format.extra"],
	[{ type: "json_schema", json_schema: SCHEMA, strict: true }, "400 response_format.strict"],
	[{ type: "json_schema" }, "400 response_format.json_schema"],
	[{ type: "json_schema", json_schema: "{}" }, "400 response_format.json_schema"],
	[{ type: "xml" }, "400 response_format.type"],
	[{}, "400 response_format.type"],
];

test("response_format takes its three closed forms", async () => {
	for (const [format, outcome] of FORMATS)
		expect(`${JSON.stringify(format)}: ${await namedField(chat({ response_format: format }))}`).toBe(
			`${JSON.stringify(format)}: ${outcome}`,
		);
});

test("a bare JSON schema goes upstream wrapped, a wrapped one as it is", async () => {
	await chat({ response_format: { type: "json_schema", json_schema: SCHEMA } });
	expect(fixture.lastSent().body.response_format).toEqual({
		type: "json_schema",
		json_schema: { name: "response", schema: SCHEMA },
	});
	const wrapped = { type: "json_schema", json_schema: { name: "a", strict: true, schema: SCHEMA } };
	await chat({ response_format: wrapped });
	expect(fixture.lastSent().body.response_format).toEqual(wrapped);
});

test("a thousand faulty messages give an answer of a bounded size", async () => {
	const answer = await chat({ model: MODEL, messages: Array(1000).fill({ role: "user", content: [{ type: "text" }] }) });
	expect(answer.status).toBe(400);
	expect((await answer.text()).length).toBeLessThan(10_000);
});

test("a model that takes one image gets those of the last message that has any", async () => {
	const first = { role: "user", content: [text, image("https://i.example/1.png")] };
	const second = { role: "user", content: [image("https://i.example/2.png")] };
	const third = { role: "user", content: [image("https://i.example/3.png"), text, image("https://i.example/4.png")] };
	const reply = { role: "assistant", content: "seen" };
	const messages = [first, reply, second, reply, third, reply, user];
	expect(await namedField(chat({ model: ONE_IMAGE, messages }))).toBe("200");
	expect(fixture.lastSent().body.messages).toEqual([
		{ role: "user", content: [text] },
		reply,
		{ role: "user", content: "" },
		reply,
		third,
		reply,
		user,
	]);
	// What is left out is not looked at; what stays is.
	const small = { role: "user", content: [image(png(8, 8))] };
	expect(await namedField(chat({ model: ONE_IMAGE, messages: [small, second] }))).toBe("200");
	expect(await namedField(chat({ model: ONE_IMAGE, messages: [second, small] }))).toBe(
		"400 messages[1].content[0].image_url.url",
	);
	expect(await namedField(chat({ messages }))).toBe("200");
	expect(fixture.lastSent().body.messages).toEqual(messages);
});

test("audio and video are read as far as their headers", async () => {
	const wav = Buffer.from("RIFF\0\0\0\0WAVEfmt ").toString("base64");
	const noise = Buffer.alloc(32, 1).toString("base64");
	const verdictOf = async (part: object) => {
		const answer = await chat({ messages: [{ role: "user", content: [part] }] });
		return answer.status === 200 ? "200" : ((await answer.json()) as { code: string }).code;
	};
	expect(await verdictOf(audio({ data: wav }))).toBe("200");
	expect(await verdictOf(audio({ data: wav, format: "mp3" }))).toBe("INVALID_AUDIO_FORMAT");
	expect(await verdictOf(audio({ data: noise }))).toBe("INVALID_AUDIO_FORMAT");
	expect(await verdictOf(audio({ data: "https://a.example/a.wav" }))).toBe("INVALID_AUDIO_FORMAT");
	expect(await verdictOf(audio({ data: noise, format: "pcm16" }))).toBe("200");
	const mp4 = Buffer.from("\0\0\0\x18ftypmp42").toString("base64");
	expect(await verdictOf(video(`data:video/mp4;base64,${mp4}`))).toBe("200");
	expect(await verdictOf(video(`data:video/mp4;base64,${noise}`))).toBe("INVALID_VIDEO_FORMAT");
});
