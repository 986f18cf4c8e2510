import { isRecord } from "../../schema/is-record.ts";
import { MASKED_SECRET, type SecretMask } from "../secret-mask.ts";
import type { ChatEvent } from "./event-frame.ts";
import { type EventFrame, FramedEvent } from "./event-frame.ts";
import { textPlaces } from "./event-texts.ts";
import { isFinishReason } from "./finish-reason.ts";

/** As few characters of a secret give nothing away, and end many a word. */
const LEAST_BEGINNING = 6;
/** Texts of one stream that are followed: those of eight choices, with calls. Past it what is held back is told. */
const MAX_TEXTS = 256;

type Fields = Readonly<Record<string, unknown>>;

/** A text that comes in pieces. */
interface Text {
	/** Its end, of what has gone on. */
	gone: string;
	/** What is like the beginning of a secret, and waits for the next piece. */
	held: string;
	/** The event whose piece it was. */
	event: ChatEvent | null;
}

/**
 * Finds secrets that a stream says in pieces, whatever else differs between its events. The end of a piece that is like the
 * beginning of a secret is held back, and goes on with the next piece of the same text.
 */
export class SplitSecrets {
	readonly #secrets: readonly string[];
	readonly #longest: number;
	readonly #texts = new Map<string, Text>();
	readonly #frameKeys = new WeakMap<EventFrame, string>();

	constructor(mask: SecretMask) {
		this.#secrets = mask.spoken;
		this.#longest = mask.spoken[0]?.length ?? 0;
	}

	/** What may go on now that this event is there. */
	take(event: ChatEvent): ChatEvent[] {
		if (event instanceof FramedEvent) return this.#framed(event);
		const told = this.#texts.size < MAX_TEXTS ? [] : this.flush();
		const places = textPlaces(event.body);
		const going = places.map(({ key, text }) => this.#next(key, text, event));
		const ended = endedChoices(event.body);
		for (const [index, { key }] of places.entries()) {
			if (!isOf(key, ended)) continue;
			going[index] += this.#texts.get(key)?.held ?? "";
			this.#texts.delete(key);
		}
		const isSame = places.every(({ text }, index) => text === going[index]);
		const whole = isSame ? event : saying(event.body, (_, index) => going[index] ?? "");
		return [...told, ...this.#release(ended), whole];
	}

	/** What is held back of all texts: nothing more comes of them. */
	flush(): ChatEvent[] {
		const told = [...this.#texts].flatMap(([key, text]) => released(key, text));
		this.#texts.clear();
		return told;
	}

	#framed(event: FramedEvent): ChatEvent[] {
		const { frame, piece } = event;
		const key = this.#frameKeys.get(frame) ?? textPlaces(frame.like)[0]?.key ?? "";
		this.#frameKeys.set(frame, key);
		const going = this.#next(key, piece, event);
		if (going === piece) return [event];
		return going === "" ? [] : [event.withPiece(going)];
	}

	/** What was held back of choices that end. */
	#release(ended: readonly string[]): ChatEvent[] {
		if (ended.length === 0) return [];
		const last = [...this.#texts].filter(([key]) => isOf(key, ended));
		for (const [key] of last) this.#texts.delete(key);
		return last.flatMap(([key, text]) => released(key, text));
	}

	/** What goes on of a text with its next piece. */
	#next(key: string, said: string, event: ChatEvent): string {
		const text = this.#texts.get(key) ?? { gone: "", held: "", event: null };
		this.#texts.set(key, text);
		const clean = this.#masked(text.gone, text.held + said);
		const held = this.#beginning(text.gone + clean, clean.length);
		text.held = clean.slice(clean.length - held);
		text.event = held === 0 ? null : event;
		const going = clean.slice(0, clean.length - held);
		text.gone = (text.gone + going).slice(-this.#longest);
		return going;
	}

	/** `next` without the rest of a secret whose beginning has gone on, and without whole ones. */
	#masked(gone: string, next: string): string {
		const whole = gone + next;
		for (const secret of this.#secrets) {
			const at = whole.indexOf(secret);
			if (at < 0 || at + secret.length <= gone.length) continue;
			const kept = whole.slice(gone.length, Math.max(gone.length, at));
			return `${this.#masked(gone, kept)}${MASKED_SECRET}${this.#masked("", whole.slice(at + secret.length))}`;
		}
		return next;
	}

	/** How many of the last characters, of `most` at most, are like the beginning of a secret or belong to one. */
	#beginning(text: string, most: number): number {
		let longest = 0;
		for (const secret of this.#secrets)
			for (let length = Math.min(secret.length - 1, text.length); length >= LEAST_BEGINNING && length > longest; length--)
				if (text.endsWith(secret.slice(0, length))) longest = length;
		return Math.min(longest, most);
	}
}

/** The indices of choices that end with this event, as keys of texts begin. */
function endedChoices({ choices }: Fields): string[] {
	return (Array.isArray(choices) ? (choices as unknown[]) : []).flatMap((choice) =>
		isRecord(choice) && isFinishReason(choice.finish_reason) ? [`${String(choice.index ?? 0)} `] : [],
	);
}

function isOf(key: string, choices: readonly string[]): boolean {
	return choices.some((choice) => key.startsWith(choice));
}

/** The event of a text once more, with what was held back of it. */
function released(key: string, { held, event }: Text): ChatEvent[] {
	if (held === "" || event === null) return [];
	if (event instanceof FramedEvent) return [event.withPiece(held)];
	return [saying(event.body, (place) => (place === key ? held : ""), false)];
}

/** An event that says other texts; one that only tells what was held back ends nothing and counts nothing. */
function saying(like: Fields, text: (key: string, index: number) => string, isWhole = true): ChatEvent {
	const body = structuredClone(like) as Record<string, unknown>;
	for (const [index, place] of textPlaces(body).entries()) place.write(text(place.key, index));
	if (!isWhole) {
		delete body.usage;
		for (const choice of Array.isArray(body.choices) ? (body.choices as unknown[]) : [])
			if (isRecord(choice)) choice.finish_reason = null;
	}
	return { text: JSON.stringify(body), body, frame: null, written: "", piece: "" };
}
