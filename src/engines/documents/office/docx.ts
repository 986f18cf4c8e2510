import { posix } from "node:path";
import { blocks } from "../markdown.ts";
import { attribute, elements, type MarkupElement } from "../markup/markup-tree.ts";
import type { ZipArchive } from "../zip/zip-archive.ts";
import { mainPart, partRoot, relationsOf, targetsOf } from "./ooxml-package.ts";
import { WordBody, type WordNotes } from "./word-body.ts";
import { readNumbering, readStyles } from "./word-styles.ts";

/**
 * A Word document (ECMA-376 part 1, 17) as Markdown: headers, the body with each footnote, comment and text box behind
 * the paragraph that it belongs to, footers.
 */
export function docxToMarkdown(zip: ZipArchive): string {
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
		return new WordBody({ styles, numbering, notes, link: (id) => relations.get(id)?.target }).blocks(root);
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
