import { isRecord } from "../../schema/is-record.ts";
import { isFinishReason } from "./finish-reason.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * What the events of a stream have in common: nearly all of them are the same JSON text but for one string, the
 * next piece of what the model says. An event that differs from a parsed one in the content of a string alone is
 * valid JSON too, and says the same in every other respect: it need not be parsed.
 */
export class EventFrame {
	/** The text up to and with the opening quote of that string. */
	readonly head: string;
	/** The text from its closing quote on. */
	readonly tail: string;
	/** The same with the lines that most servers put around it. */
	readonly lineHead: string;
	readonly lineTail: string;
	/** The parsed event that it was taken from. */
	readonly like: Fields;

	constructor(head: string, tail: string, like: Fields) {
		this.head = head;
		this.tail = tail;
		this.like = like;
		this.lineHead = `data: ${head}`;
		this.lineTail = `${tail}\n\n`;
	}

	/** The event, where it has this frame and its piece is JSON; else null. */
	match(text: string): FramedEvent | null {
		const end = text.length - this.tail.length;
		if (end < this.head.length || !text.startsWith(this.head) || !text.endsWith(this.tail)) return null;
		const written = text.slice(this.head.length, end);
		const said = unquoted(written);
		return said === null ? null : new FramedEvent(this, written, said);
	}
}

/** An event that is known without having been parsed. */
export class FramedEvent implements ChatEvent {
	readonly frame: EventFrame;
	readonly written: string;
	readonly piece: string;

	/** `written`: what stands between the quotes; `said`: the same, decoded. */
	constructor(frame: EventFrame, written: string, said: string) {
		this.frame = frame;
		this.written = written;
		this.piece = said;
	}

	/** An event that says another text. */
	withPiece(said: string): FramedEvent {
		return new FramedEvent(this.frame, JSON.stringify(said).slice(1, -1), said);
	}

	get text(): string {
		return this.frame.head + this.written + this.frame.tail;
	}

	get body(): Fields {
		return JSON.parse(this.text) as Fields;
	}
}

/** null where this is not what may stand between the quotes of a JSON string. */
function unquoted(written: string): string | null {
	try {
		return JSON.parse(`"${written}"`) as string;
	} catch {
		return null;
	}
}

/**
 * The frame of a parsed event: of one that carries a piece of one choice's text, thoughts or tool arguments and
 * nothing else that counts (no usage, no end). null for every other, and where the piece's place is not plain.
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
	// Where another piece in that place is what the event says then, the place is the piece's.
	const other = piece === "a" ? "b" : "a";
	return pieceOf(parsedOrNull(head + other + tail)) === other ? new EventFrame(head, tail, body) : null;
}

/** Keys of a delta under which there may be something said. */
const SAYING = ["content", "reasoning_content", "reasoning", "refusal", "tool_calls"];

/** The one string that an event says and that does not end it; null where it says nothing or several things. */
function pieceOf(body: Fields | null): string | null {
	const choice = only(body?.choices);
	if (choice === null || isFinishReason(choice.finish_reason) || choice.usage) return null;
	if (!isRecord(choice.delta)) return typeof choice.text === "string" && choice.text !== "" ? choice.text : null;
	let piece: string | null = null;
	for (const key of SAYING) {
		const value = choice.delta[key];
		if (value === undefined || value === null || value === "") continue;
		const said = key === "tool_calls" ? argumentsOf(value) : value;
		if (piece !== null || typeof said !== "string") return null;
		piece = said;
	}
	return piece;
}

/** A piece of the arguments of one tool call, where that is all. */
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

/** The one element of an array, where it has just one and that is an object. */
function only(array: unknown): Fields | null {
	return Array.isArray(array) && array.length === 1 && isRecord(array[0]) ? array[0] : null;
}

/** One SSE data event. */
export interface ChatEvent {
	/** Its JSON text, as it came. */
	readonly text: string;
	/** Parsed at first use. */
	readonly body: Readonly<Record<string, unknown>>;
	/**
	 * Set where the event is an earlier one over again with another piece of what the model says, and nothing
	 * else: no usage, no end. That piece is `said` then, `written` as it stands in the JSON.
	 */
	readonly frame: EventFrame | null;
	readonly written: string;
	readonly piece: string;
}
