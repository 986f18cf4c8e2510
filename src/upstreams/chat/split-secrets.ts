import { isRecord } from "../../schema/is-record.ts";
import { isFinishReason } from "../finish-reason.ts";
import { MASKED_SECRET, type SecretMask } from "../secret-mask.ts";
import { type ChatEvent, type EventFrame, FramedEvent } from "./event-frame.ts";
import { textPlaces } from "./event-texts.ts";

/** Fewer characters of a secret reveal nothing, and end many a word. */
const LEAST_BEGINNING = 6;
/**
 * Maximum number of texts followed in one stream: those of eight choices, with calls. Above it, text that is held back
 * is released.
 */
const MAX_TEXTS = 256;

type Fields = Readonly<Record<string, unknown>>;

/** A text that arrives in pieces. */
interface TextUnderWay {
	/** The end of the text sent so far. */
	sentEnd: string;
	/** Held-back text that may begin a secret. */
	heldBack: string;
	/** The event of the held-back text. */
	event: ChatEvent | null;
}

/**
 * Masks secrets that are split over the events of a stream. The end of a piece that may begin a secret is held back
 * until the next piece of the same text.
 */
export class SplitSecrets {
	readonly #secrets: readonly string[];
	readonly #longest: number;
	readonly #texts = new Map<string, TextUnderWay>();
	readonly #frameKeys = new WeakMap<EventFrame, string>();

	constructor(mask: SecretMask) {
		this.#secrets = mask.ownSecrets;
		this.#longest = mask.ownSecrets[0]?.length ?? 0;
	}

	/** Adds an event, and returns the events that may be sent. */
	take(event: ChatEvent): ChatEvent[] {
		if (event instanceof FramedEvent) return this.#framed(event);
		const flushed = this.#texts.size < MAX_TEXTS ? [] : this.flush();
		const places = textPlaces(event.body);
		const sendable = places.map(({ key, text }) => this.#next(key, text, event));
		const ended = endedChoices(event.body);
		for (const [index, { key }] of places.entries()) {
			if (!isOf(key, ended)) continue;
			sendable[index] += this.#texts.get(key)?.heldBack ?? "";
			this.#texts.delete(key);
		}
		const isSame = places.every(({ text }, index) => text === sendable[index]);
		const whole = isSame ? event : withTexts(event.body, (_, index) => sendable[index] ?? "");
		return [...flushed, ...this.#release(ended), whole];
	}

	/** Returns the held-back text of all texts at the end. */
	flush(): ChatEvent[] {
		const events = [...this.#texts].flatMap(([key, text]) => releaseHeldBack(key, text));
		this.#texts.clear();
		return events;
	}

	#framed(event: FramedEvent): ChatEvent[] {
		const { frame, piece } = event;
		const key = this.#frameKeys.get(frame) ?? textPlaces(frame.like)[0]?.key ?? "";
		this.#frameKeys.set(frame, key);
		const sendable = this.#next(key, piece, event);
		if (sendable === piece) return [event];
		return sendable === "" ? [] : [event.withPiece(sendable)];
	}

	/** Returns the held-back text of choices that end. */
	#release(ended: readonly string[]): ChatEvent[] {
		if (ended.length === 0) return [];
		const last = [...this.#texts].filter(([key]) => isOf(key, ended));
		for (const [key] of last) this.#texts.delete(key);
		return last.flatMap(([key, text]) => releaseHeldBack(key, text));
	}

	/** Adds a piece to a text, and returns the part that may be sent. */
	#next(key: string, piece: string, event: ChatEvent): string {
		const text = this.#texts.get(key) ?? { sentEnd: "", heldBack: "", event: null };
		this.#texts.set(key, text);
		const clean = this.#withoutSecrets(text.sentEnd, text.heldBack + piece);
		const held = this.#beginning(text.sentEnd + clean, clean.length);
		text.heldBack = clean.slice(clean.length - held);
		text.event = held === 0 ? null : event;
		const sendable = clean.slice(0, clean.length - held);
		text.sentEnd = (text.sentEnd + sendable).slice(-this.#longest);
		return sendable;
	}

	/** Returns `next` without whole secrets, and without the rest of a secret whose beginning was sent. */
	#withoutSecrets(sentEnd: string, next: string): string {
		const whole = sentEnd + next;
		for (const secret of this.#secrets) {
			const at = whole.indexOf(secret);
			if (at < 0 || at + secret.length <= sentEnd.length) continue;
			const before = whole.slice(sentEnd.length, Math.max(sentEnd.length, at));
			return `${this.#withoutSecrets(sentEnd, before)}${MASKED_SECRET}${this.#withoutSecrets("", whole.slice(at + secret.length))}`;
		}
		return next;
	}

	/** Returns how many of the last characters, up to `most`, may begin a secret or belong to one. */
	#beginning(text: string, most: number): number {
		let longest = 0;
		for (const secret of this.#secrets)
			for (let length = Math.min(secret.length - 1, text.length); length >= LEAST_BEGINNING && length > longest; length--)
				if (text.endsWith(secret.slice(0, length))) longest = length;
		return Math.min(longest, most);
	}
}

/** Returns the indices of choices that end with this event, as prefixes of text keys. */
function endedChoices({ choices }: Fields): string[] {
	return (Array.isArray(choices) ? (choices as unknown[]) : []).flatMap((choice) =>
		isRecord(choice) && isFinishReason(choice.finish_reason) ? [`${String(choice.index ?? 0)} `] : [],
	);
}

function isOf(key: string, choices: readonly string[]): boolean {
	return choices.some((choice) => key.startsWith(choice));
}

/** Returns a copy of a text's event with the held-back text. */
function releaseHeldBack(key: string, { heldBack: held, event }: TextUnderWay): ChatEvent[] {
	if (held === "" || event === null) return [];
	if (event instanceof FramedEvent) return [event.withPiece(held)];
	return [withTexts(event.body, (place) => (place === key ? held : ""), false)];
}

/** Returns an event with other texts. One that only releases held-back text has no finish reason and no usage. */
function withTexts(like: Fields, text: (key: string, index: number) => string, isWhole = true): ChatEvent {
	const body = structuredClone(like) as Record<string, unknown>;
	for (const [index, place] of textPlaces(body).entries()) place.write(text(place.key, index));
	if (!isWhole) {
		delete body.usage;
		for (const choice of Array.isArray(body.choices) ? (body.choices as unknown[]) : [])
			if (isRecord(choice)) choice.finish_reason = null;
	}
	return { text: JSON.stringify(body), body, frame: null, written: "", piece: "" };
}
