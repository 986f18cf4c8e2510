const OPEN = "<think>";
const CLOSE = "</think>";
/** No answer has more; the rest of one that has goes through as it is. */
const MAX_BLOCKS = 10_000;

/** A text, or a piece of one, with its thoughts apart. */
export interface SplitText {
	readonly content: string;
	readonly thought: string;
}

/**
 * Tells the `<think>...</think>` blocks of a text from the rest. The text comes in pieces, and a tag may be split
 * over them: what may be the beginning of one is held back until the next piece, or `end`, decides.
 */
export class ThinkBlockSplitter {
	#pending = "";
	#blocks = 0;
	#inside: boolean;
	/** The text began inside a block: some servers send the first tag all the same. */
	#mayOpen: boolean;
	/** Blank lines that models write behind a tag go: of the answer behind a block, of the thought at its beginning. */
	#trimContent = false;
	#trimThought = true;
	#content = "";
	#thought = "";

	/** `inside`: the first tag stood in the prompt, so that the text begins with a thought. */
	constructor(inside = false) {
		this.#inside = inside;
		this.#mayOpen = inside;
	}

	/** What of the text so far is certain, and was not told before. */
	push(piece: string): SplitText {
		let text = this.#pending + piece;
		this.#pending = "";
		if (this.#mayOpen) {
			const begun = text.trimStart();
			if (begun.length < OPEN.length && OPEN.startsWith(begun)) {
				this.#pending = text;
				return this.#told();
			}
			this.#mayOpen = false;
			if (begun.startsWith(OPEN)) text = begun.slice(OPEN.length);
		}
		for (;;) {
			const tag = this.#inside ? CLOSE : OPEN;
			const at = this.#blocks < MAX_BLOCKS ? text.indexOf(tag) : -1;
			if (at < 0) {
				const held = partialTag(text, tag);
				this.#add(text.slice(0, text.length - held));
				this.#pending = text.slice(text.length - held);
				return this.#told();
			}
			this.#add(text.slice(0, at));
			text = text.slice(at + tag.length);
			this.#inside = !this.#inside;
			this.#blocks++;
			if (this.#inside) this.#trimThought = true;
			else this.#trimContent = true;
		}
	}

	/** What was held back and turned out to be no tag. */
	end(): SplitText {
		this.#mayOpen = false;
		this.#add(this.#pending);
		this.#pending = "";
		return this.#told();
	}

	#add(text: string): void {
		if (this.#inside) {
			const said = this.#trimThought ? text.trimStart() : text;
			if (said !== "") this.#trimThought = false;
			this.#thought += said;
		} else {
			const said = this.#trimContent ? text.trimStart() : text;
			if (said !== "") this.#trimContent = false;
			this.#content += said;
		}
	}

	#told(): SplitText {
		const told = { content: this.#content, thought: this.#thought };
		this.#content = "";
		this.#thought = "";
		return told;
	}
}

/** Length of the longest end of `text` that begins `tag`. */
function partialTag(text: string, tag: string): number {
	for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
		if (text.endsWith(tag.slice(0, length))) return length;
	return 0;
}

/** A whole text with its thoughts apart. */
export function splitThinkBlocks(text: string, inside = false): SplitText {
	const splitter = new ThinkBlockSplitter(inside);
	const first = splitter.push(text);
	const rest = splitter.end();
	return { content: first.content + rest.content, thought: first.thought + rest.thought };
}
