/**
 * Providers of speech in their own protocols, each written from its public API reference: what a request must be there,
 * and how the audio is answered.
 *
 * Sources: OpenAI (audio, create speech), Google (Gemini API, speech generation), xAI (text to speech), ElevenLabs (create
 * speech, create and delete voice), LMNT (synthesize speech bytes, create and delete voice), Hume (TTS, file), Deepgram
 * (speak), Mistral (audio, speech), fal (pages of resemble-ai/chatterboxhd, fal-ai/minimax/speech-02-hd, fal-ai/minimax/
 * voice-clone, fal-ai/qwen-3-tts).
 */
import type { AudioFormatName } from "../../../src/catalog/types.ts";
import type { ProviderName } from "../../../src/config/providers.ts";

export interface ScriptedSpeechRequest {
	readonly provider: string;
	readonly method: string;
	readonly path: string;
	readonly query: URLSearchParams;
	readonly headers: Headers;
	/** Of JSON; of a form its texts. */
	readonly body: Readonly<Record<string, unknown>>;
	readonly files: Readonly<Record<string, Uint8Array>>;
	/** Resolves when the caller left before the answer was done. */
	readonly aborted: Promise<void>;
}

export interface SpeechScript {
	readonly provider: ProviderName;
	/** What stands in the header of the key. */
	readonly key: readonly [header: string, value: string];
	/** The format that the request asks for; null: the request is none of this provider's reference. */
	format(speechRequest: ScriptedSpeechRequest): AudioFormatName | null;
	/** JSON with the audio in it; absent: the audio itself. */
	json?(audio: string, speechRequest: ScriptedSpeechRequest): object;
	/** Its words for a refused key. */
	readonly refusal: object;
}

const KEY = "provider-secret";
const text = (value: unknown): value is string => typeof value === "string" && value !== "";
const onlyKnown = (body: Readonly<Record<string, unknown>>, names: readonly string[]) =>
	Object.keys(body).every((name) => names.includes(name));
const oneOf = (value: unknown, formats: readonly AudioFormatName[]): AudioFormatName | null =>
	formats.find((format) => format === value) ?? null;
const record = (value: unknown) => (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;

export const SPEECH_SCRIPTS: readonly SpeechScript[] = [
	{
		provider: "openai",
		key: ["authorization", `Bearer ${KEY}`],
		format: ({ path, body }) =>
			path === "/audio/speech" &&
			text(body.model) &&
			text(body.input) &&
			text(body.voice) &&
			onlyKnown(body, ["model", "input", "voice", "response_format", "speed", "instructions"])
				? oneOf(body.response_format, ["mp3", "opus", "aac", "flac", "wav", "pcm"])
				: null,
		refusal: {
			error: { message: `Incorrect API key provided: ${KEY}.`, type: "invalid_request_error", code: "invalid_api_key" },
		},
	},
	{
		provider: "google",
		key: ["x-goog-api-key", KEY],
		format({ path, body }) {
			const { generationConfig, contents } = body;
			const voice = record(record(record(record(generationConfig).speechConfig).voiceConfig).prebuiltVoiceConfig).voiceName;
			const modality = record(generationConfig).responseModalities;
			const good = /^\/models\/[^/]+:generateContent$/.test(path) && Array.isArray(contents) && text(voice);
			return good && JSON.stringify(modality) === '["AUDIO"]' ? "wav" : null;
		},
		json: (data) => ({
			candidates: [{ content: { role: "model", parts: [{ inlineData: { mimeType: "audio/wav", data } }] } }],
		}),
		refusal: { error: { code: 401, message: "API key not valid.", status: "UNAUTHENTICATED" } },
	},
	{
		provider: "xai",
		key: ["authorization", `Bearer ${KEY}`],
		format({ path, body }) {
			const output = record(body.output_format);
			const good = path === "/tts" && text(body.text) && text(body.voice_id) && text(body.language);
			return good && output.sample_rate === 24_000 ? oneOf(output.codec, ["mp3", "wav", "pcm"]) : null;
		},
		refusal: { code: "unauthorized", error: `Invalid API key ${KEY}` },
	},
	{
		provider: "elevenlabs",
		key: ["xi-api-key", KEY],
		format({ path, query, body }) {
			const named = { mp3_44100_128: "mp3", opus_48000_64: "opus", pcm_24000: "pcm" } as const;
			const output = query.get("output_format") ?? "";
			const good = /^\/v1\/text-to-speech\/[^/]+$/.test(path) && text(body.text) && text(body.model_id);
			const isKnown = onlyKnown(body, ["text", "model_id", "language_code", "voice_settings"]);
			return good && isKnown && Object.hasOwn(named, output) ? named[output as keyof typeof named] : null;
		},
		refusal: { detail: { status: "invalid_api_key", message: `Invalid API key ${KEY}` } },
	},
	{
		provider: "lmnt",
		key: ["x-api-key", KEY],
		format: ({ path, body }) =>
			path === "/v1/ai/speech/bytes" && text(body.text) && text(body.voice)
				? oneOf(body.response_format, ["mp3", "aac", "wav"])
				: null,
		refusal: { error: `API key ${KEY} is not valid` },
	},
	{
		provider: "hume",
		key: ["x-hume-api-key", KEY],
		format({ path, body }) {
			const [utterance, ...more] = Array.isArray(body.utterances) ? (body.utterances as unknown[]) : [];
			const { text: said, voice } = record(utterance);
			const good = path === "/v0/tts/file" && more.length === 0 && text(said) && text(record(voice).id);
			return good ? oneOf(record(body.format).type, ["mp3", "wav"]) : null;
		},
		refusal: { fault: { faultstring: "Invalid ApiKey" }, message: "Invalid ApiKey" },
	},
	{
		provider: "deepgram",
		key: ["authorization", `Token ${KEY}`],
		format({ path, query, body }) {
			const named = { "mp3/": "mp3", "opus/ogg": "opus", "flac/": "flac", "linear16/wav": "wav" } as const;
			const form = `${query.get("encoding")}/${query.get("container") ?? ""}`;
			const good = path === "/v1/speak" && onlyKnown(body, ["text"]) && text(body.text);
			const model = /^aura-2-[a-z]+-[a-z]{2}$/.test(query.get("model") ?? "");
			return good && model && Object.hasOwn(named, form) ? named[form as keyof typeof named] : null;
		},
		refusal: { err_code: "INVALID_AUTH", err_msg: `Invalid credentials ${KEY}.`, request_id: "r" },
	},
	{
		provider: "mistral",
		key: ["authorization", `Bearer ${KEY}`],
		format: ({ path, body }) =>
			path === "/audio/speech" && text(body.model) && text(body.input) && text(body.voice_id) !== text(body.ref_audio)
				? oneOf(body.response_format, ["mp3", "opus", "flac", "wav"])
				: null,
		json: (audio_data) => ({ audio_data }),
		refusal: { detail: "Unauthorized" },
	},
	{
		provider: "fal",
		key: ["authorization", `Key ${KEY}`],
		format({ method, path, body, headers }) {
			if (method === "GET") return path === "/files/speech.mp3" && headers.get("authorization") === null ? "mp3" : null;
			const isMiniMax = path === "/fal-ai/minimax/speech-02-hd";
			const voiced = isMiniMax ? text(record(body.voice_setting).voice_id) : text(body.voice) || text(body.audio_url);
			return text(body.text) && voiced && body.output_format === "url" ? "mp3" : null;
		},
		json: () => ({ audio: { url: "https://fal.run/files/speech.mp3", content_type: "audio/mpeg" }, request_id: "r" }),
		refusal: { detail: "Cannot access application: no user found for the key" },
	},
];

export const PROVIDER_KEY = KEY;
