/** The real engine, one for all: each second of speech is a second of work. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import { probeAudio } from "../../../test/support/audio-probe.ts";
import { ApiError } from "../../errors/index.ts";
import { AUDIO_FORMATS, type AudioEncoder, type AudioFormat } from "../audio/port.ts";
import { paceOf, SPEECH_SAMPLE_RATE, SpeechInputError } from "./port.ts";
import { SpeakingEngine, type Spoken } from "./testing/engine.ts";

const QUEUE = 3;
const CHECKOUT = join(import.meta.dir, "../../..");
const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "turnpike-speech-"));
const hasPython = ["python3", "python", "py"].some((name) => spawnSync(name, ["-c", "import venv, ensurepip"]).status === 0);
const fixture = new SpeakingEngine(QUEUE);
let encoder: AudioEncoder;

beforeAll(async () => {
	await fixture.fetchAssets();
	encoder = await readyEncoder();
});
afterAll(async () => {
	await fixture.engine.stop();
	await encoder.stop();
	rmSync(folder, { recursive: true, force: true });
});

function encoded({ samples }: Spoken, format: AudioFormat, tempo = 1): Promise<Uint8Array> {
	async function* bytes() {
		yield new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
	}
	return encoder.whole({
		input: { kind: "pcm", sampleRate: SPEECH_SAMPLE_RATE, bytes: bytes() },
		format,
		tempo,
		tenant: "acc_a",
		signal: never,
	});
}

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
	work.then(
		() => null,
		(fault: unknown) => fault,
	);

/** Words that differ, of those that were to be said. Numbers and abbreviations count as the listener writes them. */
function wordErrors(expected: string, heard: string): { errors: number; words: number } {
	const wordsOf = (text: string) =>
		text
			.toLowerCase()
			.replace(/[^a-z0-9' ]/g, " ")
			.split(/\s+/)
			.filter(Boolean);
	const [a, b] = [wordsOf(expected), wordsOf(heard)];
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (const [i, word] of a.entries()) {
		const next = [i + 1];
		for (const [j, other] of b.entries())
			next.push(Math.min((row[j] ?? 0) + (word === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
		row = next;
	}
	return { errors: row.at(-1) ?? 0, words: a.length };
}

test("has the voices of the catalog, and no other", () => {
	const { models } = JSON.parse(readFileSync(join(CHECKOUT, "catalog/media-models.json"), "utf8")) as {
		models: readonly { id: string; voices?: readonly string[] }[];
	};
	const model = models.find(({ id }) => id === "tts-kokoro");
	expect(
		fixture.engine
			.voices()
			.map(({ id }) => id)
			.sort(),
	).toEqual([...(model?.voices ?? [])].sort());
});

describe("a sentence", () => {
	const text = "The quick brown fox jumps over the lazy dog.";
	let spoken: Spoken;
	beforeAll(async () => {
		spoken = await fixture.say(text);
	});

	test("is audio in each of the six formats: not silent, nothing clipped, the right length", async () => {
		for (const format of AUDIO_FORMATS) {
			const audio = await probeAudio(await encoded(spoken, format), format === "pcm" ? SPEECH_SAMPLE_RATE : undefined);
			expect(audio.channels).toBe("mono");
			expect(Math.abs(audio.seconds - spoken.seconds)).toBeLessThan(0.1);
			expect(audio.loudness).toBeGreaterThan(0.01);
			expect(audio.peak).toBeLessThan(1);
		}
		expect(spoken.seconds).toBeGreaterThan(2);
		expect(spoken.seconds).toBeLessThan(4.5);
	});

	test("begins and ends without a click", () => {
		for (const edge of [spoken.samples.subarray(0, 24), spoken.samples.subarray(-24)])
			expect(Math.max(...edge.map(Math.abs))).toBeLessThan(400);
	});

	test("said twice has the same length, and all its characters are done", async () => {
		const again = await fixture.say(text);
		expect(again.samples.length).toBe(spoken.samples.length);
		expect(again.done).toEqual([text.length]);
	});

	test("at twice the speed takes half the time", async () => {
		const { speed, tempo } = paceOf(2);
		const fast = await probeAudio(await encoded(await fixture.say(text, { speed }), "wav", tempo));
		expect(Math.abs(fast.seconds / (spoken.seconds / 2) - 1)).toBeLessThan(0.05);
	});

	test("a bit faster is said faster by the engine itself", async () => {
		const { speed, tempo } = paceOf(1.2);
		expect(tempo).toBe(1);
		const faster = await fixture.say(text, { speed });
		expect(faster.seconds).toBeLessThan(spoken.seconds * 0.95);
		expect(faster.seconds).toBeGreaterThan(spoken.seconds * 0.75);
	});
});

const SENTENCES: readonly (readonly [voice: string, text: string])[] = [
	["af_heart", "The train to Boston leaves at nine in the morning."],
	["am_michael", "Doctor Miller bought twenty seven books last year."],
	["bf_emma", "Would you like a cup of tea before we go?"],
	["bm_george", "The weather in London is rather cloudy today."],
	["af_bella", "Please send the report to Sarah by Friday."],
	["am_fenrir", "How many people came to the meeting yesterday?"],
	["bf_emma", "My brother George lives near the old railway station."],
	["bm_fable", "She has three children and a very small garden."],
	["af_nicole", "We should have called them before the storm began."],
	["af_sky", "The library opens again on the first Monday of March."],
];

describe.skipIf(!hasPython)("English", () => {
	test("is understood: at most one word in ten of ten sentences is heard otherwise", async () => {
		const python = spawnSync("node", ["scripts/python-whisper.mjs"], { cwd: CHECKOUT, encoding: "utf8" });
		if (python.status !== 0) throw new Error(python.stderr);
		const files: string[] = [];
		for (const [index, [voice, text]] of SENTENCES.entries()) {
			const file = join(folder, `${index}.wav`);
			writeFileSync(file, await encoded(await fixture.say(text, { voice }), "wav"));
			files.push(file);
		}
		const child = Bun.spawn([python.stdout.trim(), join(import.meta.dir, "write_down.py"), ...files], {
			stdout: "pipe",
			stderr: "pipe",
		});
		const [output, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
		if ((await child.exited) !== 0) throw new Error(complaint);
		const heard = output
			.trim()
			.split("\n")
			.map((line) => String(JSON.parse(line)));
		expect(heard).toHaveLength(SENTENCES.length);
		const counts = SENTENCES.map(([, text], index) =>
			wordErrors(
				text,
				(heard[index] ?? "")
					.replace(/\b27\b/, "twenty seven")
					.replace(/\bDr\b/, "doctor")
					.replace(/\b9\b/, "nine"),
			),
		);
		const errors = counts.reduce((sum, count) => sum + count.errors, 0);
		const words = counts.reduce((sum, count) => sum + count.words, 0);
		if (errors / words > 0.1) throw new Error(`${errors} of ${words} words: ${heard.join(" / ")}`);
	});
});

test("the other languages are spoken at a plausible pace", async () => {
	const lines: readonly (readonly [voice: string, text: string])[] = [
		["ff_siwis", "Bonjour, j'habite à Paris."],
		["ef_dora", "Tengo veinticinco años."],
		["if_sara", "Oggi andiamo al mare."],
		["pf_dora", "Eu gosto muito de café."],
		["hf_alpha", "मैं दिल्ली में रहती हूँ।"],
		["jf_alpha", "明日は東京へ行きます。"],
		["zf_xiaobei", "我们去北京的银行。"],
		["af_jadzia", "This is a mixture of two."],
	];
	for (const [voice, text] of lines) {
		const { seconds, samples } = await fixture.say(text, { voice });
		// Kanji and Chinese characters are about three letters each.
		const letters = [...text].length * (/^[jz]/.test(voice) ? 2.6 : 1);
		expect(`${voice} ${letters / seconds > 8 && letters / seconds < 26}`).toBe(`${voice} true`);
		expect(Math.max(...samples.map(Math.abs))).toBeGreaterThan(3_000);
	}
});

describe("a longer text", () => {
	const text = "This is the first of them. Here the second follows. And this one ends it.";

	test("comes piece by piece, each with the characters done so far, with pauses between", async () => {
		const { done, samples } = await fixture.say(text);
		expect(done).toEqual([27, 52, text.length]);
		// A pause of 320 ms, and the rests of silence around it.
		let quiet = 0;
		let pauses = 0;
		for (const sample of samples) {
			quiet = Math.abs(sample) < 200 ? quiet + 1 : 0;
			if (quiet === 0.3 * SPEECH_SAMPLE_RATE) pauses += 1;
		}
		expect(pauses).toBe(2);
	});

	test("stops when its caller leaves: at once for the caller, after the sentence in hand for the engine", async () => {
		const leaving = new AbortController();
		const read = async () => {
			for await (const _ of fixture.pieces(text, { signal: leaving.signal })) leaving.abort(new Error("left"));
		};
		await expect(read()).rejects.toThrow("left");
		// The engine is free for others: nothing of the rest is spoken.
		const [next] = (await fixture.say("And now this.")).done;
		expect(next).toBe(13);
	});

	test("fails alone when the engine is killed in its middle; who waited is served by the next one", async () => {
		const others: Promise<Spoken>[] = [];
		const victim = async () => {
			for await (const _ of fixture.pieces(text)) {
				// Its second sentence is being computed; the other request waits behind it.
				others.push(fixture.say("Another request waits."));
				if (fixture.engine.pid !== null) process.kill(fixture.engine.pid, "SIGKILL");
			}
		};
		expect(await faultOf(victim())).toMatchObject({ code: "INFERENCE_FAILED" });
		expect((await Promise.all(others)).map(({ seconds }) => seconds > 0.5)).toEqual([true]);
		expect((await fixture.say("And the next one works.")).seconds).toBeGreaterThan(0.5);
	});
});

describe("what cannot be spoken", () => {
	test("is told before any work, each by its code", async () => {
		for (const text of ["", "  \n ", "🙂🎉", "\u0000\u0007", "\ud83d", "...?!"])
			expect(await faultOf(fixture.say(text))).toMatchObject({ name: "SpeechInputError", code: "nothing-to-say" });
		expect(await faultOf(fixture.say("Hello", { voice: "vv_none" }))).toBeInstanceOf(SpeechInputError);
	});

	test("is told too where only the voice has no sound for it", async () => {
		expect(await faultOf(fixture.say("\u16a0", { voice: "jf_alpha" }))).toMatchObject({ code: "nothing-to-say" });
	});

	test("is passed over within a text: markup, pictures, broken characters", async () => {
		const odd = '<speak>Hi <break time="1s"/>\u0000 \ud800 🙂 you</speak>';
		const { seconds, done } = await fixture.say(odd);
		expect(seconds).toBeGreaterThan(1);
		expect(done.at(-1)).toBe([...odd].length);
	});
});

test("sixty requests at once: a bounded queue, 429 beyond it, none lost, memory in bounds", async () => {
	const answers = await Promise.all(
		Array.from({ length: 60 }, (_, index) => faultOf(fixture.say("Yes, sir.", { tenant: `caller ${index}` }))),
	);
	const refused = answers.filter((fault) => fault instanceof ApiError && fault.code === "MODEL_OVERLOADED");
	expect(answers.filter((fault) => fault === null).length).toBe(QUEUE + 1);
	expect(refused.length).toBe(60 - QUEUE - 1);
	for (const fault of refused) expect((fault as ApiError).options.retryAfterSeconds).toBeGreaterThan(0);
	expect(await fixture.engine.rssBytes()).toBeLessThan(1e9);
	expect((await fixture.say("Yes, sir.")).seconds).toBeGreaterThan(0.3);
});
