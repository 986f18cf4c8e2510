import WordExtractor from "word-extractor";
import { DocumentFault } from "../document-fault.ts";
import { blocks, quote, table } from "../markdown.ts";
import type { ReadAttachment } from "../plain/mail.ts";
import { OleStreams } from "./ole-streams.ts";
import { pptToMarkdown } from "./ppt.ts";
import { xlsToMarkdown } from "./xls.ts";

/** The names of an OLE file's streams stand in its directory in UTF-16: they say what it is. */
const holds = (bytes: Buffer, name: string): boolean => bytes.includes(Buffer.from(name, "utf16le"));

/**
 * An OLE file ([MS-CFB]): a document, workbook or presentation of the old formats, or a mail; a new one in it is one with
 * a password.
 * Throws DocumentFault.
 */
export async function oleToMarkdown(source: Uint8Array, readAttachment: ReadAttachment): Promise<string> {
	const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
	if (holds(bytes, "EncryptedPackage")) throw new DocumentFault("encrypted", "The file is protected by a password");
	if (holds(bytes, "WordDocument")) return docToMarkdown(bytes);
	const file = new OleStreams(bytes);
	const workbook = file.stream("Workbook") ?? file.stream("Book");
	if (workbook !== null) return xlsToMarkdown(workbook);
	const presentation = file.stream("PowerPoint Document");
	if (presentation !== null) return pptToMarkdown(file, presentation);
	if (file.stream("__properties_version1.0") !== null) {
		// Rare and large: loaded where one comes.
		const { outlookMailToMarkdown } = await import("../plain/outlook-mail.ts");
		return outlookMailToMarkdown(bytes, readAttachment);
	}
	throw new DocumentFault("unsupported", "The file is an OLE file of a type that is not read");
}

/** The flag of the document's head ([MS-DOC], 2.5.2), which begins a sector. */
function hasPassword(bytes: Buffer): boolean {
	for (let at = 512; at + 12 <= bytes.length; at += 512)
		if (bytes.readUInt16LE(at) === 0xa5ec && (bytes.readUInt16LE(at + 10) & 0x0100) !== 0) return true;
	return false;
}

async function docToMarkdown(bytes: Buffer): Promise<string> {
	if (hasPassword(bytes)) throw new DocumentFault("encrypted", "The file is protected by a password");
	let document: Awaited<ReturnType<WordExtractor["extract"]>>;
	try {
		document = await new WordExtractor().extract(bytes);
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

/** Each cell of a row ends with a tab; the other lines are paragraphs. */
function bodyBlocks(body: readonly string[]): string[] {
	const found: string[] = [];
	let rows: string[][] = [];
	const endTable = () => {
		if (rows.length > 0) found.push(table(rows));
		rows = [];
	};
	for (const line of body) {
		const cells = line.endsWith("\t") ? line.slice(0, -1).split("\t") : [];
		if (cells.length > 1) rows.push(cells);
		else {
			endTable();
			found.push(line);
		}
	}
	endTable();
	return found;
}

const lines = (text: string): string[] => text.split(/\r?\n/).flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
