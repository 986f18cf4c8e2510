import { afterAll, beforeAll, expect, test } from "bun:test";
import { readyEncoder, ScriptedSpeechEngine } from "../../../test/support/audio-engines.ts";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";

let gate: RunningGateway;
const engine = new ScriptedSpeechEngine();

beforeAll(async () => {
	gate = await startGateway({
		audio: { speech: engine, encoder: await readyEncoder() },
		config: { limits: { failedRequests: 0, audioRequestsPerMinute: 1_000 } },
	});
});
afterAll(() => gate.stop());

interface Refusal {
	readonly error: { readonly message: string; readonly param: string | null; readonly type: string; readonly code: string };
	readonly code: string;
}

async function refusalOf(body: unknown): Promise<Refusal> {
	const response = await gate.call("POST", "/audio/speech", body);
	expect(response.status).toBe(400);
	return (await response.json()) as Refusal;
}

test.each([
	["no text", { input: "" }, "input"],
	["no input", {}, "input"],
	["a text that is none", { input: 7 }, "input"],
	["only white space", { input: " \n\t\u00a0 " }, "input"],
	["only control characters", { input: "\u0000\u0007\u200b" }, "input"],
	["only lone surrogates", { input: "\ud800\udc00\ud800".slice(2) }, "input"],
	["only emoji", { input: "😀🎉" }, "input"],
	["4097 characters", { input: "a".repeat(4097) }, "input"],
	["4097 characters of several code units", { input: "👩".repeat(4097) }, "input"],
	["4097 marks on one letter", { input: `a${"\u0301".repeat(4096)}` }, "input"],
	["an unknown format", { input: "Hi.", response_format: "ogg" }, "response_format"],
	["too slow", { input: "Hi.", speed: 0.24 }, "speed"],
	["too fast", { input: "Hi.", speed: 4.01 }, "speed"],
	["a speed in words", { input: "Hi.", speed: "1" }, "speed"],
	["streaming in words", { input: "Hi.", streaming: "true" }, "streaming"],
	["a language of one letter", { input: "Hi.", language: "e" }, "language"],
	["a language of 33 letters", { input: "Hi.", language: "e".repeat(33) }, "language"],
	["a prompt of 501 characters", { input: "Hi.", prompt: "p".repeat(501) }, "prompt"],
	["too warm", { input: "Hi.", temperature: 2.1 }, "temperature"],
	["top_p above 1", { input: "Hi.", top_p: 1.1 }, "top_p"],
	["an unknown voice", { input: "Hi.", voice: "nobody" }, "voice"],
	["an empty voice", { input: "Hi.", voice: "" }, "voice"],
	["a voice that is an object", { input: "Hi.", voice: { id: "x" } }, "voice"],
	["a voice of another model", { input: "Hi.", voice: "tara" }, "voice"],
	["an unknown model", { input: "Hi.", model: "tts-nothing" }, "model"],
	["a model of another type", { input: "Hi.", model: "smollm2-135m-instruct" }, "model"],
	["a handle that nobody has", { input: "Hi.", voice: "vv_abc" }, "voice"],
	["a handle of another form", { input: "Hi.", voice: "vv_a/b" }, "voice"],
	["Japanese in an English voice", { input: "こんにちは世界", voice: "af_sky" }, "voice"],
	["Chinese in an English voice by OpenAI's name", { input: "你好世界", voice: "alloy" }, "voice"],
	["Japanese in a Chinese voice", { input: "ありがとう", voice: "zf_xiaobei" }, "voice"],
	["Hindi in a French voice", { input: "मैं दिल्ली में", voice: "ff_siwis" }, "voice"],
	["Cyrillic in a French voice", { input: "Привет, мир", voice: "ff_siwis" }, "input"],
	["Cyrillic in any voice", { input: "Привет, мир", voice: "auto" }, "input"],
	["Korean without a voice", { input: "안녕하세요" }, "input"],
	["Arabic, streamed", { input: "مرحبا بالعالم", streaming: true }, "input"],
])("%s is refused, with the field", async (_, body, param) => {
	const { error, code } = await refusalOf(body);
	expect(error.param).toBe(param);
	expect(error.type).toBe("invalid_request_error");
	expect(["INVALID_REQUEST", "INVALID_MODEL"]).toContain(code);
	expect(error.message.length).toBeLessThan(2_000);
});

test("a text that the voice cannot say is refused with its script, and the voices that can", async () => {
	const before = engine.requests.length;
	const japanese = await refusalOf({ input: "こんにちは世界", voice: "af_sky" });
	expect(japanese.error.message).toBe(
		'voice: The text is written in Japanese script, which voice "af_sky" (English (United States)) cannot say: ' +
			'name a voice that speaks Japanese (jf_alpha, jf_gongitsune, jf_nezumi, jf_tebukuro, jm_kumo), or voice "auto"',
	);
	const either = await refusalOf({ input: "東京", voice: "alloy" });
	expect(either.error.message).toMatch(/name a voice that speaks Japanese or Chinese \(jf_alpha, .*zf_xiaobei, /);
	const cyrillic = await refusalOf({ input: "Привет", voice: "ff_siwis" });
	expect(cyrillic.error.message).toBe(
		'input: The text is written in Cyrillic script, which voice "ff_siwis" (French) cannot say, ' +
			'nor can another voice of "tts-kokoro": use a model whose voices speak the language',
	);
	expect(engine.requests).toHaveLength(before);
});

test("a wrong voice is told with its model and the voices that there are", async () => {
	const { error } = await refusalOf({ input: "Hi.", voice: "eve" });
	expect(error.message).toContain('Voice "eve" is not supported by model "tts-kokoro". Supported voices: af_alloy, af_aoede');
});

test("an unknown field is named; one of another service with ours", async () => {
	expect((await refusalOf({ input: "Hi.", volume: 3 })).error.message).toContain("'volume'");
	expect((await refusalOf({ input: "Hi.", text: "Hi." })).error.message).toContain("'input'");
	expect((await refusalOf({ input: "Hi.", format: "mp3" })).error.message).toContain("'response_format'");
});

test("malformed JSON, a list and invalid UTF-8", async () => {
	for (const body of ["{", "[]", '"x"', "null"]) await refusalOf(body);
	const response = await fetch(`${gate.url}/api/v1/audio/speech`, {
		method: "POST",
		headers: { authorization: `Bearer ${gate.key}`, "content-type": "application/json" },
		body: new Uint8Array([0x7b, 0xff, 0x7d]),
	});
	expect(response.status).toBe(400);
});

test("what was refused left nothing in the books and no hold", async () => {
	await refusalOf({ input: "😀" });
	await refusalOf({ input: "Привет" });
	expect((await gate.posts()).length).toBe(0);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
	expect((await gate.audit()).ok).toBe(true);
});
