import type { Budgets, HoldContext } from "../../budgets/port.ts";
import { audioRateLimit, type Catalog, resolveAudioModel, unitsNano } from "../../catalog/index.ts";
import type { TranscriptionModel, TranscriptionProperties } from "../../catalog/types.ts";
import type { Config } from "../../config/index.ts";
import { type AudioMeasure, measureAudio } from "../../engines/audio/measure-audio.ts";
import type { AudioEncoder } from "../../engines/audio/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { recordModel } from "../../server/call-headers.ts";
import { CLIENT_LEFT, CLIENT_LEFT_ANSWER } from "../../server/client-left.ts";
import type { Admission, Input, MeteredAnswer, Settlement } from "../../server/endpoint.ts";
import type { AudioUpstreams } from "../../upstreams/audio/port.ts";
import { type AudioContainer, audioContainer, CONTAINER_TYPES } from "../../wire/index.ts";
import type { TranscriptFormat, TranscriptionBody } from "./schema.ts";
import { type Transcript, transcriptOf } from "./transcript.ts";

/** The dependencies of the transcription route. They are functions if a reload changes the result. */
export interface TranscriptionDeps {
	readonly budgets: Budgets;
	readonly upstreams: AudioUpstreams;
	readonly encoder: AudioEncoder;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
}

const DEFAULT_MODEL = "nvidia/parakeet-tdt-0.6b-v3";
/** Checks a transcription and returns its admission. The audio is measured here, before anything is held. */
export async function admitTranscription(
	{ body, file }: Input<TranscriptionBody, unknown>,
	call: Call,
	deps: TranscriptionDeps,
): Promise<Admission> {
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const model = resolveAudioModel(deps.catalog(), body.model ?? DEFAULT_MODEL, "asr", call.admittedAtMs);
	if (file === null) throw invalidField(["file"], "is required: the audio, as a file");
	const { measure, container } = await measureUpload(deps.encoder, file.bytes, call);
	recordModel(call, model, deps.catalog().deprecationHeaders(model, call.admittedAtMs));
	const properties = model.transcription;
	return {
		model: model.id,
		rate: { subject: model.id, limit: audioRateLimit(caller.account.tier, deps.config().limits), promptTokens: 0 },
		hold: (context: HoldContext) => deps.budgets.hold(caller, context, unitsNano(measure.ms, properties.millisecondPrice)),
		work: (settlement) =>
			new TranscriptionRun({ body, call, settlement, model, measure, container, file: file.bytes }, deps).answer(),
	};
}

/**
 * Measures the upload. Throws INVALID_AUDIO_FORMAT, or ASR_UPSTREAM_VALIDATION_FAILED for audio that is empty, damaged
 * or silent.
 */
async function measureUpload(
	encoder: AudioEncoder,
	file: Uint8Array,
	requester: Requester,
): Promise<{ readonly measure: AudioMeasure; readonly container: AudioContainer }> {
	const fault = (message: string) => new ApiError("ASR_UPSTREAM_VALIDATION_FAILED", { message, param: "file" });
	if (file.length === 0) throw fault("The audio is empty");
	const container = audioContainer(file);
	if (container === null) throw new ApiError("INVALID_AUDIO_FORMAT", { param: "file" });
	const measure = await measureAudio(encoder, file, requester);
	if (measure === null || measure.ms === 0) throw fault("The audio cannot be decoded: it is damaged or has no sound");
	if (measure.silent) throw fault("The audio is silent");
	return { measure, container };
}

/**
 * Returns which timings are needed: for formats that show them, and if the caller requests them and the model has
 * them.
 */
function neededTimings(
	format: TranscriptFormat,
	body: TranscriptionBody,
	properties: TranscriptionProperties,
): "none" | "segment" | "word" {
	if (format === "srt" || format === "vtt") return "segment";
	if (format === "verbose_json") return body["timestamp_granularities[]"] ?? "segment";
	return format === "json" && body.timestamps === true ? properties.timestamps : "none";
}

interface RunDeps {
	readonly body: TranscriptionBody;
	readonly call: Call;
	readonly settlement: Settlement;
	readonly model: TranscriptionModel;
	readonly measure: AudioMeasure;
	readonly container: AudioContainer;
	readonly file: Uint8Array;
}

/** A transcription after admission and hold. */
class TranscriptionRun {
	readonly #of: RunDeps;
	readonly #deps: TranscriptionDeps;
	/** The upstream that was sent the audio. From then on a caller that leaves is charged. */
	#sentTo: string | null = null;

	constructor(of: RunDeps, deps: TranscriptionDeps) {
		this.#of = of;
		this.#deps = deps;
	}

	async answer(): Promise<MeteredAnswer> {
		const { call } = this.#of;
		call.suspendIdleTimeout();
		try {
			const answer = await this.#ask();
			this.#post(call.signal.aborted ? CLIENT_LEFT : 200);
			return { status: 200, ...answer };
		} catch (error) {
			if (!call.signal.aborted || this.#sentTo === null) throw asrError(error);
			this.#post(CLIENT_LEFT);
			return CLIENT_LEFT_ANSWER;
		} finally {
			call.resumeIdleTimeout();
		}
	}

	async #ask(): Promise<Transcript> {
		const { body, call, model, measure, container, file } = this.#of;
		const format = body.response_format ?? "json";
		const timings = neededTimings(format, body, model.transcription);
		const answer = await this.#deps.upstreams.transcribe({
			requestId: call.requestId,
			tenant: call.tenant,
			targets: model.targets,
			// Servers detect the type by the file name's extension, so it gets the real one.
			file: { bytes: file, name: `audio.${container}`, type: CONTAINER_TYPES[container] },
			language: body.language?.toLowerCase(),
			prompt: body.prompt,
			temperature: body.temperature,
			timings,
			signal: call.signal,
			onSent: (upstream) => {
				this.#sentTo = upstream;
			},
		});
		call.headers["x-service-model-router"] = answer.upstream;
		if (answer.retries > 0) call.headers["x-retry-count"] = String(answer.retries);
		const { stream = false, language } = body;
		return await transcriptOf({ answer, format, seconds: measure.ms / 1_000, timings, language, stream });
	}

	#post(status: number): void {
		const { settlement, model, measure } = this.#of;
		const picoPrice = model.transcription.millisecondPrice;
		const lines = [{ sku: `${model.id}-asr-second`, units: measure.ms, picoPrice }];
		const posted = settlement.post({ lines, usage: null, status, upstream: this.#sentTo });
		if (posted === null && status === 200)
			throw new ApiError("UNKNOWN_ERROR", { cause: new Error("a transcription was settled twice") });
	}
}

/** Converts upstream faults to the error codes of this route. */
function asrError(error: unknown): unknown {
	if (!(error instanceof ApiError)) return error;
	if (error.code === "INVALID_REQUEST")
		return new ApiError("ASR_UPSTREAM_VALIDATION_FAILED", { message: error.message, param: "file", cause: error });
	return error.code === "INFERENCE_FAILED" ? new ApiError("ASR_UPSTREAM_FAILED", { cause: error }) : error;
}
