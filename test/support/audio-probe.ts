/** What a file of audio is, by decoding it: for tests that hear. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AssetStore, loadManifest } from "../../src/assets/index.ts";
import { FfmpegProgram } from "../../src/engines/audio/ffmpeg-program.ts";
import { silentLog } from "../../src/telemetry/log.ts";

const CHECKOUT = join(import.meta.dir, "../..");
const DECODED_RATE = 24_000;

export interface ProbedAudio {
	/** As ffmpeg names it: mp3, opus, aac, flac, pcm_s16le. */
	readonly codec: string;
	readonly sampleRate: number;
	readonly channels: "mono" | "stereo";
	/** By counting what comes out of the decoder. */
	readonly seconds: number;
	/** What the header says; null where it says nothing. */
	readonly headerSeconds: number | null;
	/** Of full scale. */
	readonly peak: number;
	readonly loudness: number;
}

/** ffmpeg's path on this machine; it has to be there already (see `readyEncoder`). */
export function ffmpegPath(): Promise<string> {
	const manifest = loadManifest(join(CHECKOUT, "catalog/assets.json"));
	const assets = new AssetStore({ dir: join(CHECKOUT, ".cache/assets"), manifest, log: silentLog });
	return new FfmpegProgram({ assets, log: silentLog }).path();
}

/** @param pcmRate for bare samples: their rate */
export async function probeAudio(bytes: Uint8Array, pcmRate?: number): Promise<ProbedAudio> {
	const input = pcmRate === undefined ? [] : ["-f", "s16le", "-ar", String(pcmRate), "-ac", "1"];
	const output = ["-f", "s16le", "-ar", String(DECODED_RATE), "-ac", "1", "pipe:1"];
	// A file, not a pipe: some formats tell their length at their end.
	const folder = mkdtempSync(join(tmpdir(), "turnpike-probe-"));
	const path = join(folder, "audio");
	writeFileSync(path, bytes);
	const child = Bun.spawn([await ffmpegPath(), "-hide_banner", ...input, "-i", path, ...output], {
		stdout: "pipe",
		stderr: "pipe",
	});
	const [decoded, words] = await Promise.all([new Response(child.stdout).arrayBuffer(), new Response(child.stderr).text()]);
	const code = await child.exited;
	rmSync(folder, { recursive: true, force: true });
	if (code !== 0) throw new Error(words);
	const [, codec = "", rate = "0", channels = ""] =
		/Stream #0:0.*?: Audio: (\w+).*?, (\d+) Hz, (mono|stereo|1 channels)/.exec(words) ?? [];
	const [, hours, minutes, seconds] = /Duration: (\d+):(\d+):([\d.]+)/.exec(words) ?? [];
	const samples = new Int16Array(decoded);
	let peak = 0;
	let squares = 0;
	for (const sample of samples) {
		peak = Math.max(peak, Math.abs(sample));
		squares += sample * sample;
	}
	return {
		codec,
		sampleRate: Number(rate),
		channels: channels === "stereo" ? "stereo" : "mono",
		seconds: samples.length / DECODED_RATE,
		headerSeconds: seconds === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
		peak: peak / 32_768,
		loudness: Math.sqrt(squares / Math.max(1, samples.length)) / 32_768,
	};
}
