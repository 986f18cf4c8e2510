import { posix } from "node:path";
import { DocumentFault } from "../document-fault.ts";
import { FlatPackage } from "../flat/flat-package.ts";
import { flatKind, flatToMarkdown, isFlatPackage } from "../flat/flat-xml.ts";
import { blocks } from "../markdown.ts";
import { attribute, elements, type MarkupElement } from "../markup/markup-tree.ts";
import { decodeText } from "../plain/decode-text.ts";
import { decodeXml, htmlBytesToMarkdown } from "../plain/html-bytes.ts";
import { webArchiveToMarkdown } from "../plain/mail.ts";
import { rtfToMarkdown } from "../rtf/rtf-to-markdown.ts";
import { isRtf } from "../rtf/rtf-tokens.ts";
import { ZipArchive } from "../zip/zip-archive.ts";
import { mainPart, missingPart, neededPart, partRoot, relationsOf, targetsOf } from "./ooxml-package.ts";
import type { PackageParts } from "./package-parts.ts";
import { WordBody, type WordNotes } from "./word-body.ts";
import { readNumbering, readStyles } from "./word-styles.ts";

/** The depth of documents within documents. */
const MAX_CHUNK_DEPTH = 3;

/**
 * Converts a Word document (ECMA-376 part 1, 17) to Markdown: headers, the body, footers. Each footnote, comment and text box
 * follows its paragraph.
 */
export async function docxToMarkdown(zip: PackageParts, depth = 0): Promise<string> {
	const main = mainPart(zip);
	const relations = relationsOf(zip, main);
	const folder = posix.dirname(main);
	const part = (type: string, fallback: string) => targetsOf(relations, type)[0] ?? posix.join(folder, fallback);
	const styles = readStyles(partRoot(zip, part("styles", "styles.xml")));
	const numbering = readNumbering(partRoot(zip, part("numbering", "numbering.xml")));
	const body = async (name: string, notes: WordNotes) => {
		const root = neededPart(zip, name);
		const relations = relationsOf(zip, name);
		const link = (id: string) => relations.get(id)?.target;
		const chunks = await chunksOf(zip, targetsOf(relations, "aFChunk"), depth);
		const chunk = (id: string) => chunks.get(link(id) ?? "")?.() ?? "";
		return new WordBody({ styles, numbering, notes, link, chunk }).blocks(root);
	};
	const none: WordNotes = { footnotes: new Map(), endnotes: new Map(), comments: new Map() };
	const read = (type: string, name: string) => {
		const [declared] = targetsOf(relations, type);
		if (declared !== undefined && !zip.has(declared)) throw missingPart(declared);
		return notesOf(zip, declared ?? posix.join(folder, `${name}.xml`), styles, numbering);
	};
	const notes: WordNotes = {
		footnotes: read("footnotes", "footnotes"),
		endnotes: read("endnotes", "endnotes"),
		comments: read("comments", "comments"),
	};
	const once = async (type: string) => new Set(await Promise.all(targetsOf(relations, type).map((name) => body(name, none))));
	return blocks([...(await once("header")), await body(main, notes), ...(await once("footer"))]);
}

/** Returns the text of each embedded document by name; the function throws the fault of one that cannot be read. */
async function chunksOf(zip: PackageParts, names: readonly string[], depth: number): Promise<Map<string, () => string>> {
	const chunks = new Map<string, () => string>();
	for (const name of names) {
		try {
			const text = await chunkOf(zip, name, depth);
			chunks.set(name, () => text);
		} catch (fault) {
			chunks.set(name, () => {
				throw fault;
			});
		}
	}
	return chunks;
}

/**
 * Reads an embedded document: a page, a web archive, RTF, plain text, or another Word document.
 * @throws {DocumentFault}
 */
async function chunkOf(zip: PackageParts, name: string, depth: number): Promise<string> {
	const bytes = zip.read(name);
	if (bytes === null) throw missingPart(name);
	if (depth === MAX_CHUNK_DEPTH) throw new DocumentFault("too-large", "The file nests documents too deep");
	const head = bytes.toString("latin1", 0, 512);
	if (head.startsWith("PK")) return docxToMarkdown(new ZipArchive(bytes), depth + 1);
	if (isRtf(head)) return rtfToMarkdown(bytes);
	if (/^\s*(mime-version|content-[\w-]+|from|subject|date|message-id|snapshot-[\w-]+):/i.test(head))
		return webArchiveToMarkdown(bytes);
	if (!/<\0?[a-z!/]/i.test(head)) return decodeText(bytes);
	const text = decodeXml(bytes);
	if (isFlatPackage(text)) return docxToMarkdown(new FlatPackage(text), depth + 1);
	return flatKind(text) === "word-ml" ? flatToMarkdown("word-ml", bytes) : htmlBytesToMarkdown(bytes);
}

/** Returns the texts of a notes part, by id. */
function notesOf(
	zip: PackageParts,
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
