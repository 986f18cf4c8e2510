import { isRecord } from "../../schema/is-record.ts";
import { isFinishReason } from "../finish-reason.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * The common text of a stream's events. Nearly all events are the same JSON but for one string: the next piece of the
 * model's text. An event that differs from a parsed one only in the content of that string is valid JSON with the same
 * meaning, so it need not be parsed.
 */
export class EventFrame {
	/** The text up to and including the opening quote of that string. */
	readonly head: string;
	/** The text from the closing quote on. */
	readonly tail: string;
	/** The head with the line ends that most servers send. */
	readonly lineHead: string;
	readonly lineTail: string;
	/** The parsed event from which the frame was taken. */
	readonly like: Fields;

	constructor(head: string, tail: string, like: Fields) {
		this.head = head;
		this.tail = tail;
		this.like = like;
		this.lineHead = `data: ${head}`;
		this.lineTail = `${tail}\n\n`;
	}

	/** Returns the event, if it has this frame and its piece is JSON; else null. */
	match(text: string): FramedEvent | null {
		const end = text.length - this.tail.length;
		if (end < this.head.length || !text.startsWith(this.head) || !text.endsWith(this.tail)) return null;
		const written = text.slice(this.head.length, end);
		const piece = unquote(written);
		return piece === null ? null : new FramedEvent(this, written, piece);
	}
}

/** An event that matches a frame and so needs no parsing. */
export class FramedEvent implements ChatEvent {
	readonly frame: EventFrame;
	readonly written: string;
	readonly piece: string;

	/**
	 * @param written the text between the quotes
	 * @param piece the same, decoded
	 */
	constructor(frame: EventFrame, written: string, piece: string) {
		this.frame = frame;
		this.written = written;
		this.piece = piece;
	}

	/** Returns the event with another text. */
	withPiece(piece: string): FramedEvent {
		return new FramedEvent(this.frame, JSON.stringify(piece).slice(1, -1), piece);
	}

	get text(): string {
		return this.frame.head + this.written + this.frame.tail;
	}

	get body(): Fields {
		return JSON.parse(this.text) as Fields;
	}
}

/** Returns the decoded text; null if it is not the content of a JSON string. */
function unquote(written: string): string | null {
	try {
		return JSON.parse(`"${written}"`) as string;
	} catch {
		return null;
	}
}

/**
 * Returns the frame of a parsed event that carries only a piece of one choice's text, thoughts or tool arguments (no
 * usage, no end). Returns null for every other event, and if the position of the piece is ambiguous.
 */
export function frameOf(text: string, body: Fields): EventFrame | null {
	if ((body.usage ?? null) !== null || body.x_groq || body.eval_count) return null;
	const piece = pieceOf(body);
	if (piece === null) return null;
	const written = JSON.stringify(piece);
	const at = text.lastIndexOf(written);
	if (at < 0) return null;
	const head = text.slice(0, at + 1);
	const tail = text.slice(at + written.length - 1);
	// If another piece at that position changes the event's text, the position is right.
	const other = piece === "a" ? "b" : "a";
	return pieceOf(parsedOrNull(head + other + tail)) === other ? new EventFrame(head, tail, body) : null;
}

/** Keys of a delta that may hold content. */
const TEXT_KEYS = ["content", "reasoning_content", "reasoning", "refusal", "tool_calls"];

/** Returns the one string of an event that does not end it; null if it has none or several. */
function pieceOf(body: Fields | null): string | null {
	const choice = only(body?.choices);
	if (choice === null || isFinishReason(choice.finish_reason) || choice.usage) return null;
	if (!isRecord(choice.delta)) return typeof choice.text === "string" && choice.text !== "" ? choice.text : null;
	let piece: string | null = null;
	for (const key of TEXT_KEYS) {
		const value = choice.delta[key];
		if (value === undefined || value === null || value === "") continue;
		const text = key === "tool_calls" ? argumentsOf(value) : value;
		if (piece !== null || typeof text !== "string") return null;
		piece = text;
	}
	return piece;
}

/** Returns a piece of the arguments of one tool call, where the calls hold nothing else. */
function argumentsOf(calls: unknown): unknown {
	const called = only(calls)?.function;
	return isRecord(called) && !called.name ? called.arguments || null : null;
}

function parsedOrNull(text: string): Fields | null {
	try {
		return JSON.parse(text) as Fields;
	} catch {
		return null;
	}
}

/** Returns the only element of an array, where it is an object. */
function only(array: unknown): Fields | null {
	return Array.isArray(array) && array.length === 1 && isRecord(array[0]) ? array[0] : null;
}

/** One SSE data event. */
export interface ChatEvent {
	/** The JSON text as received. */
	readonly text: string;
	/** Parsed at first use. */
	readonly body: Readonly<Record<string, unknown>>;
	/**
	 * Set if the event differs from an earlier one only in the piece of the model's text, without usage and without an
	 * end. `piece` is that piece, and `written` is its JSON form.
	 */
	readonly frame: EventFrame | null;
	readonly written: string;
	readonly piece: string;
}
