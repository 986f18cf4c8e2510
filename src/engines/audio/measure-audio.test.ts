import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import { toneFile } from "../../../test/support/tone-file.ts";
import { AssetStore, loadManifest } from "../../assets/index.ts";
import { silentLog } from "../../telemetry/log.ts";
import { streamableMp4 } from "../../wire/index.ts";
import type { FfmpegEncoder } from "./ffmpeg-encoder.ts";
import { FfmpegProgram } from "./ffmpeg-program.ts";
import { measureAudio } from "./measure-audio.ts";
import { AUDIO_FORMATS } from "./port.ts";

const CHECKOUT = join(import.meta.dir, "../../..");
let encoder: FfmpegEncoder;
let ffmpeg: string;
const dir = mkdtempSync(join(tmpdir(), "turnpike-measure-"));

beforeAll(async () => {
	encoder = await readyEncoder();
	const manifest = loadManifest(join(CHECKOUT, "catalog/assets.json"));
	const assets = new AssetStore({ dir: join(CHECKOUT, ".cache/assets"), manifest, log: silentLog });
	ffmpeg = await new FfmpegProgram({ assets, log: silentLog }).path();
});
afterAll(() => rmSync(dir, { recursive: true }));

const measure = (file: Uint8Array) => measureAudio(encoder, file, { tenant: "acc_a", signal: new AbortController().signal });

/** A tone as a recorder writes it, by ffmpeg itself. */
async function recorded(name: string, ...options: readonly string[]): Promise<Uint8Array> {
	const path = join(dir, name);
	const made = Bun.spawnSync([ffmpeg, "-y", "-loglevel", "error", "-f", "lavfi", "-i", "sine=duration=3", ...options, path]);
	if (made.exitCode !== 0) throw new Error(made.stderr.toString());
	return Bun.file(path).bytes();
}

test("the length of every format that has one of its own, to the frame", async () => {
	for (const format of AUDIO_FORMATS.filter((name) => name !== "pcm")) {
		const { ms = 0, silent } = (await measure(await toneFile(encoder, format, 2))) ?? {};
		expect([format, silent]).toEqual([format, false]);
		expect(ms).toBeGreaterThanOrEqual(2_000);
		expect(ms).toBeLessThan(2_150);
	}
	expect((await measure(await toneFile(encoder, "wav", 0.5)))?.ms).toBe(500);
});

test("a recording whose index comes last, and one whose index comes first", async () => {
	const last = await recorded("last.m4a", "-c:a", "aac");
	const first = await recorded("first.m4a", "-c:a", "aac", "-movflags", "+faststart");
	expect(streamableMp4(first)).toBe(first);
	expect(streamableMp4(last)).not.toBe(last);
	for (const file of [last, first]) {
		const { ms = 0, silent } = (await measure(file)) ?? {};
		expect(silent).toBe(false);
		expect(Math.abs(ms - 3_000)).toBeLessThan(100);
	}
});

test("silence is told, and a sample that stands across two pieces is heard", async () => {
	expect(await measure(await toneFile(encoder, "wav", 1, 0))).toEqual({ ms: 1_000, silent: true });
	expect((await measure(await toneFile(encoder, "flac", 1, 100)))?.silent).toBe(false);
});

test("what cannot be decoded is told apart from what can", async () => {
	const wav = await toneFile(encoder, "wav", 1);
	expect(await measure(new TextEncoder().encode("no audio at all, but a text"))).toBeNull();
	expect(await measure(wav.slice(0, 20))).toBeNull();
	const m4a = await recorded("cut.m4a", "-c:a", "aac");
	expect(await measure(m4a.slice(0, m4a.length / 2))).toBeNull();
});

test("a broken mp4 is left as it is", () => {
	const box = (type: string, size: number) => {
		const bytes = Buffer.alloc(8);
		bytes.writeUInt32BE(size);
		bytes.write(type, 4, "latin1");
		return bytes;
	};
	for (const file of [
		Buffer.concat([box("ftyp", 8), box("mdat", 8), box("moov", 100)]),
		Buffer.concat([box("ftyp", 4)]),
		Buffer.concat([box("mdat", 8), box("moov", 16), box("trak", 99)]),
		Buffer.concat([box("mdat", 8), box("moov", 8 + 16), box("stco", 16), Buffer.from([0, 0, 0, 0, 255, 255, 255, 255])]),
		Buffer.alloc(3),
	])
		expect(streamableMp4(file)).toBe(file);
});
