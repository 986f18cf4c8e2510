const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Takes `<think>...</think>` blocks out of text that comes in pieces, also where a tag is split over pieces.
 * Text that may be the beginning of a tag is held back until the next piece, or `end`, decides.
 */
export class ThinkBlockStripper {
	#pending = "";
	#inside = false;
	/** After a block the blank lines that models write behind it go too. */
	#trimStart = false;

	/** The part of what came so far that is certain to be answer. */
	push(piece: string): string {
		let text = this.#pending + piece;
		let kept = "";
		this.#pending = "";
		for (;;) {
			const tag = this.#inside ? CLOSE : OPEN;
			const at = text.indexOf(tag);
			if (at >= 0) {
				if (!this.#inside) kept += this.#clean(text.slice(0, at));
				text = text.slice(at + tag.length);
				this.#inside = !this.#inside;
				if (!this.#inside) this.#trimStart = true;
				continue;
			}
			const held = partialTag(text, tag);
			if (!this.#inside) kept += this.#clean(text.slice(0, text.length - held));
			this.#pending = text.slice(text.length - held);
			return kept;
		}
	}

	/** What was held back and turned out to be no tag. */
	end(): string {
		const rest = this.#inside ? "" : this.#clean(this.#pending);
		this.#pending = "";
		return rest;
	}

	#clean(text: string): string {
		if (!this.#trimStart) return text;
		const trimmed = text.replace(/^\s+/, "");
		if (trimmed !== "") this.#trimStart = false;
		return trimmed;
	}
}

/** Length of the longest end of `text` that begins `tag`. */
function partialTag(text: string, tag: string): number {
	for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
		if (text.endsWith(tag.slice(0, length))) return length;
	return 0;
}

/** A whole text without its think blocks. */
export function withoutThinkBlocks(text: string): string {
	const stripper = new ThinkBlockStripper();
	return stripper.push(text) + stripper.end();
}
