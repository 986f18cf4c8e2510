/**
 * The embedded chat model as an OpenAI-compatible upstream on the loopback interface. Promises: exact usage,
 * the same answer to the same seeded request, work that ends when its client leaves. Never calls functions.
 */
export { checkChatEngine } from "./check.ts";
export {
	EMBEDDED_CHAT_ASSET,
	EMBEDDED_CHAT_MODEL,
	EmbeddedChat,
	type EmbeddedChatOptions,
	type EmbeddedChatState,
	type Endpoint,
} from "./embedded-chat.ts";
export { nativeChatEngine } from "./native-package.ts";
