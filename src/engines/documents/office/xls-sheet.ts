import { link, oneLine, quote } from "../markdown.ts";
import { BIFF, type BiffRecord, biffRecords } from "./biff-records.ts";
import { BiffText } from "./biff-text.ts";
import { type CellValues, withoutCodes } from "./sheet-cells.ts";
import { SheetRows } from "./sheet-rows.ts";

/** Data that all sheets of a workbook share. */
export interface XlsWorkbook extends CellValues {
	/** Strings of the version of 1997 state whether they are UTF-16; older ones are bytes in the workbook's encoding. */
	readonly isVersion8: boolean;
	readonly encoding: string;
}

/** The visible content of a sheet. */
export interface XlsSheet {
	readonly rows: string[][];
	readonly headers: readonly string[];
	readonly footers: readonly string[];
	readonly links: readonly string[];
	readonly comments: readonly string[];
	readonly boxes: readonly string[];
}

const ERRORS: Readonly<Record<number, string>> = {
	0: "#NULL!",
	7: "#DIV/0!",
	15: "#VALUE!",
	23: "#REF!",
	29: "#NAME?",
	36: "#NUM!",
	42: "#N/A",
};
const URL_MONIKER = "e0c9ea79f9bace118c8200aa004ba90b";

/**
 * Reads a sheet or chart that begins at an offset ([MS-XLS], 2.1.7.20.5).
 * @throws {DocumentFault}
 */
export function readXlsSheet(bytes: Buffer, at: number, workbook: XlsWorkbook): XlsSheet {
	const reader = new SheetReader(workbook);
	let depth = 0;
	for (const record of biffRecords(bytes, at)) {
		if (record.type === BIFF.begin) depth += 1;
		else if (record.type === BIFF.endOfPart) depth -= 1;
		if (depth <= 0) break;
		reader.take(record);
	}
	return reader.end();
}

class SheetReader {
	readonly #workbook: XlsWorkbook;
	readonly #cells: SheetRows;
	readonly #headers: string[] = [];
	readonly #footers: string[] = [];
	readonly #links: string[] = [];
	readonly #boxes = new Map<number, string>();
	readonly #notes = new Map<number, { readonly place: string; readonly author: string }>();
	readonly #oldNotes: string[] = [];
	#object = -1;
	/** The cell of a formula whose text result follows it. */
	#formulaAt: readonly [row: number, column: number] = [0, 0];

	constructor(workbook: XlsWorkbook) {
		this.#workbook = workbook;
		this.#cells = new SheetRows(workbook.budget);
	}

	take({ type, data, more }: BiffRecord): void {
		switch (type) {
			case BIFF.number:
				this.#number(data, 0, data.readUInt16LE(4), data.readDoubleLE(6));
				break;
			case BIFF.rk:
				this.#number(data, 0, data.readUInt16LE(4), rkNumber(data.readUInt32LE(6)));
				break;
			case BIFF.multipleRk:
				for (let at = 4, index = 0; at + 6 <= data.length - 2; at += 6, index += 1)
					this.#number(data, index, data.readUInt16LE(at), rkNumber(data.readUInt32LE(at + 2)));
				break;
			case BIFF.stringOfTable:
				this.#set(data, this.#workbook.strings[data.readUInt32LE(6)] ?? "");
				break;
			case BIFF.label:
			case BIFF.richString:
				this.#set(data, this.#string([data, ...more], 6));
				break;
			case BIFF.booleanOrError:
				this.#set(data, booleanOrError(data.readUInt8(6), data.readUInt8(7) !== 0));
				break;
			case BIFF.formula:
				this.#formula(data);
				break;
			case BIFF.formulaString: {
				const [row, column] = this.#formulaAt;
				this.#cells.set(row, column, this.#string([data, ...more], 0));
				break;
			}
			case BIFF.hyperlink:
				this.#hyperlink(data);
				break;
			case BIFF.object:
				this.#object = data.readUInt16LE(6);
				break;
			case BIFF.boxText:
				this.#boxText(data, more);
				break;
			case BIFF.note:
				this.#note(data);
				break;
			case BIFF.header:
			case BIFF.footer: {
				if (data.length === 0) break;
				const text = this.#workbook.isVersion8 ? this.#string([data], 0) : this.#narrow(data, 1, data.readUInt8(0));
				(type === BIFF.header ? this.#headers : this.#footers).push(withoutCodes(text));
			}
		}
	}

	end(): XlsSheet {
		const comments = [...this.#notes].flatMap(([id, { place, author }]) => {
			const text = this.#boxes.get(id);
			this.#boxes.delete(id);
			return text === undefined
				? []
				: [quote(`Comment on ${place}${author.trim() === "" ? "" : ` by ${author}`}: ${oneLine(text)}`)];
		});
		return {
			rows: this.#cells.rows(),
			headers: this.#headers,
			footers: this.#footers,
			links: this.#links,
			comments: [...this.#oldNotes, ...comments],
			boxes: [...this.#boxes.values()],
		};
	}

	#set(data: Buffer, shown: string): void {
		this.#cells.set(data.readUInt16LE(0), data.readUInt16LE(2), shown);
	}

	#number(data: Buffer, columnsOn: number, style: number, value: number): void {
		const shown = this.#workbook.formats.show(String(value), style);
		this.#cells.set(data.readUInt16LE(0), data.readUInt16LE(2) + columnsOn, shown);
	}

	/** Reads the last value of a formula: a number, or the type in its last bytes ([MS-XLS], 2.5.133). */
	#formula(data: Buffer): void {
		this.#formulaAt = [data.readUInt16LE(0), data.readUInt16LE(2)];
		const kind = data.readUInt8(6);
		if (data.readUInt16LE(12) !== 0xffff) this.#number(data, 0, data.readUInt16LE(4), data.readDoubleLE(6));
		else if (kind === 1 || kind === 2) this.#set(data, booleanOrError(data.readUInt8(8), kind === 2));
	}

	#string(pieces: readonly Buffer[], at: number): string {
		const text = new BiffText(pieces, at);
		const count = text.uint16();
		if (count === 0) return "";
		return this.#workbook.isVersion8 ? text.string(count) : text.narrow(count, this.#workbook.encoding);
	}

	#narrow(data: Buffer, at: number, count: number): string {
		return new BiffText([data], at).narrow(count, this.#workbook.encoding);
	}

	/** The text is in the record's continuation. */
	#boxText(data: Buffer, more: readonly Buffer[]): void {
		const count = data.readUInt16LE(10);
		if (count === 0 || more.length === 0) return;
		const text = new BiffText(more);
		this.#boxes.set(this.#object, text.letters(count, (text.byte() & 1) !== 0).replaceAll("\r", "\n"));
	}

	#note(data: Buffer): void {
		const place = `${columnName(data.readUInt16LE(2))}${data.readUInt16LE(0) + 1}`;
		if (!this.#workbook.isVersion8) {
			const text = this.#narrow(data, 6, Math.min(data.readUInt16LE(4), data.length - 6));
			this.#oldNotes.push(quote(`Comment on ${place}: ${oneLine(text)}`));
			return;
		}
		this.#notes.set(data.readUInt16LE(6), { place, author: this.#string([data], 8) });
	}

	/** Reads a link to an address ([MS-OSHARED], 2.3.7); links within the file are ignored. */
	#hyperlink(data: Buffer): void {
		const at = data.indexOf(URL_MONIKER, 32, "hex");
		const text = this.#cells.get(data.readUInt16LE(0), data.readUInt16LE(4));
		if (at < 0 || text === undefined) return;
		const size = data.readUInt32LE(at + 16);
		const address = data.toString("utf16le", at + 20, at + 20 + size);
		const shown = link(oneLine(text), address.replace(/\0.*$/s, ""));
		if (shown.startsWith("[")) this.#links.push(shown);
	}
}

/** Decodes 30 bits of an integer or of a float's upper part, and a flag for hundredths ([MS-XLS], 2.5.217). */
function rkNumber(rk: number): number {
	const front = Buffer.alloc(8);
	front.writeUInt32LE((rk & 0xfffffffc) >>> 0, 4);
	const value = (rk & 2) === 0 ? front.readDoubleLE(0) : rk >> 2;
	return (rk & 1) === 0 ? value : value / 100;
}

const booleanOrError = (value: number, isError: boolean): string =>
	isError ? (ERRORS[value] ?? "#N/A") : value === 0 ? "FALSE" : "TRUE";

/** 2 is column `C`. */
function columnName(column: number): string {
	const letter = String.fromCharCode(65 + (column % 26));
	return column < 26 ? letter : `${columnName(Math.floor(column / 26) - 1)}${letter}`;
}
