import { FlatPackage } from "./flat/flat-package.ts";
import { type FlatKind, flatKind, isFlatPackage } from "./flat/flat-xml.ts";
import type { PackageParts } from "./office/package-parts.ts";
import { decodeXml } from "./plain/html-bytes.ts";
import { ZipArchive } from "./zip/zip-archive.ts";

/** What a file is, with what was opened to find that out. */
export type FileKind =
	| { readonly kind: "pdf" | "rtf" | "ole" | "html" | "mail" | "image" | "unsupported"; readonly what?: string }
	| { readonly kind: "docx" | "pptx" | "xlsx"; readonly parts: PackageParts }
	| { readonly kind: "odf" | "epub"; readonly zip: ZipArchive }
	| { readonly kind: FlatKind }
	| { readonly kind: "text"; readonly text: string };

/** How the content of files begins that are not read, with their names. */
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
const MAIL_FIELDS = /^(from|to|subject|date|message-id|mime-version|received|return-path|delivered-to|content-type|x-[\w-]+):/i;

/** By content first, by name where content alone does not tell. Throws DocumentFault. */
export function fileKind(bytes: Uint8Array, name: string): FileKind {
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString("latin1");
	if (head.slice(0, PDF_MARK_WITHIN).includes("%PDF-")) return { kind: "pdf" };
	if (ZIP_MARKS.some((mark) => head.startsWith(mark))) return zipKind(new ZipArchive(bytes));
	if (head.startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) return { kind: "ole" };
	if (/^\s*\{\\rtf/.test(head)) return { kind: "rtf" };
	if (!isPlain(head) && (IMAGES.some((signature) => head.startsWith(signature)) || /^RIFF....WEBP/s.test(head)))
		return { kind: "image", what: "an image" };
	if (!isPlain(head) && /^(RIFF|....ftyp)/s.test(head)) return { kind: "unsupported", what: "audio or video" };
	for (const [signature, what] of OTHERS) if (head.startsWith(signature) && !isPlain(head)) return { kind: "unsupported", what };
	const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
	if (isMail(head, extension)) return { kind: "mail" };
	if (isHtml(head, extension)) return { kind: "html" };
	const text = decodeXml(bytes);
	if (isFlatPackage(text)) return officeKind(new FlatPackage(text)) ?? { kind: "text", text };
	const flat = flatKind(text);
	return flat === null ? { kind: "text", text } : { kind: flat };
}

/** Words that happen to begin like a signature. */
function isPlain(head: string): boolean {
	for (let at = 0; at < head.length; at += 1) {
		const code = head.charCodeAt(at);
		if (code > 0x7e || (code < 0x20 && !(code >= 9 && code <= 13))) return false;
	}
	return true;
}

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

function isHtml(head: string, extension: string): boolean {
	if (/^(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype html|<html[\s>])/is.test(head)) return true;
	return /^(x?html?)$/.test(extension) && /<[a-z!/]/i.test(head);
}
