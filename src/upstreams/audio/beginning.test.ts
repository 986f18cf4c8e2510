import { expect, test } from "bun:test";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import { audioOf } from "../../../test/support/scripted-audio-upstream.ts";
import { type FirstBytes, formatOfBytes, readFirstBytes } from "./first-bytes.ts";

const ERROR = '{"error":{"message":"The key is not valid: ask the administrator, or try again later"}}';

/** The beginning of an answer that goes on, or all of one. */
const begun = (bytes: Uint8Array): FirstBytes => ({ bytes, isWhole: false });
const whole = (bytes: Uint8Array): FirstBytes => ({ bytes, isWhole: true });

test("text in whatever charset is no raw samples", () => {
	for (const text of [
		Buffer.from(ERROR),
		Buffer.from(`Schl\xfcssel ung\xfcltig: ${ERROR}`, "latin1"),
		Buffer.from(ERROR, "utf16le"),
		Buffer.from(`\ufeff${ERROR}`, "utf16le"),
		Buffer.from(`\0${ERROR}`),
		Buffer.from(`\x1b[31m${ERROR}\x1b[0m`),
	])
		expect(formatOfBytes(begun(text), "pcm"), text.toString()).toBe("none");
});

test("samples are, loud or quiet, and so is silence", () => {
	const wave = (peak: number, offset = 0) =>
		Buffer.from(new Int16Array(Array.from({ length: 400 }, (_, at) => offset + peak * Math.sin(at / 7))).buffer);
	for (const samples of [wave(0), wave(1), wave(100), wave(100, 90), wave(3_000), wave(32_000), wave(0, 64), Buffer.alloc(2)])
		expect(formatOfBytes(begun(samples), "pcm")).toBe("pcm");
});

const FORMATS = ["mp3", "opus", "aac", "flac", "wav"] as const;

test("each format is known by what follows its first bytes, cut off wherever there is proof", async () => {
	for (const format of FORMATS) {
		const audio = audioOf("What is said here is long enough.", format);
		expect(formatOfBytes(begun(audio), format), format).toBe(format);
		expect(formatOfBytes(whole(audio.subarray(0, 200)), format), format).toBe(format);
	}
});

test("audio of a real encoder is what it is, whole and cut off in the middle, with tags and without", async () => {
	const encoder = await readyEncoder();
	const signal = new AbortController().signal;
	async function* tone() {
		yield new Uint8Array(Int16Array.from({ length: 48_000 }, (_, at) => 16_000 * Math.sin(at / 9)).buffer);
	}
	for (const format of FORMATS) {
		const input = { kind: "pcm", sampleRate: 24_000, bytes: tone() } as const;
		const bytes = await encoder.whole({ input, format, tenant: "acc_a", signal });
		for (const part of [bytes, bytes.subarray(0, bytes.length / 2)])
			expect(formatOfBytes(whole(part), format), format).toBe(format);
		if (format !== "mp3") continue;
		for (const size of [0, 300, 16_000]) {
			const tag = Buffer.concat([
				Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, size >> 7, size & 0x7f]),
				Buffer.alloc(size, "title "),
			]);
			expect(formatOfBytes(whole(Buffer.concat([tag, bytes])), format), `${size}`).toBe(format);
		}
	}
	await encoder.stop();
});

test("a WAVE file whose samples are text is none, and its samples are waited for", async () => {
	const wave = (samples: Uint8Array, bits = 16) => {
		const head = Buffer.from(
			"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\xc0\x5d\0\0\x80\xbb\0\0\x02\0\x10\0data\xff\xff\xff\xff",
			"latin1",
		);
		head[34] = bits;
		return Buffer.concat([head, samples]);
	};
	for (const text of [ERROR.repeat(9), "<html><script>alert(1)</script>".repeat(20)])
		for (const bits of [8, 16]) expect(formatOfBytes(whole(wave(Buffer.from(text), bits)), "wav")).toBe("none");
	const quiet = Uint8Array.from({ length: 600 }, (_, at) => 128 + 2 * Math.sin(at));
	for (const samples of [Buffer.alloc(600), quiet, Buffer.alloc(0)])
		expect(formatOfBytes(whole(wave(samples, 8)), "wav")).toBe("wav");
	const pieces = [wave(Buffer.alloc(0)), Buffer.from(ERROR.repeat(9))];
	const reader = { read: async () => ({ value: pieces.shift(), done: false }), cancel: async () => {} };
	const beginning = await readFirstBytes(reader);
	expect(beginning === null ? null : formatOfBytes(beginning, "wav")).toBe("none");
});

test("text behind the first bytes of a container is no audio, nor is one frame alone", () => {
	const words = Buffer.from(ERROR.repeat(20));
	for (const [format, beginning] of [
		["mp3", "ID3\x04\0\0\0\0\0\0"],
		["mp3", "ID3\x04\0\0\0\0\x02\0TIT2\0\0\x01\0\0\0\x03"],
		["mp3", "ID3\x04\0\0\x7f\x7f\x7f\x7f"],
		["mp3", "ID3\xff\xff\xff\xff\xff\xff\xff"],
		["mp3", "\xff\xfb\x90\x64"],
		["mp3", "\xff\xf3\x14\xc0"],
		["aac", "\xff\xf1\x58\x40\x04\x1f\xfc"],
		["opus", "OggS\0\x02"],
		["opus", "OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead"],
		["flac", "fLaC\0\0\0\x22"],
		["flac", "fLaC\x80\0\0\x22"],
		["wav", "RIFF\x24\0\0\0WAVE"],
		["wav", "RIFF\x24\0\0\0WAVEfmt \x10\0\0\0"],
	] as const) {
		const forged = Buffer.concat([Buffer.from(beginning, "latin1"), words]);
		expect(formatOfBytes(whole(forged), format), JSON.stringify(beginning)).toBe("none");
	}
	for (const format of ["mp3", "aac"] as const)
		expect(formatOfBytes(whole(audioOf("a", format).subarray(0, 20)), format)).toBe("none");
});

test("no more is read before the first byte goes out than the proof needs, however small the pieces", async () => {
	for (const format of FORMATS) {
		const audio = audioOf("What is said here is long enough.".repeat(10), format);
		let given = 0;
		const pieces = new ReadableStream<Uint8Array>(
			{
				pull: (controller) => controller.enqueue(audio.slice(given, ++given)),
			},
			{ highWaterMark: 0 },
		);
		const beginning = await readFirstBytes(pieces.getReader());
		expect(beginning === null ? null : formatOfBytes(beginning, format), format).toBe(format);
		expect(given, format).toBeLessThan(300);
	}
});
