import { DocumentFault } from "../document-fault.ts";
import { MAX_SHEETS } from "../limits.ts";
import { blocks, heading, link, oneLine, quote, table } from "../markdown.ts";
import { attribute, child, descendants, elements, type MarkupElement, prefixed, textOf } from "../markup/markup-tree.ts";
import { partWords, shapesOf } from "./drawing-text.ts";
import { NumberFormats } from "./number-formats.ts";
import { mainPart, missingPart, neededPart, partRoot, type Relation, relationsOf, targetsOf } from "./ooxml-package.ts";
import type { PackageParts } from "./package-parts.ts";
import { type CellValues, readSheet, withoutEscapes } from "./sheet-cells.ts";

/**
 * Converts a workbook (ECMA-376 part 1, 18) to Markdown: each sheet with its name, its values as shown, its comments and boxes.
 */
export function xlsxToMarkdown(zip: PackageParts): string {
	const main = mainPart(zip);
	const root = neededPart(zip, main);
	const relations = relationsOf(zip, main);
	const list = child(root, "sheets");
	const sheets = list === undefined ? [] : elements(list);
	if (sheets.length > MAX_SHEETS) throw new DocumentFault("too-large", `The file has more than ${MAX_SHEETS} sheets`);
	const settings = child(root, "workbookPr");
	const from1904 = /^(1|true)$/.test((settings && attribute(settings, "date1904")) ?? "");
	const [stylesPart = ""] = targetsOf(relations, "styles");
	const [stringsPart] = targetsOf(relations, "sharedStrings");
	const values: CellValues = {
		strings: stringsPart === undefined ? [] : sharedStrings(neededPart(zip, stringsPart)),
		formats: NumberFormats.ofStyles(partRoot(zip, stylesPart), from1904),
		budget: { cells: 0, chars: 0 },
	};
	return blocks(
		sheets.flatMap((sheet) => {
			const id = prefixed(sheet, "id");
			if (id === undefined) return [];
			const target = relations.get(id)?.target;
			if (target === undefined) throw missingPart(id);
			const hidden = /hidden/i.test(attribute(sheet, "state") ?? "") ? " (hidden)" : "";
			const content = sheetBlocks(zip, target, values);
			return [heading(2, `${attribute(sheet, "name") ?? ""}${hidden}`), ...content];
		}),
	);
}

function sheetBlocks(zip: PackageParts, name: string, values: CellValues): string[] {
	const xml = zip.text(name);
	if (xml === null || xml.trim() === "") throw missingPart(name);
	const relations = relationsOf(zip, name);
	const { rows, links, headers, footers } = readSheet(xml, values);
	return [
		...new Set(headers),
		table(rows),
		...links.map(({ text, id }) => link(oneLine(text), relations.get(id)?.target)).filter((shown) => shown.startsWith("[")),
		...boxes(zip, relations),
		...comments(zip, relations),
		...new Set(footers),
	];
}

/** Returns text boxes and charts on a sheet. */
function boxes(zip: PackageParts, relations: ReadonlyMap<string, Relation>): string[] {
	return targetsOf(relations, "drawing").flatMap((name) => {
		const root = partRoot(zip, name);
		if (root === null) return [];
		const inner = relationsOf(zip, name);
		return shapesOf(root, (id) => inner.get(id)?.target).flatMap((shape) => [
			...shape.blocks,
			...shape.parts.flatMap((id) => {
				const part = partRoot(zip, inner.get(id)?.target ?? "");
				return part === null ? [] : [partWords(part).join("\n")];
			}),
		]);
	});
}

function comments(zip: PackageParts, relations: ReadonlyMap<string, Relation>): string[] {
	return targetsOf(relations, "comments").flatMap((name) => {
		const root = neededPart(zip, name);
		const authors = descendants(root, "author").map(textOf);
		return descendants(root, "comment").map((comment) => {
			const author = authors[Number(attribute(comment, "authorId"))];
			const text = descendants(comment, "t").map(textOf).join("");
			return quote(`Comment on ${attribute(comment, "ref")}${author ? ` by ${author}` : ""}: ${oneLine(text)}`);
		});
	});
}

/** Returns the shared strings, with joined runs and without phonetic readings. */
function sharedStrings(root: MarkupElement): string[] {
	return elements(root).map((item) =>
		elements(item)
			.map((part) => (part.name === "t" ? textOf(part) : part.name === "r" ? textOf(child(part, "t")) : ""))
			.map(withoutEscapes)
			.join(""),
	);
}
