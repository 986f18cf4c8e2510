/** The result of `push` and `end`: text that may be sent, and whether a stop string was found. */
export interface Scanned {
	readonly text: string;
	readonly stopped: boolean;
}

/**
 * Finds stop strings in text that comes in pieces. Text that may be the start of one is held back until that is known; the stop
 * string itself is never sent.
 */
export class StopScanner {
	readonly #stops: readonly string[];
	#pending = "";

	/** @param stops empty strings among them are ignored */
	constructor(stops: readonly string[]) {
		this.#stops = stops.filter((stop) => stop !== "");
	}

	push(piece: string): Scanned {
		const text = this.#pending + piece;
		const at = this.#first(text);
		if (at !== null) {
			this.#pending = "";
			return { text: text.slice(0, at), stopped: true };
		}
		const keep = this.#openEnd(text);
		this.#pending = text.slice(text.length - keep);
		return { text: text.slice(0, text.length - keep), stopped: false };
	}

	/** Returns the rest when the text has ended. */
	end(): string {
		const rest = this.#pending;
		this.#pending = "";
		return rest;
	}

	/** Returns the start of the earliest stop string. */
	#first(text: string): number | null {
		const places = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
		return places.length === 0 ? null : Math.min(...places);
	}

	/** Returns how many characters at the end may be the start of a stop string. */
	#openEnd(text: string): number {
		let longest = 0;
		for (const stop of this.#stops)
			for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1)
				if (text.endsWith(stop.slice(0, length))) longest = length;
		return longest;
	}
}
