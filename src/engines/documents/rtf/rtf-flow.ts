import { heading, oneLine, quote, table } from "../markdown.ts";

/** One text flow of a document: its body, a note, a header, a box. Collects paragraphs and tables as blocks. */
export class RtfFlow {
	readonly blocks: string[] = [];
	/** Blocks that follow the current paragraph or table: its notes first. */
	readonly #notes: string[] = [];
	readonly #after: string[] = [];
	#text = "";
	#rows: string[][] = [];
	/** Blocks that follow the rows. */
	readonly #behindRows: string[] = [];
	#row: string[] = [];
	#cell: string[] = [];
	/** The paragraph's `- ` or `1. `. */
	#mark = "";
	inTable = false;
	/** 1 to 9; 0: not a heading. */
	headingLevel = 0;

	add(text: string): void {
		this.#text += text;
	}

	get length(): number {
		return this.#text.length;
	}

	/** Replaces the text from an index on. */
	replaceFrom(place: number, by: (text: string) => string): void {
		this.#text = this.#text.slice(0, place) + by(this.#text.slice(place));
	}

	mark(shown: string): void {
		const text = oneLine(shown);
		if (text !== "") this.#mark = /^[\d]+[.)]?$/.test(text) ? `${Number.parseInt(text, 10)}. ` : "- ";
	}

	note(block: string): void {
		this.#notes.push(block);
	}

	behind(block: string): void {
		this.#after.push(block);
	}

	endParagraph(): void {
		const text = this.#text.trim() === "" ? "" : this.#text;
		this.#text = "";
		const shown =
			text === ""
				? ""
				: this.headingLevel > 0
					? heading(this.headingLevel, text)
					: `${this.#mark}${this.#mark === "" ? text : text.trim()}`;
		this.#mark = "";
		if (this.inTable) {
			this.#cell.push(shown);
			return;
		}
		this.#endTable();
		this.blocks.push(shown, ...this.#behind());
	}

	endCell(): void {
		this.inTable = true;
		this.endParagraph();
		this.#row.push(this.#cell.filter((text) => text !== "").join("\n"));
		this.#cell = [];
	}

	endRow(): void {
		if (this.#row.length > 0) this.#rows.push(this.#row);
		this.#row = [];
		this.#cell = [];
		this.inTable = false;
		this.#behindRows.push(...this.#behind());
	}

	/** Returns all blocks. */
	end(): string[] {
		if (this.#text.trim() !== "" && !this.inTable) this.endParagraph();
		if (this.inTable) this.endCell();
		this.endRow();
		this.#endTable();
		this.blocks.push(...this.#behind());
		return this.blocks;
	}

	#endTable(): void {
		if (this.#rows.length === 0) return;
		this.blocks.push(table(this.#rows), ...this.#behindRows.splice(0));
		this.#rows = [];
	}

	#behind(): string[] {
		return [...this.#notes.splice(0), ...this.#after.splice(0)];
	}
}

export const noteBlock = (number: number, flow: RtfFlow): string =>
	`[^${number}]: ${flow.end().filter(Boolean).join("\n").trim()}`;

export const commentBlock = (author: string, flow: RtfFlow): string =>
	quote(`Comment${author === "" ? "" : ` by ${author}`}: ${oneLine(flow.end().join(" "))}`);
