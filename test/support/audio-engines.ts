import { join } from "node:path";
import { AssetStore, loadManifest } from "../../src/assets/index.ts";
import { FfmpegEncoder } from "../../src/engines/audio/index.ts";
import type { PcmPiece, SpeechEngine, SpeechRequest } from "../../src/engines/speech/port.ts";
import { SPEECH_SAMPLE_RATE, SpeechInputError } from "../../src/engines/speech/port.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { until } from "./until.ts";

const CHECKOUT = join(import.meta.dir, "../..");

/** ffmpeg as the server has it, ready; what is fetched is kept between runs. */
export async function readyEncoder(): Promise<FfmpegEncoder> {
	const manifest = loadManifest(join(CHECKOUT, "catalog/assets.json"));
	const assets = new AssetStore({ dir: join(CHECKOUT, ".cache/assets"), manifest, log: silentLog });
	const encoder = new FfmpegEncoder({ assets, log: silentLog });
	encoder.prefetch();
	await until(async () => (await encoder.state()).state === "ready", "ffmpeg is fetched");
	return encoder;
}

/** How the scripted engine speaks one text. */
export interface Diction {
	/** Throws before this piece, counted from 0. */
	readonly crashAt?: number;
	readonly fault?: unknown;
	/** Each piece but the first waits for it. */
	readonly afterFirst?: Promise<unknown>;
}

const TONE_HZ = 440;
/** A tenth of a second for each character. */
const SAMPLES_A_CHARACTER = SPEECH_SAMPLE_RATE / 10;

/** An engine that says a tone of a tenth of a second a character, sentence by sentence, and fails where it is told to. */
export class ScriptedSpeechEngine implements SpeechEngine {
	readonly requests: SpeechRequest[] = [];
	/** Syntheses under way. */
	running = 0;
	diction: Diction = {};

	voices() {
		return [];
	}

	state() {
		return Promise.resolve({ state: "ready" as const, text: "ready" });
	}

	prefetch(): void {}

	stop(): Promise<void> {
		return Promise.resolve();
	}

	async *synthesize(request: SpeechRequest): AsyncGenerator<PcmPiece, void> {
		const { text, signal } = request;
		const { crashAt, fault, afterFirst } = this.diction;
		this.requests.push(request);
		this.running++;
		try {
			if (!/[\p{L}\p{N}]/u.test(text)) throw new SpeechInputError("nothing-to-say", "nothing in it can be said");
			let charactersDone = 0;
			const sentences = text.match(/[^.!?]+[.!?]*\s*/gu) ?? [text];
			for (const [index, sentence] of sentences.entries()) {
				if (index === crashAt) throw fault;
				if (index > 0 && afterFirst !== undefined) await Promise.race([afterFirst, aborted(signal)]);
				signal.throwIfAborted();
				charactersDone += [...sentence].length;
				yield { samples: tone([...sentence].length * SAMPLES_A_CHARACTER), charactersDone };
			}
		} finally {
			this.running--;
		}
	}
}

function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function tone(length: number): Int16Array {
	return Int16Array.from({ length }, (_, at) => Math.round(8_000 * Math.sin((2 * Math.PI * TONE_HZ * at) / SPEECH_SAMPLE_RATE)));
}
