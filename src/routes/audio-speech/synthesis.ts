import { EMBEDDED } from "../../catalog/index.ts";
import type { AudioFormatName, ModelTarget } from "../../catalog/types.ts";
import { AUDIO_CONTENT_TYPES, type AudioInput } from "../../engines/audio/port.ts";
import { type PcmPiece, paceOf, SPEECH_SAMPLE_RATE, SpeechInputError } from "../../engines/speech/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { SpeechAnswer, VoiceSample } from "../../upstreams/audio/port.ts";
import type { SpeechDeps } from "./deps.ts";
import type { ChosenVoice } from "./voice.ts";

export interface SynthesisOrder {
	readonly requestId: string;
	readonly modelId: string;
	readonly text: string;
	readonly raw: Uint8Array;
	readonly characters: number;
	readonly voice: ChosenVoice;
	readonly format: AudioFormatName;
	/** Samples per second of pcm and wav; null: 24,000. */
	readonly sampleRate: number | null;
	readonly speed: number;
	readonly prompt: string | undefined;
	readonly temperature: number | undefined;
	readonly topP: number | undefined;
	readonly language: string | undefined;
	/** Servers that may speak the text. */
	readonly targets: readonly ModelTarget[];
	/** The position of the built-in voices among the sources. */
	readonly engine: "first" | "last" | "never";
	readonly tenant: string;
	readonly signal: AbortSignal;
}

/** Audio that has begun to arrive, before conversion to the caller's format. */
interface Source {
	readonly upstream: string;
	readonly retries: number;
	readonly input: AudioInput;
	readonly tempo: number;
	/** True: the bytes are in the requested format already. */
	readonly inRequestedFormat: boolean;
	/** Ends audio that is not read to its end. */
	cancel(): void;
}

/** Speaks one text by the built-in voices or a server; the next source is tried where the first yields no byte. */
export class Synthesis {
	readonly #order: SynthesisOrder;
	readonly #deps: SpeechDeps;
	/** The server that was sent the text. It charges the operator for all of it. */
	#sentTo: string | null = null;
	#pieceCharacters = 0;

	constructor(order: SynthesisOrder, deps: SpeechDeps) {
		this.#order = order;
		this.#deps = deps;
	}

	/** Characters spoken so far: all once a server has the text, else those of the finished pieces. */
	get charactersSpoken(): number {
		return this.#sentTo !== null ? this.#order.characters : this.#pieceCharacters;
	}

	/** The upstream that spoke; null if none did. */
	get upstream(): string | null {
		return this.#sentTo ?? (this.#pieceCharacters > 0 ? EMBEDDED : null);
	}

	/** Returns the audio as one file. */
	async whole(): Promise<{ readonly bytes: Uint8Array; readonly source: Source }> {
		const source = await this.#open();
		try {
			const bytes = source.inRequestedFormat
				? await readAll(source.input.bytes)
				: await this.#deps.encoder.whole(this.#encoding(source));
			return { bytes, source };
		} finally {
			source.cancel();
		}
	}

	/** Returns the audio in pieces as they arrive; resolves when its first bytes have arrived. */
	async pieces(): Promise<{ readonly pieces: AsyncIterator<Uint8Array>; readonly source: Source }> {
		const source = await this.#open();
		const bytes = source.inRequestedFormat ? source.input.bytes : this.#deps.encoder.stream(this.#encoding(source));
		const iterator = bytes[Symbol.asyncIterator]();
		try {
			const first = await iterator.next();
			if (first.done) throw new ApiError("INFERENCE_FAILED", { cause: new Error("no byte of audio") });
			return { pieces: continued(first.value, iterator, () => source.cancel()), source };
		} catch (error) {
			source.cancel();
			throw error;
		}
	}

	async #open(): Promise<Source> {
		const { engine, targets } = this.#order;
		if (engine === "never" || (engine === "last" && targets.length === 0)) {
			return engine === "never" ? this.#byServer() : this.#byEngine();
		}
		const [first, second] = engine === "first" ? [this.#byEngine, this.#byServer] : [this.#byServer, this.#byEngine];
		try {
			return await first.call(this);
		} catch (error) {
			if (this.#order.signal.aborted || isAboutTheRequest(error)) throw error;
			if (engine === "first" && targets.length === 0) throw error;
			this.#sentTo = null;
			return second.call(this);
		}
	}

	async #byServer(): Promise<Source> {
		const { voice, text, ...order } = this.#order;
		const audio: SpeechAnswer = await this.#deps.upstreams.speak({
			...order,
			input: text,
			voice: voice.kind === "own" ? voice.name : "",
			sample: voice.kind === "own" ? null : this.#sample(voice.voice),
			onSent: (upstream) => {
				this.#sentTo = upstream;
			},
		});
		const requestedRate = order.sampleRate ?? SPEECH_SAMPLE_RATE;
		const rate = audio.sampleRate ?? requestedRate;
		const { bytes } = audio;
		return {
			upstream: audio.upstream,
			retries: audio.retries,
			input: audio.format === "pcm" ? { kind: "pcm", sampleRate: rate, bytes } : { kind: "file", bytes },
			tempo: audio.tempo,
			inRequestedFormat: audio.format === order.format && audio.tempo === 1 && (audio.format !== "pcm" || rate === requestedRate),
			cancel: () => audio.cancel(),
		};
	}

	#sample(voice: Extract<ChosenVoice, { kind: "cloned" }>["voice"]): VoiceSample {
		const read = async () => {
			const bytes = await this.#deps.voices.sample(voice);
			if (bytes !== null) return bytes;
			throw new ApiError("INVALID_REQUEST", { message: `Voice "${voice.id}" was deleted`, param: "voice" });
		};
		let bytes: Promise<Uint8Array> | null = null;
		return {
			handle: voice.id,
			type: SAMPLE_TYPES[voice.sampleFormat] ?? "application/octet-stream",
			bytes() {
				bytes ??= read();
				return bytes;
			},
		};
	}

	async #byEngine(): Promise<Source> {
		const { engine } = this.#deps;
		const { voice, text, speed, tenant, signal, format, modelId } = this.#order;
		if (engine === null || voice.kind !== "own")
			throw new ApiError("MODEL_OFFLINE", {
				message: `The built-in voices cannot speak "${modelId}" on this machine`,
				param: "model",
			});
		const pace = paceOf(speed);
		const stop = new AbortController();
		const request = { text, voice: voice.name, speed: pace.speed, tenant, signal: AbortSignal.any([signal, stop.signal]) };
		const audio = engine.synthesize(request)[Symbol.asyncIterator]();
		let first: IteratorResult<PcmPiece>;
		try {
			first = await audio.next();
		} catch (error) {
			if (!(error instanceof SpeechInputError)) throw error;
			const param = error.code === "unknown-voice" ? "voice" : "input";
			throw new ApiError("INVALID_REQUEST", { message: `${param}: ${error.message}`, param });
		}
		const bytes = this.#samplesOf(first, audio);
		return {
			upstream: EMBEDDED,
			retries: 0,
			input: { kind: "pcm", sampleRate: SPEECH_SAMPLE_RATE, bytes },
			tempo: pace.tempo,
			inRequestedFormat: format === "pcm" && pace.tempo === 1,
			cancel: () => {
				stop.abort(new Error("the rest is not wanted"));
				void audio.return?.()?.catch(() => {});
			},
		};
	}

	async *#samplesOf(first: IteratorResult<PcmPiece>, audio: AsyncIterator<PcmPiece>): AsyncGenerator<Uint8Array, void> {
		for (let next = first; !next.done; next = await audio.next()) {
			const { samples, charactersDone } = next.value;
			this.#pieceCharacters = Math.min(charactersDone, this.#order.characters);
			if (samples.length > 0) yield new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
		}
	}

	#encoding({ input, tempo }: Source) {
		const { format, tenant, signal, sampleRate } = this.#order;
		return { input, format, tempo, tenant, signal, ...(sampleRate === null ? {} : { sampleRate }) };
	}
}

const SAMPLE_TYPES: Readonly<Record<string, string>> = { ...AUDIO_CONTENT_TYPES, mp4: "audio/mp4" };

/** Returns true for faults of the request, which are the same at every upstream. */
function isAboutTheRequest(error: unknown): boolean {
	return error instanceof ApiError && (error.status === 400 || error.status === 413 || error.status === 422);
}

async function readAll(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
	const pieces: Uint8Array[] = [];
	for await (const piece of bytes) pieces.push(piece);
	return Buffer.concat(pieces);
}

async function* continued(first: Uint8Array, rest: AsyncIterator<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array, void> {
	try {
		yield first;
		for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
	} finally {
		end();
		await rest.return?.();
	}
}
