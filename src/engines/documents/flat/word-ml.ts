import { blocks } from "../markdown.ts";
import { attribute, child, descendants, elements, type MarkupElement } from "../markup/markup-tree.ts";
import { WordBody, type WordNotes } from "../office/word-body.ts";
import { readStyles } from "../office/word-styles.ts";

/** Names of the 2003 format and their equivalents of 2007. */
const NEW_NAMES: Readonly<Record<string, string>> = { hlink: "hyperlink", listPr: "numPr", ilfo: "numId" };
/** A list whose marks are no numbers (WordprocessingML, nfc). */
const BULLET = "23";

/** Converts a document of Word 2003 in XML (Office 2003 XML Reference Schemas), as DOCX is. */
export function wordMlToMarkdown(root: MarkupElement): string {
	const footnotes = new Map<string, string>();
	const endnotes = new Map<string, string>();
	const comments = new Map<string, string>();
	const notes: WordNotes = { footnotes, endnotes, comments };
	const styles = readStyles(renameElement(child(root, "styles")));
	const body = new WordBody({ styles, numbering: listsOf(root), notes, link: (address) => address });
	const read = (element: MarkupElement): string => {
		const modern = renameElement(element) ?? element;
		for (const [name, texts] of Object.entries({ footnote: footnotes, endnote: endnotes, comment: comments }))
			for (const note of descendants(modern, name)) {
				const id = String(texts.size + 1);
				const text = new WordBody({ styles, numbering: new Map(), notes, link: () => undefined }).blocks(note);
				texts.set(id, name === "comment" ? `${attribute(note, "author") ?? ""}: ${text}` : text);
				note.children.splice(0, note.children.length, { name: `${name}Reference`, attributes: { id }, children: [] });
			}
		return body.blocks(modern);
	};
	const main = child(root, "body");
	if (main === undefined) return "";
	const repeated = (name: string) => [...new Set(descendants(main, name).map(read))];
	return blocks([...repeated("hdr"), read(main), ...repeated("ftr")]);
}

/** Returns a copy under the names of 2007, without tracked deletions. */
function renameElement(element: MarkupElement | undefined): MarkupElement | null {
	if (element === undefined) return null;
	const type = element.name === "annotation" ? (attribute(element, "type") ?? "") : "";
	const name = /Deletion$/.test(type) ? "del" : /Comment$/.test(type) ? "comment" : (NEW_NAMES[element.name] ?? element.name);
	const address = name === "hyperlink" ? attribute(element, "dest") : undefined;
	return {
		name,
		attributes: address === undefined ? element.attributes : { ...element.attributes, "r:id": address },
		children: element.children.map((node) => (typeof node === "string" ? node : (renameElement(node) ?? ""))),
	};
}

/** Returns the format of each level of each list, by the number that paragraphs use. */
function listsOf(root: MarkupElement): Map<string, Map<number, string>> {
	const lists = child(root, "lists");
	const definitions = new Map<string, Map<number, string>>();
	const byNumber = new Map<string, Map<number, string>>();
	for (const element of lists === undefined ? [] : elements(lists)) {
		if (element.name === "listDef") {
			const levels = elements(element).filter(({ name }) => name === "lvl");
			const formats = levels.map((level) => {
				const format = child(level, "nfc");
				const isBullet = format !== undefined && attribute(format, "val") === BULLET;
				return [Number(attribute(level, "ilvl")), isBullet ? "bullet" : "decimal"] as const;
			});
			definitions.set(attribute(element, "listDefId") ?? "", new Map(formats));
		} else if (element.name === "list") {
			const definition = child(element, "ilst");
			const levels = definition && definitions.get(attribute(definition, "val") ?? "");
			if (levels !== undefined) byNumber.set(attribute(element, "ilfo") ?? "", levels);
		}
	}
	return byNumber;
}
