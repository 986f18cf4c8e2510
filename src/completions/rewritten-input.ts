import {
	arrayElements,
	type ByteRange,
	type JsonMember,
	lastMember,
	memberSplice,
	objectMembers,
	Splice,
	sliceBySlice,
	spliceMembers,
} from "../wire/index.ts";
import type { ChatInput } from "./chat-input.ts";
import type { ChatBody, ChatMessage } from "./schema.ts";

/** A text with its JSON in pieces, without the quotes. */
export interface ChangedText {
	readonly text: string;
	readonly json: readonly Uint8Array[];
}

/** Writes a text of any length as JSON, slice by slice, in turns of the event loop. */
export async function changedText(text: string): Promise<ChangedText> {
	return { text, json: await sliceBySlice(text, (slice) => Buffer.from(JSON.stringify(slice).slice(1, -1))) };
}

/** Changes to the messages: parts that become texts, and a text before the content of a user's message. */
export interface MessageChanges {
	/** Texts by message, then by part of its content. */
	readonly texts: ReadonlyMap<number, ReadonlyMap<number, ChangedText>>;
	readonly before: { readonly message: number; readonly text: string } | null;
}

type UserMessage = Extract<ChatMessage, { role: "user" }>;

/** One message whose content changes: the positions of the message and its content in the body. */
interface Place {
	readonly message: ByteRange;
	readonly members: readonly JsonMember[];
	readonly content: JsonMember;
	/** null: the content is a text. */
	readonly parts: readonly ByteRange[] | null;
}

/**
 * A chat request whose messages are changed; the rest stays byte for byte. Positions are found at once, since reading
 * files overwrites the bytes of their data.
 */
export class RewrittenInput {
	readonly #input: ChatInput;
	readonly #members: readonly JsonMember[];
	readonly #messages: ByteRange;
	readonly #places = new Map<number, Place>();

	/** @param touched the messages of the user that may change */
	constructor(input: ChatInput, members: readonly JsonMember[], touched: Iterable<number>) {
		this.#input = input;
		this.#members = members;
		const messages = lastMember(members, "messages");
		this.#messages = { start: messages?.valueStart ?? 0, end: messages?.valueEnd ?? 0 };
		const elements = arrayElements(input.raw, this.#messages.start);
		for (const index of touched) {
			const message = elements[index];
			if (message === undefined) continue;
			const own = objectMembers(input.raw, message.start);
			const content = lastMember(own, "content");
			if (content === undefined) continue;
			const parts = input.raw[content.valueStart] === 0x5b ? arrayElements(input.raw, content.valueStart) : null;
			this.#places.set(index, { message, members: own, content, parts });
		}
	}

	with(changes: MessageChanges): ChatInput {
		const { raw, body, long } = this.#input;
		const list = new Splice(raw);
		let keptTo = this.#messages.start;
		const messages: ChatMessage[] = [...body.messages];
		for (const [index, place] of [...this.#places].sort(([a], [b]) => a - b)) {
			const texts = changes.texts.get(index) ?? new Map<number, ChangedText>();
			const before = changes.before?.message === index ? changes.before.text : null;
			const message = body.messages[index];
			if ((texts.size === 0 && before === null) || message?.role !== "user") continue;
			const content = this.#content(place, message, texts, before);
			list.keep(keptTo, place.message.start);
			list.insert(memberSplice(raw, place.members, new Map([["content", content]]), place.message) ?? content);
			keptTo = place.message.end;
			messages[index] = { ...message, content: changedContent(message, texts, before, (text) => long.viewOf(text) !== null) };
		}
		list.keep(keptTo, this.#messages.end);
		const changed: ChatBody = { ...body, messages };
		return { body: changed, raw: spliceMembers(raw, this.#members, new Map([["messages", list]])), long };
	}

	#content(place: Place, message: UserMessage, texts: ReadonlyMap<number, ChangedText>, before: string | null): Splice {
		const { raw } = this.#input;
		const content = new Splice(raw);
		if (place.parts === null) {
			if (before !== null) content.insert(`${JSON.stringify(before).slice(0, -1)}\\n\\n`);
			// It starts after the quote where another text is inserted before it.
			content.keep(place.content.valueStart + (before === null ? 0 : 1), place.content.valueEnd);
			return content;
		}
		const originalParts = Array.isArray(message.content) ? message.content : [];
		content.insert("[");
		if (before !== null) content.insert(`${JSON.stringify({ type: "text", text: before })}${place.parts.length > 0 ? "," : ""}`);
		for (const [index, part] of place.parts.entries()) {
			if (index > 0) content.insert(",");
			const text = texts.get(index);
			if (text === undefined) content.keep(part.start, part.end);
			else insertText(content, originalParts[index], text);
		}
		content.insert("]");
		return content;
	}
}

type Part = Exclude<UserMessage["content"], string>[number];

/** Inserts the JSON of `textInPlaceOf`, without joining it. */
function insertText(content: Splice, part: Part | undefined, { json }: ChangedText): void {
	const empty = JSON.stringify(textInPlaceOf(part, ""));
	const inside = empty.indexOf('"text":""') + '"text":"'.length;
	content.insert(empty.slice(0, inside));
	for (const piece of json) content.insert(piece);
	content.insert(empty.slice(inside));
}

/** Returns a text part that keeps the cache hint of the part it replaces. */
function textInPlaceOf(part: Part | undefined, text: string): Extract<Part, { type: "text" }> {
	return { type: "text", text, ...(part?.cache_control === undefined ? {} : { cache_control: part.cache_control }) };
}

/**
 * Returns the parsed form of the changed content. A text that is cut in the parsed copy stays a string of its own, so
 * that its whole can be found.
 */
function changedContent(
	{ content }: UserMessage,
	texts: ReadonlyMap<number, ChangedText>,
	before: string | null,
	isCut: (text: string) => boolean,
): UserMessage["content"] {
	if (typeof content === "string" && (before === null || !isCut(content)))
		return before === null ? content : `${before}\n\n${content}`;
	const originalParts: Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
	const changed = originalParts.map((part, index) => {
		const text = texts.get(index);
		return text === undefined ? part : textInPlaceOf(part, text.text);
	});
	return before === null ? changed : [{ type: "text", text: before }, ...changed];
}
