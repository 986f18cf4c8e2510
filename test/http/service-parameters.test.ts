/** service_parameters, characters, the service's prompt and think blocks: what they do upstream and in the answer. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { loadCharacterData } from "../../src/catalog/index.ts";
import {
	type ChatGateway,
	chatAnswer,
	errorOf,
	HELLO,
	MODEL,
	namedField,
	saidIn,
	startChatGateway,
	streamAnswer,
	verdict,
} from "./chat-gateway.ts";

const SYSTEM_PROMPT = 'You are "Turnpike".\nBe brief: ünïcödé.';
const CHARACTER = "patient-tutor";
const PROMPT =
	loadCharacterData(`${import.meta.dir}/../../catalog/characters.json`).find((one) => one.slug === CHARACTER)?.prompt ?? "";

let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway({ config: { chat: { systemPrompt: SYSTEM_PROMPT } } });
});
afterAll(() => fixture.stop());

const chat = (options: object, part: object = {}) => fixture.gate.chat({ ...HELLO, ...part, service_parameters: options });
const sentMessages = () => fixture.lastSent().body.messages as { role: string; content: string }[];

const DEFAULTS = {
	enable_e2ee: true,
	enable_web_search: "off",
	enable_web_citations: false,
	enable_web_scraping: false,
	include_service_system_prompt: true,
	include_search_results_in_stream: false,
	return_search_results_as_documents: false,
	strip_thinking_response: false,
	disable_thinking: false,
	web_search_citations: [],
};

test("the answer echoes every option with its value, and nothing else", async () => {
	expect((await chatAnswer(fixture.gate.chat(HELLO))).service_parameters).toEqual(DEFAULTS);
	expect((await chatAnswer(chat({}))).service_parameters).toEqual(DEFAULTS);
	const turned = {
		enable_e2ee: false,
		enable_web_citations: true,
		include_service_system_prompt: false,
		include_search_results_in_stream: true,
		return_search_results_as_documents: true,
		strip_thinking_response: true,
		disable_thinking: true,
		character_slug: CHARACTER,
	};
	const asked = { ...turned, enable_x_search: false, unknown_option: "x" };
	expect((await chatAnswer(chat(asked))).service_parameters).toEqual({ ...DEFAULTS, ...turned });
});

test("auto acts as off where there is no search, and the echo says off", async () => {
	expect((await chatAnswer(chat({ enable_web_search: "auto" }))).service_parameters).toEqual(DEFAULTS);
	const hosted = { tools: [{ type: "web_search" }] };
	expect((await chatAnswer(chat({}, hosted))).service_parameters).toEqual(DEFAULTS);
	expect(fixture.lastSent().body).not.toHaveProperty("tools");
});

test("what was asked for outright and is not there is refused with its name", async () => {
	const cases: readonly (readonly [body: object, param: string])[] = [
		[{ service_parameters: { enable_web_search: "on" } }, "service_parameters.enable_web_search"],
		[{ service_parameters: { enable_x_search: true } }, "service_parameters.enable_x_search"],
		[{ model: `${MODEL}:web` }, "service_parameters.enable_web_search"],
		[{ model: `${MODEL}:enable_web_search=on` }, "service_parameters.enable_web_search"],
	];
	for (const [body, param] of cases) expect(await namedField(fixture.gate.chat({ ...HELLO, ...body }))).toBe(`400 ${param}`);
});

test("options of a wrong type are refused by their path", async () => {
	for (const flag of Object.keys(DEFAULTS).filter((key) => key !== "web_search_citations" && key !== "enable_web_search"))
		for (const value of ["true", 1, {}, []])
			expect(`${flag}=${JSON.stringify(value)}: ${await namedField(chat({ [flag]: value }))}`).toBe(
				`${flag}=${JSON.stringify(value)}: 400 service_parameters.${flag}`,
			);
	for (const value of [true, "ON", "", 1])
		expect(await namedField(chat({ enable_web_search: value }))).toBe("400 service_parameters.enable_web_search");
	for (const slug of ["", 7, "x".repeat(201)])
		expect(await namedField(chat({ character_slug: slug }))).toBe("400 service_parameters.character_slug");
});

test("a suffix sets options, the body wins over it, and the answer names the bare model", async () => {
	const model = `${MODEL}:strip_thinking_response=true&include_service_system_prompt=false`;
	const answer = await chatAnswer(fixture.gate.chat({ ...HELLO, model }));
	expect(answer.model).toBe(MODEL);
	expect(answer.service_parameters).toMatchObject({ strip_thinking_response: true, include_service_system_prompt: false });
	const both = await chatAnswer(chat({ strip_thinking_response: false }, { model }));
	expect(both.service_parameters).toMatchObject({ strip_thinking_response: false, include_service_system_prompt: false });
	const cases: readonly (readonly [ref: string, outcome: string])[] = [
		[`${MODEL}:strip_thinking_response=yes`, "400 INVALID_REQUEST"],
		[`${MODEL}:strip_thinking_response=true&nothing=1`, "400 INVALID_REQUEST"],
		[`${MODEL}:strip_thinking_response`, "404 MODEL_NOT_FOUND"],
		[`${MODEL}:nothing=1`, "404 MODEL_NOT_FOUND"],
		[`${MODEL}:`, "404 MODEL_NOT_FOUND"],
		[":web", "404 MODEL_NOT_FOUND"],
	];
	for (const [ref, outcome] of cases)
		expect(`${ref} ${await verdict(fixture.gate.chat({ ...HELLO, model: ref }))}`).toBe(`${ref} ${outcome}`);
});

test("a stream carries the echo in its first chunk where results are wanted in it, else nowhere", async () => {
	for (const more of [{}, { strip_thinking_response: true }]) {
		const wanted = await streamAnswer(chat({ include_search_results_in_stream: true, ...more }, { stream: true }));
		expect(wanted.chunks[0]?.service_parameters).toEqual({ ...DEFAULTS, include_search_results_in_stream: true, ...more });
		expect(wanted.chunks.slice(1).some((chunk) => "service_parameters" in chunk)).toBe(false);
		const plain = await streamAnswer(chat(more, { stream: true }));
		expect(plain.chunks.some((chunk) => "service_parameters" in chunk)).toBe(false);
		for (const stream of [wanted, plain]) expect(stream.done).toBe(true);
	}
});

test("the service's prompt goes before the caller's messages, unless the caller leaves it out", async () => {
	const messages = [
		{ role: "system", content: "mine" },
		{ role: "user", content: "hello" },
	];
	await chat({}, { messages });
	expect(sentMessages()).toEqual([{ role: "system", content: SYSTEM_PROMPT }, ...messages]);
	await chat({ include_service_system_prompt: false }, { messages });
	expect(sentMessages()).toEqual(messages);
	for (const stream of [true, false]) {
		const text = await (await chat({}, { messages, stream })).text();
		expect(text).not.toContain("Turnpike");
	}
});

test("a character's prompt goes between the service's and the caller's, and never into an answer", async () => {
	expect(PROMPT.length).toBeGreaterThan(100);
	const messages = [
		{ role: "system", content: "mine" },
		{ role: "user", content: "hello" },
	];
	for (const stream of [false, true]) {
		const answer = await chat({ character_slug: CHARACTER, include_search_results_in_stream: true }, { messages, stream });
		const text = await answer.text();
		expect(sentMessages()).toEqual([
			{ role: "system", content: SYSTEM_PROMPT },
			{ role: "system", content: PROMPT },
			...messages,
		]);
		expect(text).toContain(`"character_slug":"${CHARACTER}"`);
		expect(text).not.toContain(PROMPT.slice(0, 40));
	}
	expect(fixture.lastSent().complaints).toEqual([]);
});

test("an unknown character is a 404 of its own, and nothing goes upstream", async () => {
	const before = fixture.upstream.requests.length;
	const answer = await chat({ character_slug: "nobody" });
	expect(answer.status).toBe(404);
	const { error, code } = await errorOf(answer);
	expect(code).toBe("CHARACTER_NOT_FOUND");
	expect(error.message).toContain("nobody");
	expect(await verdict(fixture.gate.chat({ ...HELLO, model: `${MODEL}:character_slug=nobody` }))).toBe("404 CHARACTER_NOT_FOUND");
	expect(fixture.upstream.requests).toHaveLength(before);
});

const THOUGHTS: readonly (readonly [name: string, pieces: readonly string[], kept: string])[] = [
	["whole in one piece", ["<think>a b</think>\n\nYes"], "Yes"],
	["tags in pieces of their own", ["<think>", "a", "</think>", "\n", "Yes"], "Yes"],
	["tags split over pieces", ["<th", "ink>a", " b</", "thi", "nk>", "\n\nY", "es"], "Yes"],
	["one character a piece", [..."<think>a<b</think>Yes"], "Yes"],
	["something that only begins like a tag", ["1 <", " 2 <thi", "s> <th"], "1 < 2 <this> <th"],
	["two blocks", ["A<think>x</think>B", "<think>y</think>C"], "ABC"],
	["a block that never ends", ["A<think>x y"], "A"],
	["nothing to strip", ["Yes"], "Yes"],
	["text in which a character needs two code units", ["<think>😀</think>", "😀 ok"], "😀 ok"],
];

for (const [name, content, kept] of THOUGHTS)
	test(`strip_thinking_response takes think blocks out of the content: ${name}`, async () => {
		for (const option of [{ strip_thinking_response: true }, { disable_thinking: true }]) {
			fixture.upstream.next({ speech: { content } }, { speech: { content } });
			expect((await chatAnswer(chat(option))).choices[0]?.message.content).toBe(kept);
			const stream = await streamAnswer(chat(option, { stream: true }));
			expect(saidIn(stream)).toBe(kept);
			expect(stream.done).toBe(true);
		}
		fixture.upstream.next({ speech: { content } });
		expect((await chatAnswer(fixture.gate.chat(HELLO))).choices[0]?.message.content).toBe(content.join(""));
	});

test("think blocks of several choices are told apart", async () => {
	const speech = { content: ["<thi", "nk>a</thi", "nk>Yes"], choices: 3 };
	fixture.upstream.next({ speech });
	const stream = await streamAnswer(chat({ strip_thinking_response: true }, { stream: true, n: 3 }));
	const said = [0, 1, 2].map((index) =>
		stream.chunks
			.flatMap((chunk) => chunk.choices)
			.filter((choice) => choice.index === index)
			.map((choice) => choice.delta.content ?? "")
			.join(""),
	);
	expect(said).toEqual(["Yes", "Yes", "Yes"]);
});

test("stripped thoughts are paid for all the same", async () => {
	const speech = { content: ["<think>", "long", "</think>", "Yes"] };
	fixture.upstream.next({ speech }, { speech });
	const plain = await chatAnswer(fixture.gate.chat(HELLO));
	const stripped = await chatAnswer(chat({ strip_thinking_response: true }));
	expect(stripped.usage).toEqual(plain.usage);
});

test("disable_thinking turns the reasoning fields off upstream", async () => {
	await chat({ disable_thinking: true }, { reasoning_effort: "high", reasoning: { effort: "high" } });
	for (const key of ["reasoning_effort", "reasoning"]) expect(fixture.lastSent().body).not.toHaveProperty(key);
	await fixture.gate.chat({ ...HELLO, reasoning_effort: "high", reasoning: { enabled: false } });
	for (const key of ["reasoning_effort", "reasoning"]) expect(fixture.lastSent().body).not.toHaveProperty(key);
});
