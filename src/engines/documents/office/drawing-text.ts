import { link, oneLine, table } from "../markdown.ts";
import { attribute, child, descendants, elements, type MarkupElement, prefixed, textOf } from "../markup/markup-tree.ts";
import { ommlToLatex } from "../math/omml-to-latex.ts";

/** Returns the address of a relation. */
export type LinkOf = (id: string) => string | undefined;

export interface Shape {
	/** `title`, `ctrTitle`, `body`, `sldNum`, `dt`, `ftr`, ...; "" for other shapes. */
	readonly placeholder: string;
	readonly blocks: readonly string[];
	/** Parts that the shape shows by relation: a chart, a diagram. */
	readonly parts: readonly string[];
}

const NO_PROPERTIES: MarkupElement = { name: "", attributes: {}, children: [] };

/** Returns the shapes of a DrawingML tree (ECMA-376 part 1, 20 and 21) in their order, with those in groups. */
export function shapesOf(tree: MarkupElement, linkOf: LinkOf): Shape[] {
	const shapes: Shape[] = [];
	for (const element of elements(tree)) {
		if (element.name === "sp" || element.name === "cxnSp") shapes.push(textShape(element, linkOf));
		else if (element.name === "graphicFrame") shapes.push(frame(element, linkOf));
		else if (element.name === "AlternateContent") {
			const choice = child(element, "Choice") ?? child(element, "Fallback");
			if (choice !== undefined) shapes.push(...shapesOf(choice, linkOf));
		} else if (element.name !== "nvGrpSpPr" && element.name !== "grpSpPr") shapes.push(...shapesOf(element, linkOf));
	}
	return shapes;
}

function textShape(element: MarkupElement, linkOf: LinkOf): Shape {
	const [mark] = descendants(element, "ph");
	const placeholder = mark === undefined ? "" : (attribute(mark, "type") ?? "body");
	const isTitle = /^(title|ctrTitle)$/.test(placeholder);
	const body = child(element, "txBody");
	const bulleted = placeholder === "body";
	const blocks = body === undefined ? [] : paragraphs(body, linkOf, bulleted && !isTitle);
	return { placeholder, blocks, parts: [] };
}

function frame(element: MarkupElement, linkOf: LinkOf): Shape {
	const [grid] = descendants(element, "tbl");
	const data = [...descendants(element, "chart"), ...descendants(element, "relIds")];
	const parts = data.flatMap((mark) => prefixed(mark, mark.name === "chart" ? "id" : "dm") ?? []);
	if (grid === undefined) return { placeholder: "", blocks: [], parts };
	const rows = descendants(grid, "tr").map((row) =>
		descendants(row, "tc").map((cell) => {
			const body = child(cell, "txBody");
			return body === undefined ? "" : paragraphs(body, linkOf, false).join("\n");
		}),
	);
	return { placeholder: "", blocks: [table(rows)], parts };
}

/** Returns the paragraphs of a text body; list items with their level and number. */
export function paragraphs(body: MarkupElement, linkOf: LinkOf, bulleted: boolean): string[] {
	const counters: number[] = [];
	return elements(body).flatMap((element) => {
		if (element.name !== "p") return [];
		const text = runs(element, linkOf);
		if (text.trim() === "") return [];
		const properties = child(element, "pPr") ?? NO_PROPERTIES;
		const level = Math.min(8, Number(attribute(properties, "lvl") ?? 0) || 0);
		const indent = "  ".repeat(level);
		const numbered = child(properties, "buAutoNum") !== undefined;
		counters.length = Math.min(counters.length, numbered ? level + 1 : level);
		if (numbered) {
			const number = (counters[level] ?? 0) + 1;
			counters[level] = number;
			return [`${indent}${number}. ${oneLine(text)}`];
		}
		const marked = bulleted || child(properties, "buChar") !== undefined;
		return marked && child(properties, "buNone") === undefined ? [`${indent}- ${oneLine(text)}`] : [text];
	});
}

function runs(paragraph: MarkupElement, linkOf: LinkOf): string {
	let text = "";
	for (const element of elements(paragraph)) {
		if (element.name === "br") text += "\n";
		else if (element.name === "r" || element.name === "fld") {
			const properties = child(element, "rPr");
			const click = properties && child(properties, "hlinkClick");
			const address = click && linkOf(prefixed(click, "id") ?? "");
			text += link(textOf(child(element, "t")), address);
		} else if (element.name === "m") text += formulas(element);
		else if (element.name === "AlternateContent")
			text += runs(child(element, "Choice") ?? child(element, "Fallback") ?? NO_PROPERTIES, linkOf);
		else if (element.name !== "pPr" && element.name !== "endParaRPr") text += runsOrText(element, linkOf);
	}
	return text;
}

const formulas = (element: MarkupElement): string =>
	descendants(element, "oMath")
		.map((formula) => `$${ommlToLatex(formula)}$`)
		.join(" ");

/** Newer runs nest their text deeper. */
const runsOrText = (element: MarkupElement, linkOf: LinkOf): string =>
	child(element, "r") === undefined ? descendants(element, "t").map(textOf).join("") : runs(element, linkOf);

/** Returns the words of a chart or diagram in their order. */
export function partWords(root: MarkupElement): string[] {
	const words = root.name === "chartSpace" ? [...descendants(root, "t"), ...descendants(root, "v")] : descendants(root, "t");
	return words.map((word) => textOf(word).trim()).filter((word) => word !== "");
}
