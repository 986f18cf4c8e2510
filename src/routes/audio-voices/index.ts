/**
 * POST /audio/voices, GET /audio/voices, DELETE /audio/voices/{id}: voices that a caller brings. Free for callers that
 * can pay for speech. Promises: a sample belongs to its owner, is stored until its handle expires or is deleted, and is
 * sent only to the model's upstreams.
 */
import Type from "typebox";
import type { StoredVoice, VoiceService } from "../../access/index.ts";
import type { Caller } from "../../budgets/port.ts";
import { type Catalog, hasFreeModel, resolveAudioModel } from "../../catalog/index.ts";
import type { SpeechModel } from "../../catalog/types.ts";
import type { Config } from "../../config/index.ts";
import { measureAudio } from "../../engines/audio/measure-audio.ts";
import type { AudioEncoder } from "../../engines/audio/port.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { type Endpoint, type Input, json, plain } from "../../server/endpoint.ts";
import { audioContainer } from "../../wire/index.ts";

export interface VoicesDeps {
	readonly voices: VoiceService;
	readonly encoder: AudioEncoder;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
	/** Called when a voice was deleted, since upstreams may have stored it. */
	onDeleted(): void;
}

const DEFAULT_MODEL = "tts-chatterbox-hd";
const MAX_FILE_BYTES = 26_214_400;
/** 26 MiB, plus the overhead of a form. */
const MAX_BODY_BYTES = 27_262_976 + 65_536;

/** Body of POST /audio/voices; other fields are ignored. */
const NewVoiceSchema = Type.Object(
	{ model: Type.Optional(Type.String({ default: DEFAULT_MODEL, description: "A speech model with voice_cloning" })) },
	{ additionalProperties: true },
);
const CreatedVoiceSchema = Type.Object({
	id: Type.String({ description: "The handle, for voice of POST /audio/speech" }),
	model: Type.String(),
});
const ListSchema = Type.Object({
	object: Type.Literal("list"),
	data: Type.Array(
		Type.Object({
			id: Type.String(),
			model: Type.String(),
			created: Type.Integer({ description: "Unix seconds" }),
			expires: Type.Integer({ description: "Unix seconds" }),
		}),
	),
});
const DeletedSchema = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export function audioVoiceRoutes(deps: VoicesDeps): Endpoint[] {
	const shared = { tag: "Audio", openAi: false, callers: ["key", "wallet"] } as const;
	return [
		plain({
			...shared,
			method: "POST",
			path: "/audio/voices",
			name: "audio-voices",
			summary: "Clone a voice from a sample",
			description:
				"The sample is stored until the handle expires: 7 days after its upload or its last use, depending on the model.",
			listLimit: false,
			minuteLimit: { subject: "audio-voices", requests: () => deps.config().limits.audioRequestsPerMinute },
			body: { schema: NewVoiceSchema, maxBytes: MAX_BODY_BYTES, form: { file: "file", maxFileBytes: MAX_FILE_BYTES } },
			// Samples are stored, so callers that could never speak with them must not fill the store.
			mayBeFree: () => hasFreeModel(deps.catalog(), "tts"),
			codes: ["INVALID_MODEL", "INVALID_AUDIO_FORMAT", "MODEL_OFFLINE", "MODEL_REMOVED"],
			answer: { type: "application/json", schema: CreatedVoiceSchema, description: "The handle" },
			run: (input, call) => makeVoice(input, call, deps),
		}),
		plain({
			...shared,
			method: "GET",
			path: "/audio/voices",
			name: "audio-voices-list",
			summary: "Your voices",
			listLimit: true,
			answer: { type: "application/json", schema: ListSchema, description: "Handles that have not expired, newest first" },
			run: async (_, call) => json({ object: "list", data: (await deps.voices.list(callerOf(call))).map(voiceView) }),
		}),
		plain({
			...shared,
			method: "DELETE",
			path: "/audio/voices/:id",
			name: "audio-voices-delete",
			summary: "Deletes a voice and its sample",
			listLimit: true,
			answer: { type: "application/json", schema: DeletedSchema, description: "The voice is deleted" },
			async run({ params }, call) {
				const id = params.id ?? "";
				await deps.voices.delete(callerOf(call), id);
				deps.onDeleted();
				return json({ id, deleted: true });
			},
		}),
	];
}

async function makeVoice({ body, file }: Input<{ model?: string }, unknown>, call: Call, deps: VoicesDeps) {
	const caller = callerOf(call);
	const model = cloningModel(deps.catalog(), body.model ?? DEFAULT_MODEL, call.admittedAtMs);
	const cloning = model.speech?.cloning;
	if (!cloning) throw new ApiError("INVALID_MODEL", { param: "model" });
	if (file === null) throw invalidField(["file"], "is required: the sample, as a file");
	if (file.bytes.length === 0) throw invalidField(["file"], "is empty");
	const format = audioContainer(file.bytes);
	if (format === null || !cloning.formats.includes(format))
		throw new ApiError("INVALID_AUDIO_FORMAT", {
			message: `A sample for ${model.id} must be ${cloning.formats.join(", ")}`,
			param: "file",
		});
	requireCloningUpstream(model);
	const measure = await measureAudio(deps.encoder, file.bytes, call);
	if (measure === null || measure.ms === 0)
		throw new ApiError("INVALID_AUDIO_FORMAT", {
			message: "The sample cannot be decoded: it is damaged or has no sound",
			param: "file",
		});
	if (measure.silent) throw new ApiError("INVALID_AUDIO_FORMAT", { message: "The sample is silent", param: "file" });
	// A view would keep the whole body in memory.
	const sample = file.bytes.slice();
	const voice = await deps.voices.create(
		caller,
		{ modelId: model.id, cloning, format, sample },
		deps.config().limits.voicesPerAccount,
	);
	return json({ id: voice.id, model: voice.modelId });
}

/** Finds the model by its name or alias. Throws INVALID_MODEL for a model that clones no voices. */
function cloningModel(catalog: Catalog, ref: string, nowMs: number): SpeechModel {
	const model = resolveAudioModel(catalog, ref, "tts", nowMs);
	if (!model.speech?.cloning)
		throw new ApiError("INVALID_MODEL", {
			message: `The model "${model.id}" clones no voices; GET /api/v1/models?type=tts lists those with voice_cloning`,
			param: "model",
		});
	return model;
}

/** Throws MODEL_OFFLINE if none of the model's upstreams takes a sample. */
function requireCloningUpstream(model: SpeechModel): void {
	if (model.targets.some(({ cloning }) => cloning !== undefined)) return;
	throw new ApiError("MODEL_OFFLINE", {
		message: `No upstream of "${model.id}" clones voices: set cloning at one of models.entries["${model.id}"].upstreams in turnpike.yaml`,
		param: "model",
	});
}

function callerOf({ caller }: Call): Caller {
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	return caller;
}

function voiceView({ id, modelId, createdAtMs, expiresAtMs }: StoredVoice) {
	return { id, model: modelId, created: Math.floor(createdAtMs / 1_000), expires: Math.floor(expiresAtMs / 1_000) };
}
