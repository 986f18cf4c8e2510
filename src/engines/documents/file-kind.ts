import { FlatPackage } from "./flat/flat-package.ts";
import { type FlatKind, flatKind, isFlatPackage } from "./flat/flat-xml.ts";
import type { PackageParts } from "./office/package-parts.ts";
import { decodeXml } from "./plain/html-bytes.ts";
import { isRtf } from "./rtf/rtf-tokens.ts";
import { ZipArchive } from "./zip/zip-archive.ts";

/** The kind of a file, with the objects that were opened to detect it. */
export type FileKind =
	| { readonly kind: "pdf" | "rtf" | "ole" | "html" | "mail" | "web-archive" | "image" | "unsupported"; readonly what?: string }
	| { readonly kind: "docx" | "pptx" | "xlsx"; readonly parts: PackageParts }
	| { readonly kind: "odf" | "epub"; readonly zip: ZipArchive }
	| { readonly kind: FlatKind }
	| { readonly kind: "text"; readonly text: string };

/** The signatures of unsupported files, with their names. */
const OTHERS: readonly (readonly [signature: string, what: string])[] = [
	["Rar!", "a RAR archive"],
	["7z\xbc\xaf", "a 7z archive"],
	["\x1f\x8b", "a gzip archive"],
	["\x7fELF", "a program"],
	["MZ\x90\x00", "a program"],
	["OggS", "audio or video"],
	["ID3", "audio"],
	["fLaC", "audio"],
	["\x00asm", "a program"],
	["SQLite format 3\x00", "a database"],
	["BM", "a bitmap"],
];
const ZIP_MARKS = ["PK\x03\x04", "PK\x05\x06", "PK\x07\x08"];
const IMAGES = ["\x89PNG", "\xff\xd8\xff", "GIF8", "II*\x00", "MM\x00*"];
/** A PDF may have other bytes before its mark. */
const PDF_MARK_WITHIN = 1_024;
const HEAD_BYTES = 2_048;
/** Tags are searched in this many bytes, because Office pages begin with long comments. */
const MARKUP_BYTES = 65_536;
const ATTRIBUTE = String.raw`\s+[^\s"'<>/=]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))?`;
const PAGE_START = new RegExp(
	String.raw`^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<!doctype\s+html[^>]*>|<html(?:${ATTRIBUTE})*\s*>)`,
	"i",
);
/** The beginning of tables and pages that programs write for Excel and Word. */
const FRAGMENT =
	/^\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:table|thead|tr|head|body|meta|style|title|div|center|font|span|p|h[1-6]|b|br|link)\b[^>]*>/i;
const OFFICE_NAME = /^(?:xlsx?|xlsm|xlt|xlw|docx?|dot)$/;
const ARCHIVE_NAME = /^(?:mht|mhtml|xlsx?|xlsm|xlt|xlw|docx?|dot|pptx?|htm|html)$/;
const ARCHIVE_FIELD = /^\s*(?:mime-version|content-[\w-]+|from|subject|date|message-id|snapshot-[\w-]+|x-[\w-]+):/i;
const MAIL_FIELDS = /^(from|to|subject|date|message-id|mime-version|received|return-path|delivered-to|content-type|x-[\w-]+):/i;

/**
 * Returns the kind by content first, by name if the content does not decide.
 * @throws {DocumentFault}
 */
export function fileKind(bytes: Uint8Array, name: string): FileKind {
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString("latin1");
	const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
	if (isPdf(head, bytes, extension)) return { kind: "pdf" };
	if (ZIP_MARKS.some((mark) => head.startsWith(mark))) return zipKind(new ZipArchive(bytes));
	if (head.startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) return { kind: "ole" };
	if (isRtf(head)) return { kind: "rtf" };
	if (!isPlain(head) && (IMAGES.some((signature) => head.startsWith(signature)) || /^RIFF....WEBP/s.test(head)))
		return { kind: "image", what: "an image" };
	if (!isPlain(head) && /^(RIFF|....ftyp)/s.test(head)) return { kind: "unsupported", what: "audio or video" };
	for (const [signature, what] of OTHERS) if (head.startsWith(signature) && !isPlain(head)) return { kind: "unsupported", what };
	if (isWebArchive(head, extension)) return { kind: "web-archive" };
	if (isMail(head, extension)) return { kind: "mail" };
	if (isHtml(bytes, extension)) return { kind: "html" };
	const text = decodeXml(bytes);
	if (isFlatPackage(text)) return officeKind(new FlatPackage(text)) ?? { kind: "text", text };
	const flat = flatKind(text);
	return flat === null ? { kind: "text", text } : { kind: flat };
}

/** Returns true for text that happens to begin like a signature: it has no control characters. */
function isPlain(head: string): boolean {
	for (let at = 0; at < head.length; at += 1) {
		const code = head.charCodeAt(at);
		if (code === 0x7f || (code < 0x20 && !(code >= 9 && code <= 13))) return false;
	}
	return true;
}

/** Returns true if the PDF mark is present and is not just mentioned in a text without objects. */
function isPdf(head: string, bytes: Uint8Array, extension: string): boolean {
	const at = head.slice(0, PDF_MARK_WITHIN).indexOf("%PDF-");
	if (at < 0) return false;
	if (extension === "pdf") return true;
	return (
		!isPlain(head) || Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(" obj") || isMarkAlone(head.slice(at))
	);
}

/** Returns true for a line with the mark and a version, as in a truncated file. */
const isMarkAlone = (line: string): boolean => /^%PDF-\d\.\d\s*(?:[\r\n%]|$)/.test(line);

function zipKind(zip: ZipArchive): FileKind {
	const type = (zip.has("mimetype") ? (zip.text("mimetype") ?? "") : "").trim();
	if (type === "application/epub+zip" || (zip.has("META-INF/container.xml") && !zip.has("content.xml")))
		return { kind: "epub", zip };
	if (type.startsWith("application/vnd.oasis.opendocument") || (zip.has("content.xml") && zip.has("META-INF/manifest.xml")))
		return { kind: "odf", zip };
	return officeKind(zip) ?? { kind: "unsupported", what: "a zip archive of other files" };
}

function officeKind(parts: PackageParts): FileKind | null {
	const names = parts.names();
	if (names.some((name) => /^word\//i.test(name))) return { kind: "docx", parts };
	if (names.some((name) => /^ppt\//i.test(name))) return { kind: "pptx", parts };
	if (parts.has("xl/workbook.bin")) return { kind: "unsupported", what: "a binary workbook (XLSB)" };
	return names.some((name) => /^xl\//i.test(name)) ? { kind: "xlsx", parts } : null;
}

function isMail(head: string, extension: string): boolean {
	const lines = head.split(/\r?\n/, 12).filter((line) => !/^\s/.test(line));
	const fields = lines.filter((line) => MAIL_FIELDS.test(line)).length;
	return MAIL_FIELDS.test(lines[0] ?? "") && fields >= (extension === "eml" ? 1 : 3);
}

/**
 * Returns true for a web archive (MHTML, RFC 2557), as browsers and Office save it: a page in the form of a mail. Office also
 * opens one under its own file names.
 */
function isWebArchive(head: string, extension: string): boolean {
	if (extension === "eml") return false;
	const [fields = ""] = head.split(/\r?\n\r?\n/, 1);
	if (!ARCHIVE_FIELD.test(fields) || /^(?:to|cc|received|delivered-to|return-path):/im.test(fields)) return false;
	if (!/^content-type:\s*(?:multipart\/(?:related|mixed|alternative)|text\/html)/im.test(fields)) return false;
	return ARCHIVE_NAME.test(extension) || /^(?:x-document-type|snapshot-content-location):|^from:[^\r\n]*saved by/im.test(fields);
}

function isHtml(bytes: Uint8Array, extension: string): boolean {
	const { head, tail } = edgesOf(bytes);
	if (isPage(head, tail)) return true;
	if (/^(x?html?)$/.test(extension)) return /<[a-z!/]/i.test(head);
	return OFFICE_NAME.test(extension) && FRAGMENT.test(head) && /<\/[a-z]/i.test(tail);
}

/** Returns true if a text is an HTML page, and not a text about its first tag: markup follows the tag, or ends the text. */
function isPage(head: string, tail: string): boolean {
	const start = PAGE_START.exec(head)?.[0];
	if (start === undefined) return false;
	const rest = head.slice(start.length);
	if (/<\/html\s*>\s*(?:<!--[^>]*-->\s*)*$/i.test(tail)) return true;
	return /^\s*<[a-z!]/i.test(rest) && (/^(?:\s*[\r\n]\s*)?</.test(rest) || /<\/[a-z]/i.test(rest));
}

/** Returns the first and last characters of a text, also of UTF-16. */
function edgesOf(bytes: Uint8Array): { readonly head: string; readonly tail: string } {
	const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
	const isWide = /^(?:\xff\xfe|\xfe\xff|<\0|\0<)/.test(buffer.toString("latin1", 0, 2));
	// Removes the zeros of UTF-16 with ASCII letters, in either byte order.
	const plain = (from: number, to: number) => {
		const text = buffer.toString("latin1", Math.max(0, from), to);
		return isWide ? text.replaceAll("\0", "").replace(/^(?:\xff\xfe|\xfe\xff)/, "") : text;
	};
	return { head: plain(0, MARKUP_BYTES).replace(/^\xef\xbb\xbf/, ""), tail: plain(buffer.length - HEAD_BYTES, buffer.length) };
}
