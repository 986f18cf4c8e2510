/**
 * Shapes a speech request for one server.
 * Sources: OpenAI's API reference (audio, speech); vLLM-Omni's page "Speech API" (`language`, `instructions`,
 * `ref_audio`, `task_type`); the references of Chatterbox servers (form at audio/speech/upload with `voice_file`).
 */
import type { AudioFormatName, ModelTarget } from "../../catalog/types.ts";
import type { SpeechForward, VoiceSample } from "./port.ts";

export interface ShapedSpeech {
	/** The path below the server's /v1. */
	readonly path: string;
	readonly body: string | FormData;
	/** The media type; null: the form sets it. */
	readonly type: string | null;
	/** The requested format. */
	readonly format: AudioFormatName;
}

export async function shapeSpeech(call: SpeechForward, target: ModelTarget): Promise<ShapedSpeech> {
	const format = requestedFormat(call.format, target);
	const fields: Record<string, string | number> = { model: target.model, input: call.input, response_format: format };
	if (call.speed !== 1) fields.speed = call.speed;
	if (call.prompt !== undefined) fields.instructions = call.prompt;
	if (call.temperature !== undefined) fields.temperature = call.temperature;
	if (call.topP !== undefined) fields.top_p = call.topP;
	if (call.language !== undefined) fields.language = call.language;
	const { sample } = call;
	if (sample !== null && target.cloning === "voice_file")
		return { path: "/audio/speech/upload", body: await formOf(fields, sample), type: null, format };
	if (sample !== null) {
		fields.task_type = "Base";
		fields.ref_audio = `data:${sample.type};base64,${Buffer.from(await sample.bytes()).toString("base64")}`;
	} else {
		fields.voice = upstreamVoice(call.voice, target);
	}
	return { path: "/audio/speech", body: JSON.stringify(fields), type: "application/json", format };
}

function requestedFormat(format: AudioFormatName, { formats }: ModelTarget): AudioFormatName {
	return formats === undefined || formats.includes(format) ? format : (formats[0] ?? format);
}

/** Returns the upstream's own name for a voice. */
export function upstreamVoice(voice: string, { voices }: ModelTarget): string {
	return voices !== undefined && Object.hasOwn(voices, voice) ? (voices[voice] ?? voice) : voice;
}

async function formOf(fields: Readonly<Record<string, string | number>>, sample: VoiceSample): Promise<FormData> {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
	const ending = sample.type.split("/")[1] ?? "wav";
	form.set(
		"voice_file",
		new Blob([(await sample.bytes()) as Uint8Array<ArrayBuffer>], { type: sample.type }),
		`sample.${ending}`,
	);
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

/** Returns the samples per second, if the Content-Type contains them. */
export function rateOfType(contentType: string | null): number | null {
	const rate = Number(/;\s*rate="?(\d{4,6})\b/i.exec(contentType ?? "")?.[1]);
	return rate >= 8_000 && rate <= 192_000 ? rate : null;
}

/**
 * Returns the format that a Content-Type declares: null for audio of another format, `none` for anything but audio.
 * Without a Content-Type the server is trusted to have sent the requested format.
 */
export function formatOfType(contentType: string | null, requested: AudioFormatName): AudioFormatName | null | "none" {
	const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
	if (type === "" || type === "application/octet-stream") return requested;
	if (Object.hasOwn(FORMAT_OF_TYPE, type)) return FORMAT_OF_TYPE[type] ?? null;
	return type.startsWith("audio/") || type.startsWith("video/") ? null : "none";
}
