/**
 * The embedded chat model as an OpenAI-compatible upstream on the loopback interface. Usage is exact, a seeded request gets the
 * same answer each time, and work ends when its client leaves. It never calls functions.
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
