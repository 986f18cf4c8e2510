/**
 * What this server runs itself, each in a child process of its own. Promises: an engine is started at first use,
 * its crash, its memory or its silence fails the requests it had and nothing else, and no child outlives the
 * server. Never runs native or unbounded code on the server's own event loop.
 */
export { AUDIO_CONTENT_TYPES, AUDIO_FORMATS, type AudioEncoder, checkAudioEncoder, FfmpegEncoder } from "./audio/index.ts";
export {
	checkChatEngine,
	EMBEDDED_CHAT_ASSET,
	EMBEDDED_CHAT_MAX_COMPLETION_TOKENS,
	EMBEDDED_CHAT_MODEL,
	EmbeddedChat,
	type EmbeddedChatOptions,
	type EmbeddedChatState,
	type Endpoint,
} from "./chat/index.ts";
export type { EngineCheck } from "./engine-check.ts";
export { EngineError, type EngineErrorCode } from "./engine-error.ts";
export { EngineProcess, type EngineProcessOptions, type EngineState } from "./process.ts";
export { SchemaChecker, type SchemaCheckerOptions } from "./schemas/index.ts";
export { checkSpeechEngine, EmbeddedSpeech, nativeSpeechEngine, type SpeechEngine, SpeechInputError } from "./speech/index.ts";
export { checkTokenCounter, estimateTokens, TokenCounter, type TokenCounterOptions } from "./tokens/index.ts";
