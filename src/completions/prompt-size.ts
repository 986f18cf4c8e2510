import type { JsonMember } from "../upstreams/port.ts";
import type { LongStrings } from "../wire/index.ts";
import type { MessageFacts } from "./check-messages.ts";
import { type ChatBody, ChatBodySchema } from "./schema.ts";

/** Tokens that one medium counts for at most, whatever its data's size. */
const IMAGE_TOKENS = 2_000;
const AUDIO_TOKENS = 20_000;
const VIDEO_TOKENS = 60_000;
/** Of all files that go on as they are: what a hundred dense pages, read as text and as pictures, count for. */
const FILE_TOKENS = 250_000;
const OVERHEAD_PER_ITEM = 16;
/** No tokenizer in use packs more bytes than this into an average token of a whole prompt. */
const MOST_BYTES_PER_TOKEN = 16;

/** Fields that no server puts into the prompt. Of keys that we do not know it may: they count. */
const SILENT_FIELDS: ReadonlySet<string> = new Set(
	Object.keys(ChatBodySchema.properties).filter((key) => !["messages", "tools", "response_format"].includes(key)),
);

export interface PromptSize {
	/** An upper bound of prompt tokens: no token is shorter than a byte (docs/money.md). */
	readonly atMost: number;
	/** The same of the text alone, without what media are taken for. */
	readonly textAtMost: number;
	readonly atLeast: number;
}

/** Bounds of the prompt's tokens, from bytes alone. `addedBytes` is text that we put in (system prompt, character). */
export function promptSize(body: ChatBody, members: readonly JsonMember[], facts: MessageFacts, addedBytes: number): PromptSize {
	let bytes = addedBytes;
	for (const member of members) if (!SILENT_FIELDS.has(member.key)) bytes += member.valueEnd - member.valueStart;
	const text = Math.max(0, bytes - facts.mediaBytes - facts.fileDataBytes);
	const items = body.messages.length + (body.tools?.length ?? 0) + (addedBytes > 0 ? 1 : 0);
	const files = Math.min(Math.ceil(facts.nativeFileBytes / 2), FILE_TOKENS);
	const media = facts.images * IMAGE_TOKENS + facts.audios * AUDIO_TOKENS + facts.videos * VIDEO_TOKENS + files;
	const textAtMost = text + OVERHEAD_PER_ITEM * items;
	return { atMost: textAtMost + media, textAtMost, atLeast: Math.floor(text / MOST_BYTES_PER_TOKEN) };
}

/** The prompt's text, for counting its tokens. */
export function promptText(body: ChatBody, added: string, long: LongStrings): string {
	const pieces: string[] = added === "" ? [] : [added];
	for (const message of body.messages) {
		const { content } = message;
		if (typeof content === "string") pieces.push(long.textOf(content));
		else if (Array.isArray(content)) for (const part of content) if (part.type === "text") pieces.push(long.textOf(part.text));
		if ("tool_calls" in message && message.tool_calls) pieces.push(long.jsonOf(message.tool_calls));
	}
	if (body.tools !== undefined && body.tools.length > 0) pieces.push(long.jsonOf(body.tools));
	if (body.response_format !== undefined) pieces.push(long.jsonOf(body.response_format));
	for (const [key, value] of Object.entries(body)) if (!(key in ChatBodySchema.properties)) pieces.push(long.jsonOf(value));
	return pieces.join("\n");
}

/** Tokens of message frames and media, which counting the text does not see. */
export function promptOverheadTokens(body: ChatBody, facts: MessageFacts): number {
	const files = Math.min(Math.ceil(facts.nativeFileBytes / 20), FILE_TOKENS / 5);
	return 4 * body.messages.length + 3 + facts.images * 1_000 + facts.audios * 2_000 + facts.videos * 6_000 + files;
}
