import { DocumentFault } from "../document-fault.ts";
import { decodeBytes } from "../rtf/code-pages.ts";

/** Flags in the first byte of a string ([MS-XLS], 2.5.293). */
const WIDE = 1;
const EXTENDED = 4;
const RICH = 8;

/** Reads the strings of a record and its continuations; each continuation states the character width again. */
export class BiffText {
	readonly #pieces: readonly Buffer[];
	#piece = 0;
	#at: number;

	constructor(pieces: readonly Buffer[], at = 0) {
		this.#pieces = pieces;
		this.#at = at;
	}

	get done(): boolean {
		return this.#piece >= this.#pieces.length || (this.#piece === this.#pieces.length - 1 && this.#rest() === 0);
	}

	byte(): number {
		return this.#take(1).readUInt8(0);
	}

	uint16(): number {
		return this.#take(2).readUInt16LE(0);
	}

	uint32(): number {
		return this.#take(4).readUInt32LE(0);
	}

	/** Reads a string of a known length; fonts and phonetic readings are skipped. */
	string(count: number): string {
		const flags = this.byte();
		const runs = (flags & RICH) === 0 ? 0 : this.uint16();
		const extension = (flags & EXTENDED) === 0 ? 0 : this.uint32();
		const text = this.letters(count, (flags & WIDE) !== 0);
		this.#skip(runs * 4 + extension);
		return text;
	}

	/** Reads a string of the older versions: bytes in the workbook's code page. */
	narrow(count: number, encoding: string): string {
		return decodeBytes([...this.#take(count)], encoding);
	}

	letters(count: number, startsWide: boolean): string {
		let text = "";
		let wide = startsWide;
		for (let left = count; left > 0; ) {
			if (this.#rest() === 0) wide = (this.#nextPiece().readUInt8(this.#at++) & WIDE) !== 0;
			const size = wide ? 2 : 1;
			const now = Math.min(left, Math.floor(this.#rest() / size));
			if (now === 0) throw cutOff();
			text += this.#take(now * size).toString(wide ? "utf16le" : "latin1");
			left -= now;
		}
		return text;
	}

	#rest(): number {
		return (this.#pieces[this.#piece]?.length ?? 0) - this.#at;
	}

	#nextPiece(): Buffer {
		const piece = this.#pieces[this.#piece + 1];
		if (piece === undefined || piece.length === 0) throw cutOff();
		this.#piece += 1;
		this.#at = 0;
		return piece;
	}

	#take(size: number): Buffer {
		const piece = this.#rest() > 0 ? this.#pieces[this.#piece] : this.#nextPiece();
		if (piece === undefined || this.#rest() < size) throw cutOff();
		this.#at += size;
		return piece.subarray(this.#at - size, this.#at);
	}

	#skip(size: number): void {
		for (let left = size; left > 0; ) {
			if (this.#rest() === 0) this.#nextPiece();
			const now = Math.min(left, this.#rest());
			this.#at += now;
			left -= now;
		}
	}
}

const cutOff = () => new DocumentFault("corrupt", "The file is cut off or damaged: it cannot be read as a workbook");
