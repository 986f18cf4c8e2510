import { attribute, child, elements, type MarkupElement } from "../markup/markup-tree.ts";

/** The properties of a paragraph style that Markdown can show. */
export interface WordStyle {
	/** 1 to 6; null: not a heading. */
	readonly headingLevel: number | null;
	/** Its list: numId, level. */
	readonly list: ListPlace | null;
}

export interface ListPlace {
	readonly numbering: string;
	readonly level: number;
}

const MAX_STYLE_CHAIN = 20;

const value = (element: MarkupElement | undefined) => (element === undefined ? undefined : attribute(element, "val"));

/** Returns the list position in paragraph properties. */
export function listPlaceOf(properties: MarkupElement | undefined): ListPlace | null {
	const numbers = properties === undefined ? undefined : child(properties, "numPr");
	const numbering = value(numbers && child(numbers, "numId"));
	if (numbers === undefined || numbering === undefined) return null;
	return { numbering, level: Number(value(child(numbers, "ilvl")) ?? 0) };
}

/** Outline levels 0 to 8 are headings; 9 is body text. */
export function outlineOf(properties: MarkupElement | undefined): number | null {
	const outline = value(properties && child(properties, "outlineLvl"));
	return outline === undefined || Number(outline) > 8 ? null : Number(outline) + 1;
}

/** Returns the paragraph styles of styles.xml by id, with inherited properties. */
export function readStyles(root: MarkupElement | null): Map<string, WordStyle> {
	const raw = new Map<string, MarkupElement>();
	for (const style of root === null ? [] : elements(root))
		if (style.name === "style") raw.set(attribute(style, "styleId") ?? "", style);
	const styles = new Map<string, WordStyle>();
	for (const id of raw.keys()) {
		let headingLevel: number | null = null;
		let list: ListPlace | null = null;
		let at: string | undefined = id;
		for (let depth = 0; at !== undefined && depth < MAX_STYLE_CHAIN; depth += 1) {
			const style = raw.get(at);
			if (style === undefined) break;
			const properties = child(style, "pPr");
			headingLevel ??= levelOfName(value(child(style, "name")) ?? "") ?? outlineOf(properties);
			list ??= listPlaceOf(properties);
			at = value(child(style, "basedOn"));
		}
		styles.set(id, { headingLevel, list });
	}
	return styles;
}

function levelOfName(name: string): number | null {
	const heading = /^heading (\d)$/i.exec(name)?.[1];
	if (heading !== undefined) return Number(heading);
	return /^title$/i.test(name) ? 1 : null;
}

/** Returns the format of each list level: numId -> level -> `bullet`, `decimal`, `lowerLetter`, ... */
export function readNumbering(root: MarkupElement | null): Map<string, Map<number, string>> {
	const abstract = new Map<string, Map<number, string>>();
	const lists = new Map<string, Map<number, string>>();
	for (const element of root === null ? [] : elements(root)) {
		if (element.name === "abstractNum") {
			const levels = new Map<number, string>();
			for (const level of elements(element))
				if (level.name === "lvl") levels.set(Number(attribute(level, "ilvl")), value(child(level, "numFmt")) ?? "decimal");
			abstract.set(attribute(element, "abstractNumId") ?? "", levels);
		}
		if (element.name === "num") {
			const levels = abstract.get(value(child(element, "abstractNumId")) ?? "");
			if (levels !== undefined) lists.set(attribute(element, "numId") ?? "", levels);
		}
	}
	return lists;
}
