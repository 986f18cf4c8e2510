import { availableParallelism } from "node:os";
import { join } from "node:path";
import { AssetError, type AssetStore } from "../../assets/index.ts";
import type { Config } from "../../config/schema.ts";
import { ApiError } from "../../errors/index.ts";
import { PartyCapacity } from "../../fairness/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { AssetDownload } from "../asset-download.ts";
import { EngineError } from "../engine-error.ts";
import { EngineProcess } from "../process.ts";
import type { Excess } from "../work-meter.ts";
import { type ChildInit, parseSpeechDone, type SpeechWork } from "./child-messages.ts";
import { nativeSpeechEngine } from "./native-package.ts";
import { PieceQueue } from "./piece-queue.ts";
import {
	type PcmPiece,
	type SpeechEngine,
	type SpeechEngineState,
	SpeechInputError,
	type SpeechRequest,
	type SpeechVoice,
} from "./port.ts";
import { hasWords } from "./reading/clean-text.ts";
import { splitText, type TextPiece } from "./split-text.ts";
import { KOKORO_VOICES, voiceOf } from "./voices.ts";

/** Weights and voices, by their names in the asset list. */
export const EMBEDDED_SPEECH_ASSETS = { model: "kokoro-82m-v1.0-int8.onnx", voices: "kokoro-voices.tgz" } as const;
/** The catalog's name of the model; `models pull` accepts it, too. */
export const EMBEDDED_SPEECH_MODEL = "tts-kokoro";

/** Processor time of one piece; most take a tenth of it. Japanese text first loads a dictionary. */
const PIECE_LIMIT_MS = 60_000;

/** Silence after a piece at speed 1, in ms. */
const PAUSES: Readonly<Record<TextPiece["ends"], number>> = { paragraph: 600, sentence: 320, clause: 140, words: 40 };

export interface EmbeddedSpeechOptions {
	readonly config: Config["speech"]["embedded"];
	readonly assets: AssetStore;
	readonly log: Log;
}

/** Returns fewer threads than cores, because the gateway needs a core, too. */
function defaultThreads(): number {
	return Math.max(1, Math.min(4, availableParallelism() - 1));
}

/** The speech engine of a fresh machine: Kokoro, in a child process. */
export class EmbeddedSpeech implements SpeechEngine {
	readonly #config: Config["speech"]["embedded"];
	readonly #assets: AssetStore;
	readonly #log: Log;
	readonly #download: AssetDownload;
	readonly #process: EngineProcess<null>;
	readonly #line: PieceQueue;
	/** Requests in progress: one that is spoken, and those that wait. */
	readonly #places: PartyCapacity;
	#nextTicket = 1;
	/** Ends the watch over the current piece. */
	#unwatch = () => {};

	constructor({ config, assets, log }: EmbeddedSpeechOptions) {
		this.#config = config;
		this.#assets = assets;
		this.#log = log;
		this.#download = new AssetDownload({
			assets,
			names: Object.values(EMBEDDED_SPEECH_ASSETS),
			need: "all",
			what: "The embedded voice",
			pullName: EMBEDDED_SPEECH_MODEL,
			log,
		});
		this.#places = new PartyCapacity(config.queue + 1);
		this.#line = new PieceQueue((work) => this.#give(work));
		this.#process = new EngineProcess({
			name: "speech",
			entry: join(import.meta.dir, "child.ts"),
			init: async () => this.#childInit(),
			parseReady: () => null,
			onDone: (done) => {
				this.#unwatch();
				this.#line.done(parseSpeechDone(done));
			},
			onExit: () => {
				this.#unwatch();
				this.#line.lost();
			},
			log,
			startLimitMs: 120_000,
			maxMemoryMb: config.maxMemoryMb,
			idleStopMs: config.idleStopMs,
			// The watch over each piece acts first, and gives the caller a reason.
			unresponsiveMs: PIECE_LIMIT_MS * 2,
		});
	}

	voices(): readonly SpeechVoice[] {
		return KOKORO_VOICES;
	}

	async state(): Promise<SpeechEngineState> {
		const native = nativeSpeechEngine();
		if (!native.ok) return { state: "offline", text: `The embedded voice cannot run here: ${native.reason}` };
		const missing = await this.#download.missing();
		if (missing) return { state: "offline", text: missing.text };
		if (this.#process.state === "backing-off")
			return { state: "offline", text: "The embedded voice failed and starts again shortly" };
		return { state: "ready", text: "The embedded voice is ready" };
	}

	prefetch(): void {
		if (nativeSpeechEngine().ok) this.#download.prefetch();
	}

	async *synthesize(request: SpeechRequest): AsyncGenerator<PcmPiece, void> {
		const { text, voice: voiceId, speed, tenant, signal } = request;
		const voice = voiceOf(voiceId);
		if (!voice) throw new SpeechInputError("unknown-voice", `The embedded model has no voice ${voiceId}`);
		if (!hasWords(text)) throw nothingToSay();
		const pieces = splitText(text, voice.language).filter(({ text: part }) => hasWords(part));
		signal.throwIfAborted();
		await this.#requireReady();
		if (this.#places.take(tenant, 1) !== "taken") throw overloadError(this.#places.used);
		const left = new AbortController();
		const leave = () => left.abort(signal.reason);
		signal.addEventListener("abort", leave, { once: true });
		const ticket = this.#nextTicket;
		this.#nextTicket += 1;
		const speak = (piece: TextPiece, index: number) => {
			const pauseMs = index === pieces.length - 1 ? 0 : PAUSES[piece.ends] / speed;
			const work = { text: piece.text, language: voice.language, voice: voiceId, speed, pauseMs };
			const samples = this.#line.speak({ tenant, ticket }, work, left.signal);
			// Its reader may never await it.
			samples.catch(() => {});
			return samples;
		};
		try {
			signal.throwIfAborted();
			yield* inTurn(pieces, speak, [...text].length);
		} finally {
			signal.removeEventListener("abort", leave);
			left.abort(new Error("nobody reads on"));
			this.#places.giveBack(tenant, 1);
		}
	}

	/** Returns the engine's resident memory in bytes; null if it does not run. */
	rssBytes(): Promise<number | null> {
		return this.#process.rssBytes();
	}

	get pid(): number | null {
		return this.#process.pid;
	}

	async stop(): Promise<void> {
		await this.#download.stop();
		await this.#process.close();
	}

	/**
	 * Throws unless the engine is ready.
	 * @throws {ApiError} MODEL_OFFLINE
	 */
	async #requireReady(): Promise<void> {
		const native = nativeSpeechEngine();
		if (!native.ok) throw new ApiError("MODEL_OFFLINE", { message: `The embedded voice cannot run here: ${native.reason}` });
		const missing = await this.#download.missing();
		if (!missing) return;
		this.prefetch();
		throw new ApiError("MODEL_OFFLINE", { message: missing.text, retryAfterSeconds: 10, cause: missing.cause });
	}

	async #give(work: SpeechWork): Promise<void> {
		try {
			await this.#process.start();
		} catch (fault) {
			if (!(fault instanceof EngineError || fault instanceof AssetError)) throw fault;
			this.#log.error({ err: fault }, "the embedded voice does not start");
			const retryAfterSeconds = fault instanceof EngineError ? (fault.retryAfterSeconds ?? 5) : 5;
			const message = "The embedded voice could not be started; try again shortly";
			throw new ApiError("MODEL_OFFLINE", { message, retryAfterSeconds, cause: fault });
		}
		if (!this.#process.send(work)) throw new ApiError("INFERENCE_FAILED", { message: "The speech engine failed; try again" });
		this.#unwatch = this.#process.watchWork({ workMs: PIECE_LIMIT_MS }, (excess) => {
			void this.#process.kill("a piece took too long");
			this.#line.lost(tooSlow(excess));
		});
	}

	#childInit(): ChildInit {
		return {
			modelPath: this.#assets.path(EMBEDDED_SPEECH_ASSETS.model),
			voicesPath: this.#assets.path(EMBEDDED_SPEECH_ASSETS.voices),
			threads: this.#config.threads ?? defaultThreads(),
		};
	}
}

/**
 * Yields each piece while the next one is computed.
 * @throws {SpeechInputError} before the first piece if none has a sound
 */
async function* inTurn(
	pieces: readonly TextPiece[],
	speak: (piece: TextPiece, index: number) => Promise<Int16Array>,
	characters: number,
): AsyncGenerator<PcmPiece, void> {
	let heard = false;
	const [first] = pieces;
	let ahead = first && speak(first, 0);
	for (const [index, piece] of pieces.entries()) {
		const samples = await ahead;
		const next = pieces[index + 1];
		ahead = next && speak(next, index + 1);
		if (samples === undefined || samples.length === 0) continue;
		heard = true;
		yield { samples, charactersDone: next ? piece.end : characters };
	}
	if (!heard) throw nothingToSay();
}

function nothingToSay(): SpeechInputError {
	return new SpeechInputError("nothing-to-say", "The input has nothing that can be spoken: send text with words or numbers");
}

function tooSlow(excess: Excess): ApiError {
	if (excess === "work")
		return new ApiError("REQUEST_TIMEOUT", {
			message: "The input takes too long to speak on this server; send shorter sentences",
		});
	return new ApiError("REQUEST_TIMEOUT", {
		message: "This server had no processor time to speak; try again later",
		retryAfterSeconds: 30,
	});
}

function overloadError(open: number): ApiError {
	return new ApiError("MODEL_OVERLOADED", {
		message: `The embedded voice is busy and ${open - 1} requests wait; try again shortly`,
		retryAfterSeconds: Math.min(60, 5 + open * 2),
	});
}
