import WordExtractor from "word-extractor";
import { DocumentFault } from "../document-fault.ts";
import { blocks, quote, table } from "../markdown.ts";
import type { ReadAttachment } from "../plain/mail.ts";
import { eqFieldText } from "./eq-field.ts";
import { OleStreams } from "./ole-streams.ts";
import { pptToMarkdown } from "./ppt.ts";
import { xlsToMarkdown } from "./xls.ts";

/** The signatures of documents of Word 97 to 2003, and of Word 6 and 95 ([MS-DOC], 2.5.1). */
const WORD_97 = 0xa5ec;
const WORD_6 = 0xa5dc;
const WORD_ENCRYPTED = 0x0100;
const FIELD = { begin: "\x13", result: "\x14", end: "\x15" };
const MAX_FIELD_CHARS = 4_000;

/**
 * Converts an OLE file ([MS-CFB]): a document, workbook or presentation of the old formats, or a mail. A new format inside an
 * OLE file has a password. The root decides the type, because embedded files have their own storages.
 * @throws {DocumentFault}
 */
export async function oleToMarkdown(source: Uint8Array, readAttachment: ReadAttachment): Promise<string> {
	const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
	const file = new OleStreams(bytes);
	if (file.has("EncryptedPackage")) throw new DocumentFault("encrypted", "The file is protected by a password");
	if (file.has("__properties_version1.0")) {
		// Rarely used and large, so it is loaded on demand.
		const { outlookMailToMarkdown } = await import("../plain/outlook-mail.ts");
		return outlookMailToMarkdown(bytes, readAttachment);
	}
	const workbook = file.stream("Workbook") ?? file.stream("Book");
	if (workbook !== null) return xlsToMarkdown(workbook);
	const presentation = file.stream("PowerPoint Document");
	if (presentation !== null) return pptToMarkdown(file, presentation);
	if (file.has("WordDocument")) return docToMarkdown(bytes, file);
	if (file.has("CONTENTS"))
		throw new DocumentFault("unsupported", "The file is a document of Microsoft Works: it is not read here");
	throw new DocumentFault("unsupported", "The file is an OLE file of a type that is not read");
}

/** Throws a DocumentFault if the document is of an older version, or has a password ([MS-DOC], 2.5.2). */
function requireReadable(head: Buffer): void {
	const mark = head.length < 12 ? 0 : head.readUInt16LE(0);
	if (mark === WORD_6)
		throw new DocumentFault(
			"unsupported",
			"The file is a document of Word 6 or 95: save it in a newer format, it is not read here",
		);
	if (mark === WORD_97 && (head.readUInt16LE(10) & WORD_ENCRYPTED) !== 0)
		throw new DocumentFault("encrypted", "The file is protected by a password");
}

async function docToMarkdown(bytes: Buffer, file: OleStreams): Promise<string> {
	requireReadable(file.stream("WordDocument") ?? Buffer.alloc(0));
	let document: Awaited<ReturnType<WordExtractor["extract"]>>;
	try {
		document = await new WordExtractor().extract(withFormulas(bytes));
	} catch (fault) {
		const text = fault instanceof Error ? fault.message : String(fault);
		if (/encrypt|password/i.test(text)) throw new DocumentFault("encrypted", "The file is protected by a password");
		throw new DocumentFault("corrupt", "The file is cut off or damaged: it cannot be read as a Word document");
	}
	const notes = [...lines(document.getFootnotes()), ...lines(document.getEndnotes())];
	return blocks([
		document.getHeaders({ includeFooters: false }),
		...bodyBlocks(document.getBody().split(/\r?\n/)),
		document.getTextboxes({ includeHeadersAndFooters: false, includeBody: true }),
		...notes.map((note, index) => `[^${index + 1}]: ${note}`),
		...lines(document.getAnnotations()).map((text) => quote(`Comment: ${text}`)),
		document.getFooters(),
	]);
}

/**
 * Writes the text of EQ fields as their results, because the library skips fields without one. A field is code between the
 * characters 0x13 and 0x15, with its result behind 0x14 ([MS-DOC], 2.8.25).
 */
function withFormulas(bytes: Buffer): Buffer {
	const changed = Buffer.from(bytes);
	for (const encoding of ["utf16le", "latin1"] as const) {
		const text = bytes.toString(encoding);
		let from = 0;
		for (let end = text.indexOf(FIELD.end); end >= 0; from = end + 1, end = text.indexOf(FIELD.end, from)) {
			const field = text.slice(Math.max(from, end - MAX_FIELD_CHARS), end);
			const begin = field.lastIndexOf(FIELD.begin);
			const code = field.slice(begin + 1).replace(new RegExp(`${FIELD.result}$`), "");
			const shown = begin < 0 || code.includes(FIELD.result) ? null : eqFieldText(code);
			if (shown === null) continue;
			const length = field.length - begin - 2;
			const written = `${FIELD.begin}${FIELD.result.concat(shown.slice(0, length)).padStart(length + 1)}`;
			changed.write(written, (end - written.length) * (encoding === "utf16le" ? 2 : 1), encoding);
		}
	}
	return changed;
}

/** Each cell of a row ends with a tab; the other lines are paragraphs. */
function bodyBlocks(body: readonly string[]): string[] {
	const markdown: string[] = [];
	let rows: string[][] = [];
	const endTable = () => {
		if (rows.length > 0) markdown.push(table(rows));
		rows = [];
	};
	for (const line of body) {
		const cells = line.endsWith("\t") ? line.slice(0, -1).split("\t") : [];
		if (cells.length > 1) rows.push(cells);
		else {
			endTable();
			markdown.push(line);
		}
	}
	endTable();
	return markdown;
}

const lines = (text: string): string[] => text.split(/\r?\n/).flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
