const OPEN = "<think>";
const CLOSE = "</think>";
/** Maximum number of blocks; the rest of the answer is left unchanged. */
const MAX_BLOCKS = 10_000;

/** A text, or a piece of one, separated from its thoughts. */
export interface SplitText {
	readonly content: string;
	readonly thought: string;
}

/**
 * Separates the `<think>...</think>` blocks of a text from the rest. The text arrives in pieces, and a tag may be split
 * over them. A possible beginning of a tag is held back until the next piece, or `end`, decides.
 */
export class ThinkBlockSplitter {
	#pending = "";
	#blocks = 0;
	#inside: boolean;
	/** True if the text began inside a block: some servers send the first tag all the same. */
	#mayOpen: boolean;
	/**
	 * True while blank lines after a tag are removed: from the answer after a block, and from the beginning of a thought.
	 */
	#trimContent = false;
	#trimThought = true;
	#content = "";
	#thought = "";

	/** @param inside true if the prompt had the first tag, so that the text begins with a thought */
	constructor(inside = false) {
		this.#inside = inside;
		this.#mayOpen = inside;
	}

	/** Returns the text that is certain by now and was not returned before. */
	push(piece: string): SplitText {
		let text = this.#pending + piece;
		this.#pending = "";
		if (this.#mayOpen) {
			const trimmed = text.trimStart();
			if (trimmed.length < OPEN.length && OPEN.startsWith(trimmed)) {
				this.#pending = text;
				return this.#takeOutput();
			}
			this.#mayOpen = false;
			if (trimmed.startsWith(OPEN)) text = trimmed.slice(OPEN.length);
		}
		for (;;) {
			const tag = this.#inside ? CLOSE : OPEN;
			const position = this.#blocks < MAX_BLOCKS ? text.indexOf(tag) : -1;
			if (position < 0) {
				const held = partialTag(text, tag);
				this.#add(text.slice(0, text.length - held));
				this.#pending = text.slice(text.length - held);
				return this.#takeOutput();
			}
			this.#add(text.slice(0, position));
			text = text.slice(position + tag.length);
			this.#inside = !this.#inside;
			this.#blocks++;
			if (this.#inside) this.#trimThought = true;
			else this.#trimContent = true;
		}
	}

	/** Returns held-back text that turned out to be no tag. */
	end(): SplitText {
		this.#mayOpen = false;
		this.#add(this.#pending);
		this.#pending = "";
		return this.#takeOutput();
	}

	#add(text: string): void {
		if (this.#inside) {
			const output = this.#trimThought ? text.trimStart() : text;
			if (output !== "") this.#trimThought = false;
			this.#thought += output;
		} else {
			const output = this.#trimContent ? text.trimStart() : text;
			if (output !== "") this.#trimContent = false;
			this.#content += output;
		}
	}

	#takeOutput(): SplitText {
		const output = { content: this.#content, thought: this.#thought };
		this.#content = "";
		this.#thought = "";
		return output;
	}
}

/** Returns the length of the longest end of `text` that begins `tag`. */
function partialTag(text: string, tag: string): number {
	for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
		if (text.endsWith(tag.slice(0, length))) return length;
	return 0;
}

/** Separates a whole text from its thoughts. */
export function splitThinkBlocks(text: string, inside = false): SplitText {
	const splitter = new ThinkBlockSplitter(inside);
	const first = splitter.push(text);
	const rest = splitter.end();
	return { content: first.content + rest.content, thought: first.thought + rest.thought };
}
