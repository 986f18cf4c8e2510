import { posix } from "node:path";
import { DocumentFault } from "../document-fault.ts";
import { blocks } from "../markdown.ts";
import { attribute, elements, type MarkupElement } from "../markup/markup-tree.ts";
import { decodeText } from "../plain/decode-text.ts";
import { htmlBytesToMarkdown } from "../plain/html-bytes.ts";
import { rtfToMarkdown } from "../rtf/rtf-to-markdown.ts";
import { ZipArchive } from "../zip/zip-archive.ts";
import { lacks, mainPart, partRoot, relationsOf, targetsOf } from "./ooxml-package.ts";
import { WordBody, type WordNotes } from "./word-body.ts";
import { readNumbering, readStyles } from "./word-styles.ts";

/** Documents within documents. */
const MAX_CHUNK_DEPTH = 3;

/**
 * A Word document (ECMA-376 part 1, 17) as Markdown: headers, the body with each footnote, comment and text box behind
 * the paragraph that it belongs to, footers.
 */
export function docxToMarkdown(zip: ZipArchive, depth = 0): string {
	const main = mainPart(zip);
	const relations = relationsOf(zip, main);
	const folder = posix.dirname(main);
	const part = (type: string, fallback: string) => targetsOf(relations, type)[0] ?? posix.join(folder, fallback);
	const styles = readStyles(partRoot(zip, part("styles", "styles.xml")));
	const numbering = readNumbering(partRoot(zip, part("numbering", "numbering.xml")));
	const body = (name: string, notes: WordNotes) => {
		const root = partRoot(zip, name);
		if (root === null) return "";
		const relations = relationsOf(zip, name);
		const link = (id: string) => relations.get(id)?.target;
		return new WordBody({ styles, numbering, notes, link, chunk: (id) => chunkOf(zip, link(id) ?? "", depth) }).blocks(root);
	};
	const none: WordNotes = { footnotes: new Map(), endnotes: new Map(), comments: new Map() };
	const read = (type: string, name: string) => notesOf(zip, part(type, `${name}.xml`), styles, numbering);
	const notes: WordNotes = {
		footnotes: read("footnotes", "footnotes"),
		endnotes: read("endnotes", "endnotes"),
		comments: read("comments", "comments"),
	};
	const once = (names: readonly string[]) => [...new Set(names.map((name) => body(name, none)))];
	return blocks([...once(targetsOf(relations, "header")), body(main, notes), ...once(targetsOf(relations, "footer"))]);
}

/** A document within a document: a page, RTF, plain text, or another of Word. Throws DocumentFault. */
function chunkOf(zip: ZipArchive, name: string, depth: number): string {
	const bytes = zip.read(name);
	if (bytes === null) throw lacks(name);
	if (depth === MAX_CHUNK_DEPTH) throw new DocumentFault("too-large", "The file nests documents too deep");
	const head = bytes.toString("latin1", 0, 512);
	if (head.startsWith("PK")) return docxToMarkdown(new ZipArchive(bytes), depth + 1);
	if (/^\s*\{\\rtf/.test(head)) return rtfToMarkdown(bytes);
	if (/^mime-version:|^content-type:|^from:/im.test(head) && !head.includes("<html"))
		throw new DocumentFault("unsupported", "The file holds a web archive (MHT): it is not read here");
	return /<[a-z!/]/i.test(head) ? htmlBytesToMarkdown(bytes) : decodeText(bytes);
}

/** The texts of a part of notes, by id. */
function notesOf(
	zip: ZipArchive,
	name: string,
	styles: ReturnType<typeof readStyles>,
	numbering: ReturnType<typeof readNumbering>,
): Map<string, string> {
	const texts = new Map<string, string>();
	const root = partRoot(zip, name);
	if (root === null) return texts;
	const relations = relationsOf(zip, name);
	const notes: WordNotes = { footnotes: new Map(), endnotes: new Map(), comments: new Map() };
	for (const note of elements(root)) {
		if (isSeparator(note)) continue;
		const text = new WordBody({ styles, numbering, notes, link: (id) => relations.get(id)?.target }).blocks(note);
		const author = note.name === "comment" ? attribute(note, "author") : undefined;
		texts.set(attribute(note, "id") ?? "", author ? `${author}: ${text}` : text);
	}
	return texts;
}

const isSeparator = (note: MarkupElement) => /separator|continuationNotice/i.test(attribute(note, "type") ?? "");
