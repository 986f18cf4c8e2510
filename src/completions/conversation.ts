import type { ChatMessage } from "./schema.ts";

type Of<Role extends ChatMessage["role"]> = Extract<ChatMessage, { role: Role }>;
type UserPart = Exclude<Of<"user">["content"], string>[number];
type TextPart = Extract<UserPart, { type: "text" }>;

export type { TextPart, UserPart };

/** A model's thought in an earlier turn, as it is sent back to it. */
export interface Thought {
	readonly text: string;
	/** The provider's own pieces, which it needs back unchanged. */
	readonly details?: readonly unknown[];
	readonly signature?: string;
}

/** A message under construction. */
type Draft<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A conversation in chat form, built from the items of another form. An assistant's thoughts, texts and calls of one
 * turn become one message. Results of calls become tool messages; their images follow in a user message, since tool
 * messages have text only.
 */
export class Conversation {
	readonly messages: ChatMessage[] = [];
	/** The source item with which each message began. */
	readonly #sources: number[] = [];
	#source = 0;
	#assistant: Draft<Of<"assistant">> | null = null;
	#resultMedia: UserPart[] = [];

	/** Sets the source item of what is added next. */
	from(source: number): void {
		this.#source = source;
	}

	/** Returns the source item of a message. */
	sourceOf(message: number): number {
		return this.#sources[message] ?? message;
	}

	system(role: "system" | "developer", content: string | TextPart[]): void {
		this.#add({ role, content });
	}

	user(content: string | UserPart[]): void {
		const media = this.#takeMedia();
		if (media.length === 0) this.#add({ role: "user", content });
		else this.#add({ role: "user", content: [...media, ...(typeof content === "string" ? [textPart(content)] : content)] });
	}

	thought({ text, details, signature }: Thought): void {
		const turn = this.#turn();
		// No separator: providers count the characters of their thoughts.
		if (text !== "") turn.reasoning_content = (turn.reasoning_content ?? "") + text;
		if (details !== undefined && details.length > 0) {
			turn.reasoning_details ??= [];
			for (const detail of details) turn.reasoning_details.push(detail);
		}
		if (signature !== undefined) turn.thought_signature = signature;
	}

	assistantText(content: string | TextPart[]): void {
		const turn = this.#turn();
		if (turn.content === undefined || turn.content === null || turn.content === "") turn.content = content;
		else {
			if (typeof turn.content === "string") turn.content = [textPart(turn.content)];
			for (const part of typeof content === "string" ? [textPart(content)] : content) turn.content.push(part);
		}
	}

	assistantCalled(call: { readonly id: string; readonly name: string; readonly arguments: string }): void {
		const { id, name, arguments: written } = call;
		const turn = this.#turn();
		const toolCall: { id: string } = { id, ...{ type: "function", function: { name, arguments: written } } };
		turn.tool_calls ??= [];
		turn.tool_calls.push(toolCall);
	}

	result(callId: string, content: string | TextPart[], media: readonly UserPart[] = []): void {
		const empty = content.length === 0 && typeof content !== "string";
		this.#push({ role: "tool", tool_call_id: callId, content: empty ? "" : content });
		for (const part of media) this.#resultMedia.push(part);
	}

	/** Returns the messages, including content that waited for a next message. */
	finish(): ChatMessage[] {
		const media = this.#takeMedia();
		if (media.length > 0) this.#push({ role: "user", content: media });
		for (const message of this.messages)
			if (message.role === "assistant" && message.content === undefined && message.tool_calls === undefined) message.content = "";
		return this.messages;
	}

	#add(message: ChatMessage): void {
		const media = this.#takeMedia();
		if (media.length > 0) this.#push({ role: "user", content: media });
		this.#push(message);
	}

	#push(message: ChatMessage): void {
		this.#assistant = null;
		this.messages.push(message);
		this.#sources.push(this.#source);
	}

	#takeMedia(): UserPart[] {
		const media = this.#resultMedia;
		this.#resultMedia = [];
		return media;
	}

	#turn(): Draft<Of<"assistant">> {
		if (this.#assistant !== null) return this.#assistant;
		const turn: Draft<Of<"assistant">> = { role: "assistant" };
		this.#add(turn);
		this.#assistant = turn;
		return turn;
	}
}

export function textPart(text: string): TextPart {
	return { type: "text", text };
}
