import { tokensOfBytes } from "../engines/tokens/estimate-tokens.ts";
import type { JsonMember } from "../upstreams/chat/port.ts";
import { atOnce, inTurns, type LongStrings, utf8Text } from "../wire/index.ts";
import type { ChatInput } from "./chat-input.ts";
import type { MessageContents } from "./check-messages.ts";
import { type ChatBody, ChatBodySchema } from "./schema.ts";

/** Maximum number of tokens of one medium, whatever its data's size. */
const IMAGE_TOKENS = 2_000;
const AUDIO_TOKENS = 20_000;
const VIDEO_TOKENS = 60_000;
/** Maximum number of tokens of all files sent unchanged: a hundred dense pages, read as text and as pictures. */
const FILE_TOKENS = 250_000;
const OVERHEAD_PER_ITEM = 16;
/** No tokenizer in use packs more bytes than this into an average token of a whole prompt. */
const MOST_BYTES_PER_TOKEN = 16;

/** Fields that no server puts into the prompt. Unknown keys count, since a server may. */
const SILENT_FIELDS: ReadonlySet<string> = new Set(
	Object.keys(ChatBodySchema.properties).filter((key) => !["messages", "tools", "response_format"].includes(key)),
);

export interface PromptSize {
	/** An upper bound of prompt tokens: no token is shorter than a byte (docs/money.md). */
	readonly atMost: number;
	/** An upper bound of the text's tokens alone, without the media's. */
	readonly textAtMost: number;
	readonly atLeast: number;
}

/**
 * Returns bounds of the prompt's tokens, from bytes alone.
 * @param addedBytes text that we add (system prompt, character)
 */
export function promptSize(
	{ body, raw, long }: ChatInput,
	members: readonly JsonMember[],
	contents: MessageContents,
	addedBytes: number,
): PromptSize {
	let bytes = addedBytes;
	for (const { key, valueStart, valueEnd } of members)
		if (!SILENT_FIELDS.has(key)) bytes += long.sizeIn(raw, valueStart, valueEnd);
	const text = Math.max(0, bytes - contents.mediaBytes - contents.fileDataBytes);
	const items = body.messages.length + (body.tools?.length ?? 0) + (addedBytes > 0 ? 1 : 0);
	const files = Math.min(Math.ceil(contents.nativeFileBytes / 2), FILE_TOKENS);
	const media = contents.images * IMAGE_TOKENS + contents.audios * AUDIO_TOKENS + contents.videos * VIDEO_TOKENS + files;
	const textAtMost = text + OVERHEAD_PER_ITEM * items;
	return { atMost: textAtMost + media, textAtMost, atLeast: Math.floor(text / MOST_BYTES_PER_TOKEN) };
}

/** Longer prompts are estimated: counting them takes too long, and no model's context holds them. */
const MAX_COUNTED_BYTES = 4 * 1_048_576;

/** A piece of the prompt: a text, or JSON that goes into it. Long strings in it are cut. */
type PromptPiece = { readonly text: string } | { readonly json: string };

/** The prompt's text, for counting its tokens. */
export class PromptText {
	readonly #pieces: readonly PromptPiece[];
	readonly #long: LongStrings;

	/** @param added text that we add */
	constructor(body: ChatBody, added: string, long: LongStrings) {
		this.#pieces = promptPieces(body, added);
		this.#long = long;
	}

	/** Size of the text as written in the body. */
	get bytes(): number {
		return this.#pieces.reduce((sum, piece) => sum + this.#sizeOf(piece) + 1, 0);
	}

	/** Returns the tokens of the text and of `more` after it: counted, or estimated by bytes where it is very long. */
	async tokens(countTokens: (text: string) => Promise<number>, more = ""): Promise<number> {
		if (this.#long.isEmpty || this.bytes <= MAX_COUNTED_BYTES)
			return countTokens(this.#pieces.map((piece) => this.#whole(piece)).join("\n") + more);
		let bytes = Buffer.byteLength(more);
		for (const piece of this.#pieces)
			bytes += "json" in piece ? this.#sizeOf(piece) : await inTurns(this.#long.textBytesOf(piece.text));
		return tokensOfBytes(bytes);
	}

	#sizeOf(piece: PromptPiece): number {
		if ("text" in piece) return this.#long.bytesOf(piece.text);
		const json = Buffer.from(piece.json);
		return this.#long.sizeIn(json, 0, json.length);
	}

	#whole(piece: PromptPiece): string {
		if ("text" in piece) return this.#long.textOf(piece.text);
		if (this.#long.isEmpty) return piece.json;
		const whole = atOnce(this.#long.whole(Buffer.from(piece.json)));
		return utf8Text(whole, 0, whole.length);
	}
}

function promptPieces(body: ChatBody, added: string): PromptPiece[] {
	const pieces: PromptPiece[] = added === "" ? [] : [{ text: added }];
	const addJson = (value: unknown): void => void pieces.push({ json: JSON.stringify(value) });
	for (const message of body.messages) {
		const { content } = message;
		if (typeof content === "string") pieces.push({ text: content });
		else if (Array.isArray(content)) for (const part of content) if (part.type === "text") pieces.push({ text: part.text });
		if ("tool_calls" in message && message.tool_calls) addJson(message.tool_calls);
	}
	if (body.tools !== undefined && body.tools.length > 0) addJson(body.tools);
	if (body.response_format !== undefined) addJson(body.response_format);
	for (const [key, value] of Object.entries(body)) if (!(key in ChatBodySchema.properties)) addJson(value);
	return pieces;
}

/** Returns the tokens of message frames and media, which counting the text does not see. */
export function promptOverheadTokens(body: ChatBody, contents: MessageContents): number {
	const files = Math.min(Math.ceil(contents.nativeFileBytes / 20), FILE_TOKENS / 5);
	return 4 * body.messages.length + 3 + contents.images * 1_000 + contents.audios * 2_000 + contents.videos * 6_000 + files;
}
