/** What kind of model an upstream lists: by what the server says of it, else by its id. */
import { isRecord } from "../schema/is-record.ts";

/** Kinds of models that have no chat and no vectors, as servers call them (LiteLLM's `mode` among them). */
const OTHER_KINDS: ReadonlySet<string> = new Set([
	"image",
	"image_generation",
	"image_edit",
	"audio",
	"audio_speech",
	"audio_transcription",
	"tts",
	"stt",
	"asr",
	"video",
	"video_generation",
	"moderation",
	"rerank",
	"transcribe",
	"ocr",
]);
const CHAT_KINDS: ReadonlySet<string> = new Set(["llm", "vlm", "chat", "completion", "text", "language", "responses"]);

/** Names of families that make no text: parts of an id, between its separators. */
const OTHER_IDS = [
	/(?:^|[-_/.:])(?:tts|whisper|moderation|rerank(?:er)?|transcribe|kokoro|parakeet|realtime|ocr)(?:[-_/.:\d]|$)/i,
	/(?:^|[-_/.:])(?:dall-e|sdxl|stable-diffusion|imagen|imagine|sora|veo)(?:[-_/.:\d]|$)/i,
	/(?:^|\/)(?:(?:gpt|chatgpt|qwen|stable|hunyuan|glm|grok-2)-image|flux|sd-?[23]|sd-turbo|orpheus)(?:[-_.:\d]|$)/i,
];
const EMBEDDING_IDS = [
	/(?:^|[-_/.:])embed(?:ding|dings|der)?(?:[-_/.:\d]|$)/i,
	/(?:^|[-_/.:])embeddinggemma(?:[-_/.:\d]|$)/i,
	/(?:^|[/])(?:all-minilm|all-mpnet|bge|(?:multilingual-)?e5|gte|voyage|paraphrase|text2vec|clip)(?:[-_.:\d]|$)/i,
];

/**
 * The kind: `type` (LM Studio, Together AI), `mode` (LiteLLM), `model_type` (Xinference), what it puts out (OpenRouter).
 * null: a kind that is not listed, since nothing here could call it.
 */
export function listedKind(id: string, item: Readonly<Record<string, unknown>>, info: unknown): "text" | "embedding" | null {
	for (const said of [item.type, item.mode, (info as { mode?: unknown } | undefined)?.mode, item.model_type]) {
		if (typeof said !== "string") continue;
		const told = said.toLowerCase();
		if (told === "embedding" || told === "embeddings") return "embedding";
		if (OTHER_KINDS.has(told)) return null;
		if (CHAT_KINDS.has(told)) return "text";
	}
	const makes = isRecord(item.architecture) ? item.architecture.output_modalities : undefined;
	if (Array.isArray(makes) && makes.length > 0 && !makes.includes("text"))
		return makes.includes("embeddings") ? "embedding" : null;
	if (OTHER_IDS.some((pattern) => pattern.test(id))) return null;
	return EMBEDDING_IDS.some((pattern) => pattern.test(id)) ? "embedding" : "text";
}
