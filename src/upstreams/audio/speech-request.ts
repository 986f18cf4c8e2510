/**
 * A speech request in the words of one server.
 *
 * Sources: OpenAI's API reference (audio, speech); vLLM-Omni's page "Speech API" (`language`, `instructions`, `ref_audio`,
 * `task_type`); the references of Chatterbox servers (form at audio/speech/upload with `voice_file`).
 */
import type { AudioFormatName, ModelTarget } from "../../catalog/types.ts";
import type { SpeechForward, VoiceSample } from "./port.ts";

export interface ShapedSpeech {
	/** Below the server's /v1. */
	readonly path: string;
	readonly body: string | FormData;
	/** null: the form tells it. */
	readonly type: string | null;
	/** What was asked for. */
	readonly format: AudioFormatName;
	/** What of the speed the server cannot do. */
	readonly tempo: number;
}

export function shapeSpeech(call: SpeechForward, target: ModelTarget): ShapedSpeech {
	return target.protocol === "elevenlabs" ? shapeElevenLabs(call, target) : shapeOpenAi(call, target);
}

function shapeOpenAi(call: SpeechForward, target: ModelTarget): ShapedSpeech {
	const format = askedFormat(call.format, target);
	const fields: Record<string, string | number> = { model: target.model, input: call.input, response_format: format };
	if (call.speed !== 1) fields.speed = call.speed;
	if (call.prompt !== undefined) fields.instructions = call.prompt;
	if (call.temperature !== undefined) fields.temperature = call.temperature;
	if (call.topP !== undefined) fields.top_p = call.topP;
	if (call.language !== undefined) fields.language = call.language;
	const { sample } = call;
	if (sample !== null && target.cloning === "voice_file")
		return { path: "/audio/speech/upload", body: formOf(fields, sample), type: null, format, tempo: 1 };
	if (sample !== null) {
		fields.task_type = "Base";
		fields.ref_audio = `data:${sample.type};base64,${Buffer.from(sample.bytes).toString("base64")}`;
	} else {
		fields.voice = upstreamVoice(call.voice, target);
	}
	return { path: "/audio/speech", body: JSON.stringify(fields), type: "application/json", format, tempo: 1 };
}

/** Names of formats there; the others are made from its pcm. */
const ELEVENLABS_FORMATS: Readonly<Partial<Record<AudioFormatName, string>>> = {
	mp3: "mp3_44100_128",
	opus: "opus_48000_64",
	pcm: "pcm_24000",
};
const ELEVENLABS_SPEED = { min: 0.7, max: 1.2 };

/** Source: ElevenLabs' API reference (text to speech, create speech). Its key is the header xi-api-key. */
function shapeElevenLabs(call: SpeechForward, target: ModelTarget): ShapedSpeech {
	const named = ELEVENLABS_FORMATS[call.format];
	const natural = call.speed >= ELEVENLABS_SPEED.min && call.speed <= ELEVENLABS_SPEED.max;
	const fields = {
		text: call.input,
		model_id: target.model,
		...(call.language === undefined ? {} : { language_code: call.language }),
		...(natural && call.speed !== 1 ? { voice_settings: { speed: call.speed } } : {}),
	};
	const voice = encodeURIComponent(upstreamVoice(call.voice, target));
	return {
		path: `/text-to-speech/${voice}?output_format=${named ?? ELEVENLABS_FORMATS.pcm}`,
		body: JSON.stringify(fields),
		type: "application/json",
		format: named === undefined ? "pcm" : call.format,
		tempo: natural ? 1 : call.speed,
	};
}

function askedFormat(wanted: AudioFormatName, { formats }: ModelTarget): AudioFormatName {
	return formats === undefined || formats.includes(wanted) ? wanted : (formats[0] ?? wanted);
}

function upstreamVoice(voice: string, { voices }: ModelTarget): string {
	return voices !== undefined && Object.hasOwn(voices, voice) ? (voices[voice] ?? voice) : voice;
}

function formOf(fields: Readonly<Record<string, string | number>>, sample: VoiceSample): FormData {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
	const ending = sample.type.split("/")[1] ?? "wav";
	form.set("voice_file", new Blob([sample.bytes as Uint8Array<ArrayBuffer>], { type: sample.type }), `sample.${ending}`);
	return form;
}

const FORMAT_OF_TYPE: Readonly<Record<string, AudioFormatName>> = {
	"audio/mpeg": "mp3",
	"audio/mp3": "mp3",
	"audio/ogg": "opus",
	"audio/opus": "opus",
	"audio/aac": "aac",
	"audio/flac": "flac",
	"audio/x-flac": "flac",
	"audio/wav": "wav",
	"audio/x-wav": "wav",
	"audio/wave": "wav",
	"audio/vnd.wave": "wav",
	"audio/pcm": "pcm",
	"audio/l16": "pcm",
};

/**
 * What an answer is by its Content-Type: a format, null for audio of another kind, `none` for what is no audio. A server
 * that does not say gives what it was asked for.
 */
export function formatOfType(contentType: string | null, asked: AudioFormatName): AudioFormatName | null | "none" {
	const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
	if (type === "" || type === "application/octet-stream") return asked;
	if (Object.hasOwn(FORMAT_OF_TYPE, type)) return FORMAT_OF_TYPE[type] ?? null;
	return type.startsWith("audio/") || type.startsWith("video/") ? null : "none";
}
