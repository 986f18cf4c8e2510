import { DocumentFault } from "../document-fault.ts";
import { MAX_SHEETS } from "../limits.ts";
import { blocks, heading, table } from "../markdown.ts";
import { encodingOfPage } from "../rtf/code-pages.ts";
import { BIFF, biffRecords } from "./biff-records.ts";
import { BiffText } from "./biff-text.ts";
import { NumberFormats } from "./number-formats.ts";
import { readXlsSheet, type XlsWorkbook } from "./xls-sheet.ts";

const VERSION_8 = 0x0600;
const WORKSHEET = 0;
const CHART = 2;

interface SheetPlace {
	readonly name: string;
	readonly at: number;
	readonly hidden: boolean;
}

/**
 * Converts a workbook of the formats of 1993 to 2003 ([MS-XLS]: BIFF 5 to 8) to Markdown: each sheet with its name, its values
 * as shown, its comments and boxes.
 * @param bytes the stream `Workbook` or `Book` of the file
 * @throws {DocumentFault}
 */
export function xlsToMarkdown(bytes: Buffer): string {
	const { workbook, sheets } = readGlobals(bytes);
	if (sheets.length > MAX_SHEETS) throw new DocumentFault("too-large", `The file has more than ${MAX_SHEETS} sheets`);
	return blocks(
		sheets.flatMap(({ name, at, hidden }) => {
			const sheet = readXlsSheet(bytes, at, workbook);
			return [
				heading(2, `${name}${hidden ? " (hidden)" : ""}`),
				...sheet.headers,
				table(sheet.rows),
				...sheet.links,
				...sheet.boxes,
				...sheet.comments,
				...sheet.footers,
			];
		}),
	);
}

function readGlobals(bytes: Buffer): { workbook: XlsWorkbook; sheets: SheetPlace[] } {
	const sheets: SheetPlace[] = [];
	const styles: number[] = [];
	const formats = new Map<number, string>();
	let strings: string[] = [];
	let from1904 = false;
	let isVersion8 = true;
	let encoding = "windows-1252";
	const short = (text: BiffText, count: number) => (isVersion8 ? text.string(count) : text.narrow(count, encoding));
	for (const { type, data, more, at } of biffRecords(bytes, 0)) {
		if (type === BIFF.endOfPart) break;
		if (at === 0) {
			if (type !== BIFF.begin) throw new DocumentFault("unsupported", "The file is a workbook of a version that is not read");
			isVersion8 = data.readUInt16LE(0) >= VERSION_8;
		}
		const text = new BiffText([data, ...more]);
		if (type === BIFF.filePassword) throw new DocumentFault("encrypted", "The file is protected by a password");
		else if (type === BIFF.codePage) encoding = encodingOfPage(data.readUInt16LE(0));
		else if (type === BIFF.from1904) from1904 = data.readUInt16LE(0) === 1;
		else if (type === BIFF.style) styles.push(data.readUInt16LE(2));
		else if (type === BIFF.format) formats.set(text.uint16(), short(text, isVersion8 ? text.uint16() : text.byte()));
		else if (type === BIFF.strings) strings = readStrings(text);
		else if (type === BIFF.sheet) {
			const place = text.uint32();
			const visibility = text.byte();
			const kind = text.byte();
			const name = short(text, text.byte());
			if (kind === WORKSHEET || kind === CHART) sheets.push({ name, at: place, hidden: (visibility & 3) !== 0 });
		}
	}
	return {
		workbook: {
			strings,
			formats: new NumberFormats(styles, formats, from1904),
			isVersion8,
			encoding,
			budget: { cells: 0, chars: 0 },
		},
		sheets,
	};
}

/** A truncated table gives the strings that are present. */
function readStrings(text: BiffText): string[] {
	const strings: string[] = [];
	text.uint32();
	const count = text.uint32();
	while (strings.length < count && !text.done) strings.push(text.string(text.uint16()));
	return strings;
}
