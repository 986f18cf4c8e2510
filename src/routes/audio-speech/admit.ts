import type { HoldContext } from "../../budgets/port.ts";
import { audioRateLimit, EMBEDDED, resolveAudioModel, unitsNano } from "../../catalog/index.ts";
import type { ModelTarget, SpeechModel, SpeechProperties } from "../../catalog/types.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField, invalidRequest } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { recordModel } from "../../server/call-headers.ts";
import type { Admission, Input } from "../../server/endpoint.ts";
import { answerSpeech } from "./answer.ts";
import type { SpeechDeps } from "./deps.ts";
import { MAX_INPUT_CHARACTERS, type SpeechBody } from "./schema.ts";
import { unsayableText } from "./spoken-language.ts";
import { Synthesis, type SynthesisOrder } from "./synthesis.ts";
import { type ChosenVoice, chooseVoice } from "./voice.ts";

const DEFAULT_MODEL = "tts-kokoro";

/** Checks a speech request and returns its admission. Nothing is spoken yet. Throws the errors of docs/speech.md. */
export async function admitSpeech(input: Input<SpeechBody, unknown>, call: Call, deps: SpeechDeps): Promise<Admission> {
	const { body } = input;
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const characters = countCharacters(body.input);
	const catalog = deps.catalog();
	const config = deps.config();
	const model = resolveAudioModel(catalog, body.model ?? DEFAULT_MODEL, "tts", call.admittedAtMs);
	const properties = model.speech;
	if (properties === null) throw new ApiError("MODEL_OFFLINE", { param: "model" });
	const voice = await chooseVoice(body, model, properties, caller, deps.voices);
	const targets = ableTargets(targetsFor(model, voice), body.input, voice, model.id, properties);
	recordModel(call, model, catalog.deprecationHeaders(model, call.admittedAtMs));
	return {
		model: model.id,
		rate: { subject: model.id, limit: audioRateLimit(caller.account.tier, config.limits), promptTokens: 0 },
		hold: (context: HoldContext) => deps.budgets.hold(caller, context, unitsNano(characters, properties.characterPrice)),
		work(settlement) {
			const order = orderOf({ body, raw: input.raw, call, model, properties, targets, voice, characters });
			return answerSpeech({
				call,
				model,
				properties,
				settlement,
				format: order.format,
				streaming: (body.streaming ?? body.stream) === true || body.stream_format === "sse",
				asEvents: body.stream_format === "sse",
				synthesis: new Synthesis(order, deps),
				onSpoken: () => {
					// A use that cannot be recorded only shortens the voice's life.
					if (voice.kind === "cloned") deps.voices.touch(voice.voice).catch(() => {});
				},
			});
		},
	};
}

/** Matches texts of white space and invisible characters only: there is nothing to speak. */
const UNSAYABLE = /^[\s\p{C}]*$/u;

/**
 * Returns the number of code points of the text.
 * @throws ApiError INVALID_REQUEST for a text that is too long, or has nothing to speak
 */
function countCharacters(text: string): number {
	let characters = 0;
	for (const _ of text) characters++;
	if (characters > MAX_INPUT_CHARACTERS) {
		const message = `must have at most ${MAX_INPUT_CHARACTERS} characters; this one has ${characters}`;
		const limits = { maximum: MAX_INPUT_CHARACTERS, type: "string", inclusive: true };
		throw invalidRequest([{ path: ["input"], code: "too_big", ...limits, message }]);
	}
	if (UNSAYABLE.test(text)) throw invalidField(["input"], "must have something to say: this one is blank");
	return characters;
}

/**
 * Returns the model's upstreams that can speak in the voice.
 * @throws ApiError MODEL_OFFLINE if none can
 */
function targetsFor(model: SpeechModel, voice: ChosenVoice): readonly ModelTarget[] {
	if (voice.kind === "own") return model.targets;
	const cloning = model.targets.filter((target) => target.cloning !== undefined);
	if (cloning.length > 0) return cloning;
	throw new ApiError("MODEL_OFFLINE", {
		message: `No upstream of "${model.id}" clones voices: set cloning at one of models.entries["${model.id}"].upstreams in turnpike.yaml`,
		param: "voice",
	});
}

/**
 * Removes the built-in voices where they cannot speak the text's script; servers judge that themselves.
 * @throws ApiError INVALID_REQUEST if nothing is left
 */
function ableTargets(
	targets: readonly ModelTarget[],
	text: string,
	voice: ChosenVoice,
	modelId: string,
	properties: SpeechProperties,
): readonly ModelTarget[] {
	const fault = voice.kind === "own" ? unsayableText(text, voice.name, properties, modelId) : null;
	if (fault === null || !targets.some(({ upstream }) => upstream === EMBEDDED)) return targets;
	const others = targets.filter(({ upstream }) => upstream !== EMBEDDED);
	if (others.length === 0) throw fault;
	return others;
}

interface OrderDeps {
	readonly body: SpeechBody;
	readonly raw: Uint8Array;
	readonly call: Call;
	readonly model: SpeechModel;
	readonly properties: SpeechProperties;
	readonly targets: readonly ModelTarget[];
	readonly voice: ChosenVoice;
	readonly characters: number;
}

function orderOf({ body, raw, call, model, properties, targets, voice, characters }: OrderDeps): SynthesisOrder {
	const { accepts } = properties;
	const own = targets.find(({ upstream }) => upstream === EMBEDDED);
	const others = targets.filter(({ upstream }) => upstream !== EMBEDDED);
	return {
		requestId: call.requestId,
		modelId: model.id,
		// Half a surrogate pair is meaningless: it is replaced by U+FFFD.
		text: body.input.toWellFormed(),
		raw,
		characters,
		voice,
		format: body.response_format ?? "mp3",
		sampleRate: properties.sampleRate,
		speed: body.speed ?? 1,
		prompt: accepts.prompt ? (body.prompt ?? body.instructions) : undefined,
		temperature: accepts.temperature ? body.temperature : undefined,
		topP: accepts.topP ? body.top_p : undefined,
		language: accepts.language ? body.language : undefined,
		targets: others,
		engine: own === undefined ? "never" : others.every(({ order }) => own.order < order) ? "first" : "last",
		tenant: call.tenant,
		signal: call.signal,
	};
}
