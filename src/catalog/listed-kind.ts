/** The kind of a model in an upstream's list: from the server's data, otherwise from the id. */
import { isRecord } from "../schema/is-record.ts";

export type ListedKind = "text" | "embedding" | "tts" | "image";

/** Kinds that are not listed, in the words of the servers (including LiteLLM's `mode`). */
const OTHER_KINDS: ReadonlySet<string> = new Set([
	"image_edit",
	"audio",
	"audio_transcription",
	"stt",
	"asr",
	"video",
	"video_generation",
	"moderation",
	"rerank",
	"transcribe",
	"ocr",
]);
const KINDS: ReadonlyMap<string, ListedKind> = new Map([
	...["llm", "vlm", "chat", "completion", "text", "language", "responses"].map((kind) => [kind, "text"] as const),
	["embedding", "embedding"],
	["embeddings", "embedding"],
	["tts", "tts"],
	["audio_speech", "tts"],
	["image", "image"],
	["image_generation", "image"],
]);

/** Names of model families that no route can call: parts of an id, between its separators. */
const OTHER_IDS = [
	/(?:^|[-_/.:])(?:whisper|moderation|rerank(?:er)?|transcribe|parakeet|realtime|ocr)(?:[-_/.:\d]|$)/i,
	/(?:^|[-_/.:])(?:imagine|sora|veo)(?:[-_/.:\d]|$)/i,
	/(?:^|\/)(?:qwen-image|flux[\w.-]*)-(?:edit|kontext|fill)(?:[-_.:\d]|$)/i,
];
const SPEECH_IDS = [/(?:^|[-_/.:])(?:tts|kokoro|orpheus)(?:[-_/.:\d]|$)/i];
const IMAGE_IDS = [
	/(?:^|[-_/.:])(?:dall-e|sdxl|stable-diffusion|imagen)(?:[-_/.:\d]|$)/i,
	/(?:^|\/)(?:(?:gpt|chatgpt|qwen|stable|hunyuan|glm|grok-2)-image|flux|sd-?[23]|sd-turbo)(?:[-_.:\d]|$)/i,
];
const EMBEDDING_IDS = [
	/(?:^|[-_/.:])embed(?:ding|dings|der)?(?:[-_/.:\d]|$)/i,
	/(?:^|[-_/.:])embeddinggemma(?:[-_/.:\d]|$)/i,
	/(?:^|[/])(?:all-minilm|all-mpnet|bge|(?:multilingual-)?e5|gte|voyage|paraphrase|text2vec|clip)(?:[-_.:\d]|$)/i,
];

/**
 * Returns the kind from `type` (LM Studio, Together AI), `mode` (LiteLLM), `model_type` (Xinference) or the output modality
 * (OpenRouter). null for a kind that no route can call.
 */
export function listedKind(id: string, item: Readonly<Record<string, unknown>>, info: unknown): ListedKind | null {
	for (const value of [item.type, item.mode, (info as { mode?: unknown } | undefined)?.mode, item.model_type]) {
		if (typeof value !== "string") continue;
		const serverKind = value.toLowerCase();
		if (OTHER_KINDS.has(serverKind)) return null;
		const kind = KINDS.get(serverKind);
		if (kind !== undefined) return kind;
	}
	const makes = isRecord(item.architecture) ? item.architecture.output_modalities : undefined;
	if (Array.isArray(makes) && makes.length > 0 && !makes.includes("text"))
		return makes.includes("embeddings") ? "embedding" : null;
	if (OTHER_IDS.some((pattern) => pattern.test(id))) return null;
	if (SPEECH_IDS.some((pattern) => pattern.test(id))) return "tts";
	if (IMAGE_IDS.some((pattern) => pattern.test(id))) return "image";
	return EMBEDDING_IDS.some((pattern) => pattern.test(id)) ? "embedding" : "text";
}
