import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import { ffmpegPath, probeAudio } from "../../../test/support/audio-probe.ts";
import { until } from "../../../test/support/until.ts";
import { AssetStore, parseManifest } from "../../assets/index.ts";
import { silentLog } from "../../telemetry/log.ts";
import { tempoFilters } from "./ffmpeg-arguments.ts";
import { FfmpegEncoder } from "./ffmpeg-encoder.ts";
import { AUDIO_FORMATS, type AudioFormat, type AudioInput } from "./port.ts";

const RATE = 24_000;
const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "turnpike-encoder-"));
let encoder: FfmpegEncoder;
beforeAll(async () => {
	encoder = await readyEncoder();
});
afterAll(async () => {
	await encoder.stop();
	rmSync(folder, { recursive: true, force: true });
});

const noAssets = () => new AssetStore({ dir: folder, manifest: parseManifest({ assets: [] }), log: silentLog });

/** A tone of half of full scale, by tenths of a second. */
async function* tone(seconds: number): AsyncGenerator<Uint8Array> {
	for (let part = 0; part < seconds * 10; part += 1) {
		const samples = Int16Array.from({ length: RATE / 10 }, (_, at) =>
			Math.round(16_384 * Math.sin((2 * Math.PI * 440 * (part * (RATE / 10) + at)) / RATE)),
		);
		yield new Uint8Array(samples.buffer);
	}
}
const pcm = (bytes: AsyncIterable<Uint8Array>): AudioInput => ({ kind: "pcm", sampleRate: RATE, bytes });

async function collected(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
	const parts: Uint8Array[] = [];
	for await (const part of stream) parts.push(part);
	return Buffer.concat(parts);
}
const probe = (bytes: Uint8Array, format: AudioFormat) => probeAudio(bytes, format === "pcm" ? RATE : undefined);

const CODECS: Readonly<Record<AudioFormat, string>> = {
	mp3: "mp3",
	opus: "opus",
	aac: "aac",
	flac: "flac",
	wav: "pcm_s16le",
	pcm: "pcm_s16le",
};

describe("each format", () => {
	for (const format of AUDIO_FORMATS) {
		test(`${format} as a whole: codec, rate, one channel, length, level`, async () => {
			const audio = await probe(await encoder.whole({ input: pcm(tone(2)), format, tenant: "acc_a", signal: never }), format);
			expect(audio.codec).toBe(CODECS[format]);
			expect(audio.sampleRate).toBe(format === "opus" ? 48_000 : RATE);
			expect(audio.channels).toBe("mono");
			expect(Math.abs(audio.seconds - 2)).toBeLessThan(0.1);
			if (format !== "pcm" && format !== "aac") expect(Math.abs((audio.headerSeconds ?? 0) - 2)).toBeLessThan(0.1);
			expect(audio.peak).toBeGreaterThan(0.45);
			expect(audio.peak).toBeLessThan(0.6);
		});

		test(`${format} as a stream is the same audio`, async () => {
			const audio = await probe(
				await collected(encoder.stream({ input: pcm(tone(2)), format, tenant: "acc_a", signal: never })),
				format,
			);
			expect(audio.codec).toBe(CODECS[format]);
			expect(Math.abs(audio.seconds - 2)).toBeLessThan(0.1);
		});
	}

	test("of a file in another format, which tells its own", async () => {
		const mp3 = await encoder.whole({ input: pcm(tone(1)), format: "mp3", tenant: "acc_a", signal: never });
		const input: AudioInput = {
			kind: "file",
			bytes: (async function* () {
				yield mp3;
			})(),
		};
		const audio = await probe(await encoder.whole({ input, format: "flac", tenant: "acc_a", signal: never }), "flac");
		expect(audio.codec).toBe("flac");
		expect(Math.abs(audio.seconds - 1)).toBeLessThan(0.1);
	});
});

describe("the tempo", () => {
	test("changes the length by its factor, in both directions and at both ends of the range", async () => {
		for (const tempo of [0.25, 0.5, 2, 4]) {
			const bytes = await encoder.whole({ input: pcm(tone(2)), format: "wav", tempo, tenant: "acc_a", signal: never });
			expect(Math.abs((await probe(bytes, "wav")).seconds / (2 / tempo) - 1)).toBeLessThan(0.03);
		}
	});

	test("is made of steps that every version of the program takes", () => {
		expect(tempoFilters(1)).toEqual([]);
		expect(tempoFilters(4)).toEqual(["atempo=2", "atempo=2.000000"]);
		expect(tempoFilters(0.3)).toEqual(["atempo=0.5", "atempo=0.600000"]);
	});
});

describe("a stream", () => {
	test("gives bytes long before its input ends, and its wav header leaves the length open", async () => {
		const release = Promise.withResolvers<void>();
		async function* paused() {
			yield* tone(1);
			await release.promise;
			yield* tone(1);
		}
		const parts: Uint8Array[] = [];
		for await (const part of encoder.stream({ input: pcm(paused()), format: "wav", tenant: "acc_a", signal: never })) {
			parts.push(part);
			if (Buffer.concat(parts).length > 20_000) release.resolve();
		}
		const header = new DataView(Uint8Array.from(Buffer.concat(parts)).buffer);
		expect([header.getUint32(4, true), header.getUint32(40, true)]).toEqual([0xffffffff, 0xffffffff]);
	});

	test("that nobody reads on ends its input", async () => {
		let ended = false;
		async function* endless() {
			try {
				for (;;) yield* tone(1);
			} finally {
				ended = true;
			}
		}
		for await (const _ of encoder.stream({ input: pcm(endless()), format: "wav", tenant: "acc_a", signal: never })) break;
		await until(() => ended);
	});

	test("ends with the signal's reason", async () => {
		const leaving = new AbortController();
		async function* endless() {
			for (;;) yield* tone(1);
		}
		const read = async () => {
			for await (const _ of encoder.stream({ input: pcm(endless()), format: "mp3", tenant: "acc_a", signal: leaving.signal }))
				leaving.abort(new Error("left"));
		};
		await expect(read()).rejects.toThrow("left");
	});

	test("fails with what its input threw", async () => {
		async function* broken() {
			yield* tone(0.1);
			throw new Error("the voice broke");
		}
		await expect(
			collected(encoder.stream({ input: pcm(broken()), format: "mp3", tenant: "acc_a", signal: never })),
		).rejects.toThrow("the voice broke");
		await expect(encoder.whole({ input: pcm(broken()), format: "mp3", tenant: "acc_a", signal: never })).rejects.toThrow(
			"the voice broke",
		);
	});
});

test("programs are bounded in number: tenants take turns, and one that has none does not wait for another's", async () => {
	const own = new FfmpegEncoder({ assets: noAssets(), log: silentLog, systemPath: await ffmpegPath(), processes: 2 });
	const leaving = new AbortController();
	const begun: string[] = [];
	async function* endless(name: string) {
		begun.push(name);
		for (;;) yield* tone(1);
	}
	const read = async (tenant: string, name: string, signal: AbortSignal) => {
		const stream = own.stream({ input: pcm(endless(name)), format: "wav", tenant, signal });
		for await (const _ of stream) if (tenant === "acc_b") break;
	};
	const flood = ["a1", "a2", "a3", "a4"].map((name) => read("acc_a", name, leaving.signal).catch(() => "left"));
	await until(() => begun.length === 2, "as many programs as there may be");
	await read("acc_b", "b1", never);
	expect(begun).toEqual(["a1", "a2", "b1"]);
	leaving.abort(new Error("left"));
	expect(await Promise.all(flood)).toEqual(["left", "left", "left", "left"]);
	await own.whole({ input: pcm(tone(1)), format: "wav", tenant: "acc_a", signal: never });
	await own.stop();
});

test("bytes that are no audio, or a playlist that names a file, fail as INFERENCE_FAILED and open nothing", async () => {
	const secret = join(folder, "secret.wav");
	writeFileSync(secret, await encoder.whole({ input: pcm(tone(1)), format: "wav", tenant: "acc_a", signal: never }));
	for (const text of [
		"no audio at all",
		`#EXTM3U\n#EXTINF:1,\nfile://${secret}\n`,
		`ffconcat version 1.0\nfile '${secret}'\n`,
		"",
	]) {
		const input: AudioInput = {
			kind: "file",
			bytes: (async function* () {
				yield Buffer.from(text);
			})(),
		};
		await expect(encoder.whole({ input, format: "wav", tenant: "acc_a", signal: never })).rejects.toMatchObject({
			code: "INFERENCE_FAILED",
		});
	}
});

describe("the program", () => {
	test("of the system is used where it has the encoders", async () => {
		const system = await ffmpegPath();
		const own = new FfmpegEncoder({ assets: noAssets(), log: silentLog, systemPath: system });
		expect(await own.state()).toEqual({ state: "ready", text: `The audio encoder is ${system}` });
	});

	test("of the system is passed over where it lacks one, or is none", async () => {
		const poor = join(folder, "poor-ffmpeg");
		writeFileSync(poor, "#!/bin/sh\necho ' A....D aac   AAC'\n");
		chmodSync(poor, 0o755);
		for (const systemPath of [poor, join(folder, "absent"), null]) {
			const own = new FfmpegEncoder({ assets: noAssets(), log: silentLog, systemPath });
			expect((await own.state()).state).toBe("offline");
			await expect(own.whole({ input: pcm(tone(1)), format: "mp3", tenant: "acc_a", signal: never })).rejects.toMatchObject({
				code: "MODEL_OFFLINE",
			});
		}
	});
});
