import type { FramedEvent } from "./event-frame.ts";
import type { SecretMask } from "./secret-mask.ts";

/** As few characters of a secret give nothing away, and end many a word. */
const LEAST_BEGINNING = 6;

/**
 * Finds secrets that a stream says in pieces. An event whose text ends like the beginning of a secret waits for the next
 * one, and both go on as one event.
 */
export class SplitSecrets {
	readonly #secrets: readonly string[];
	readonly #mask: SecretMask;
	readonly #longest: number;
	/** The end of what was said in events of this frame, and has gone on. */
	#said = "";
	#frame: FramedEvent["frame"] | null = null;
	#waiting: FramedEvent | null = null;

	constructor(mask: SecretMask) {
		this.#mask = mask;
		this.#secrets = mask.spoken;
		this.#longest = mask.spoken[0]?.length ?? 0;
	}

	/** What may go on now that this event is there: null where it waits for the next one. */
	take(event: FramedEvent): FramedEvent | null {
		if (event.frame !== this.#frame) {
			this.#frame = event.frame;
			this.#said = "";
		}
		const waited = this.#waiting;
		this.#waiting = null;
		const whole = waited === null ? event : event.behind(waited);
		const clean = this.#masked(whole);
		if (this.#endsLikeSecret(this.#said + clean.said)) {
			this.#waiting = clean;
			return null;
		}
		this.#said = (this.#said + clean.said).slice(-this.#longest);
		return clean;
	}

	/** What waits, where the next event is of another frame, or there is none. */
	release(next: FramedEvent | null): FramedEvent | null {
		const waited = this.#waiting;
		if (waited === null || next?.frame === waited.frame) return null;
		this.#waiting = null;
		return waited;
	}

	/** Without the rest of a secret whose beginning has gone on, or the whole of one. */
	#masked(event: FramedEvent): FramedEvent {
		const before = this.#said.length;
		const text = this.#said + event.said;
		for (const secret of this.#secrets) {
			const at = text.indexOf(secret);
			if (at < 0) continue;
			const kept = text.slice(before, Math.max(before, at));
			const rest = text.slice(Math.max(before, at + secret.length));
			return this.#masked(event.saying(`${kept}[secret]${this.#mask.answer(rest)}`));
		}
		return event;
	}

	#endsLikeSecret(text: string): boolean {
		return this.#secrets.some((secret) => {
			for (let length = Math.min(secret.length - 1, text.length); length >= LEAST_BEGINNING; length--)
				if (text.endsWith(secret.slice(0, length))) return true;
			return false;
		});
	}
}
