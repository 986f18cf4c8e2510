/** What kind of model an upstream lists: by what the server says of it, else by its id. */

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
	/(?:^|[-_/.:])(?:tts|whisper|moderation|rerank(?:er)?|transcribe|kokoro|parakeet|dall-e|sdxl|stable-diffusion|imagen|sora|veo)(?:[-_/.:\d]|$)/i,
	/(?:^|\/)(?:gpt-image|chatgpt-image|flux)(?:[-_.:\d]|$)/i,
];
const EMBEDDING_IDS = [
	/(?:^|[-_/.:])embed(?:ding|dings|der)?(?:[-_/.:\d]|$)/i,
	/(?:^|[/])(?:all-minilm|bge|(?:multilingual-)?e5|gte|voyage)(?:[-_.:\d]|$)/i,
];

/** null: a kind that is not listed, since nothing here could call it. */
export function listedKind(id: string, item: Readonly<Record<string, unknown>>, info: unknown): "text" | "embedding" | null {
	for (const told of [item.type, item.mode, (info as { mode?: unknown } | undefined)?.mode]) {
		if (typeof told !== "string") continue;
		if (told === "embedding" || told === "embeddings") return "embedding";
		if (OTHER_KINDS.has(told)) return null;
		if (CHAT_KINDS.has(told)) return "text";
	}
	if (OTHER_IDS.some((pattern) => pattern.test(id))) return null;
	return EMBEDDING_IDS.some((pattern) => pattern.test(id)) ? "embedding" : "text";
}
