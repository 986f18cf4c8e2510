import type { Posted } from "../../budgets/port.ts";
import type { SpeechModel, SpeechProperties } from "../../catalog/types.ts";
import { AUDIO_CONTENT_TYPES, type AudioFormat } from "../../engines/audio/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import { CLIENT_LEFT, CLIENT_LEFT_ANSWER } from "../../server/client-left.ts";
import type { MeteredAnswer, Settlement } from "../../server/endpoint.ts";
import { PostedStream } from "../../server/posted-stream.ts";
import type { Synthesis } from "./synthesis.ts";

/** A speech request after admission and hold. */
export interface AdmittedSpeech {
	readonly call: Call;
	readonly model: SpeechModel;
	readonly properties: SpeechProperties;
	readonly settlement: Settlement;
	readonly format: AudioFormat;
	readonly streaming: boolean;
	/** True: the audio is sent as server-sent events. */
	readonly asEvents: boolean;
	readonly synthesis: Synthesis;
	/** Called when the whole text was spoken. */
	onSpoken(): void;
}

/** Speaks, posts the characters, and answers: whole, or as pieces arrive. */
export function answerSpeech(speech: AdmittedSpeech): Promise<MeteredAnswer> {
	return speech.streaming ? answerPieces(speech) : answerWhole(speech);
}

async function answerWhole(speech: AdmittedSpeech): Promise<MeteredAnswer> {
	const { call, synthesis, format } = speech;
	call.suspendIdleTimeout();
	try {
		const { bytes, source } = await synthesis.whole();
		setSourceHeaders(call, source);
		post(speech, call.signal.aborted ? CLIENT_LEFT : 200);
		speech.onSpoken();
		return { status: 200, type: AUDIO_CONTENT_TYPES[format], body: bytes };
	} catch (error) {
		return answerClientLeft(speech, error);
	} finally {
		call.resumeIdleTimeout();
	}
}

async function answerPieces(speech: AdmittedSpeech): Promise<MeteredAnswer> {
	const { call, synthesis, settlement, format, asEvents } = speech;
	call.suspendIdleTimeout();
	try {
		const { pieces, source } = await synthesis.pieces();
		setSourceHeaders(call, source);
		const stream = new PostedStream({
			pieces: asEvents ? inEvents(pieces) : pieces,
			signal: call.signal,
			async onSourceEnd() {
				await post(speech, 200)?.durable;
				speech.onSpoken();
			},
			async onCallerLeft() {
				await post(speech, CLIENT_LEFT)?.durable;
			},
			onSourceFailed: () => settlement.void(),
		});
		const type = asEvents ? "text/event-stream" : AUDIO_CONTENT_TYPES[format];
		return { status: 200, type, body: stream.readable(), ended: stream.ended };
	} catch (error) {
		call.resumeIdleTimeout();
		return answerClientLeft(speech, error);
	}
}

/** Yields the pieces as OpenAI's events (its API reference, "Speech stream events"). */
async function* inEvents(pieces: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
	try {
		for (let next = await pieces.next(); !next.done; next = await pieces.next())
			yield event({ type: "speech.audio.delta", audio: Buffer.from(next.value).toString("base64") });
		yield event({ type: "speech.audio.done" });
	} finally {
		await pieces.return?.();
	}
}

function event(data: { readonly type: string; readonly audio?: string }): Uint8Array {
	return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
}

/** Posts the characters spoken if the caller left. Throws any other failure on, which then costs nothing. */
function answerClientLeft(speech: AdmittedSpeech, error: unknown): MeteredAnswer {
	if (!speech.call.signal.aborted || speech.synthesis.upstream === null) throw error;
	post(speech, CLIENT_LEFT);
	return CLIENT_LEFT_ANSWER;
}

/** Posts the characters that were spoken; returns null if the request was settled before. */
function post({ model, properties, settlement, synthesis }: AdmittedSpeech, status: number): Posted | null {
	const units = synthesis.charactersSpoken;
	const lines = units > 0 ? [{ sku: `${model.id}-tts-mcharacter`, units, picoPrice: properties.characterPrice }] : [];
	const posted = settlement.post({ lines, usage: null, status, upstream: synthesis.upstream });
	if (posted === null && status === 200) throw new ApiError("UNKNOWN_ERROR", { cause: new Error("speech was settled twice") });
	return posted;
}

function setSourceHeaders(call: Call, { upstream, retries }: { readonly upstream: string; readonly retries: number }): void {
	call.headers["x-service-model-router"] = upstream;
	if (retries > 0) call.headers["x-retry-count"] = String(retries);
}
