import { DocumentFault } from "./document-fault.ts";
import { fileKind } from "./file-kind.ts";
import { flatToMarkdown } from "./flat/flat-xml.ts";
import { MAX_MAIL_DEPTH, MAX_TEXT_CHARS } from "./limits.ts";
import { docxToMarkdown } from "./office/docx.ts";
import { epubToMarkdown } from "./office/epub.ts";
import { odfToMarkdown } from "./office/odf.ts";
import { oleToMarkdown } from "./office/ole-file.ts";
import { pptxToMarkdown } from "./office/pptx.ts";
import { xlsxToMarkdown } from "./office/xlsx.ts";
import { pdfToMarkdown } from "./pdf/pdf-to-markdown.ts";
import type { ReadScan } from "./pdf/scan-reader.ts";
import { htmlBytesToMarkdown } from "./plain/html-bytes.ts";
import { mailToMarkdown, type ReadAttachment, webArchiveToMarkdown } from "./plain/mail.ts";
import { rtfToMarkdown } from "./rtf/rtf-to-markdown.ts";

export interface ExtractDeps {
	/** Reads the text of a scanned page; null if there is no program for it. */
	readonly readScan: ReadScan | null;
}

/**
 * Returns a file's text: Markdown if it has headings, lists or tables, unchanged if it is text already. Runs in a child
 * process, because hostile files take time and memory.
 * @throws {DocumentFault}
 */
export async function extractText(bytes: Uint8Array, name: string, deps: ExtractDeps): Promise<string> {
	if (bytes.length === 0) throw new DocumentFault("empty", "The file is empty");
	let text: string;
	try {
		text = clean(await read(bytes, name, deps, 0));
	} catch (fault) {
		throw faultOf(fault);
	}
	if (text.trim() === "") throw new DocumentFault("empty", "The file has no text");
	if (text.length > MAX_TEXT_CHARS) throw new DocumentFault("too-large", `The file has more than ${MAX_TEXT_CHARS} characters`);
	return text;
}

async function read(bytes: Uint8Array, name: string, deps: ExtractDeps, mailDepth: number): Promise<string> {
	const file = fileKind(bytes, name);
	const readAttachment: ReadAttachment = async (attachment, attachmentName) => {
		if (mailDepth >= MAX_MAIL_DEPTH || attachment.length === 0) return "";
		try {
			return await read(attachment, attachmentName, deps, mailDepth + 1);
		} catch (fault) {
			const { kind, message } = faultOf(fault);
			if (kind === "too-large") throw fault;
			return `(${message})`;
		}
	};
	switch (file.kind) {
		case "pdf":
			return pdfToMarkdown(bytes, deps.readScan);
		case "docx":
			return docxToMarkdown(file.parts);
		case "pptx":
			return pptxToMarkdown(file.parts);
		case "xlsx":
			return xlsxToMarkdown(file.parts);
		case "odf":
			return odfToMarkdown(file.zip);
		case "epub":
			return epubToMarkdown(file.zip);
		case "rtf":
			return rtfToMarkdown(bytes);
		case "ole":
			return oleToMarkdown(bytes, readAttachment);
		case "html":
			return htmlBytesToMarkdown(bytes);
		case "word-ml":
		case "spreadsheet-ml":
		case "flat-odf":
			return flatToMarkdown(file.kind, bytes);
		case "web-archive":
			return webArchiveToMarkdown(bytes);
		case "mail":
			return mailToMarkdown(bytes, readAttachment);
		case "text":
			return file.text;
		default:
			throw new DocumentFault("unsupported", `The file is ${file.what ?? "of a type"}: it is not read here`);
	}
}

/** Converts a parser's error, which counts as the file's fault. */
function faultOf(thrown: unknown): DocumentFault {
	if (thrown instanceof DocumentFault) return thrown;
	if (thrown instanceof RangeError && /call stack/i.test(thrown.message))
		return new DocumentFault("too-large", "The file nests too deep");
	return new DocumentFault("corrupt", "The file is cut off or damaged: it cannot be read");
}

/** Removes byte order marks, zero bytes and lone surrogates, and unifies line ends. */
const clean = (text: string): string =>
	text
		.replaceAll(/\r\n?/g, "\n")
		.replaceAll(/[\0\ufeff]/g, "")
		.toWellFormed();
