import { blocks, heading, link, oneLine, quote, table } from "../markdown.ts";
import { attribute, child, descendants, elements, type MarkupElement, prefixed, textOf } from "../markup/markup-tree.ts";
import { ommlToLatex } from "../math/omml-to-latex.ts";
import { eqFieldText } from "./eq-field.ts";
import { listPlaceOf, outlineOf, type WordStyle } from "./word-styles.ts";

export interface WordNotes {
	readonly footnotes: ReadonlyMap<string, string>;
	readonly endnotes: ReadonlyMap<string, string>;
	readonly comments: ReadonlyMap<string, string>;
}

export interface WordContext {
	readonly styles: ReadonlyMap<string, WordStyle>;
	readonly numbering: ReadonlyMap<string, ReadonlyMap<number, string>>;
	readonly notes: WordNotes;
	/** Returns the address of a relation. */
	link(id: string): string | undefined;
	/** Returns an embedded document (altChunk) as Markdown. */
	chunk?(id: string): string;
}

/** Elements that only wrap visible ones. */
const WRAPPERS = new Set([
	"sdt",
	"sdtContent",
	"ins",
	"moveTo",
	"customXml",
	"smartTag",
	"fldSimple",
	"dir",
	"bdo",
	"r",
	"ruby",
	"rubyBase",
	"object",
	"txbxContent",
]);
/** Deleted and invisible content. */
const HIDDEN = new Set([
	"del",
	"moveFrom",
	"instrText",
	"delText",
	"rPr",
	"pPr",
	"sectPr",
	"tblPr",
	"trPr",
	"tcPr",
	"sdtPr",
	"sdtEndPr",
	"rt",
	"rubyPr",
]);

const NOTHING: MarkupElement = { name: "", attributes: {}, children: [] };

/** A field of a paragraph: `HYPERLINK "address"` links the following text until the field ends. */
interface Field {
	code: string;
	textFrom: number | null;
}

interface Paragraph {
	text: string;
	/** The blocks that follow the paragraph: its notes first, then comments and text boxes. */
	readonly notes: string[];
	readonly after: string[];
	readonly fields: Field[];
}

/** Converts the content of one part of a Word document to Markdown blocks, and counts its lists. */
export class WordBody {
	readonly #context: WordContext;
	readonly #counters = new Map<string, number[]>();

	constructor(context: WordContext) {
		this.#context = context;
	}

	/** Returns all blocks below an element. */
	blocks(parent: MarkupElement): string {
		return blocks(this.#blockList(parent));
	}

	#blockList(parent: MarkupElement): string[] {
		const list: string[] = [];
		for (const element of elements(parent)) {
			if (element.name === "p") list.push(...this.#paragraph(element));
			else if (element.name === "tbl") list.push(this.#table(element));
			else if (element.name === "altChunk") list.push(this.#context.chunk?.(prefixed(element, "id") ?? "") ?? "");
			else if (element.name === "AlternateContent") list.push(...this.#blockList(chosen(element)));
			else if (!HIDDEN.has(element.name)) list.push(...this.#blockList(element));
		}
		return list;
	}

	#paragraph(element: MarkupElement): string[] {
		const paragraph: Paragraph = { text: "", notes: [], after: [], fields: [] };
		this.#inline(element, paragraph);
		return [this.#asBlock(element, paragraph.text), ...paragraph.notes, ...paragraph.after];
	}

	#asBlock(element: MarkupElement, text: string): string {
		if (text.trim() === "") return "";
		const properties = child(element, "pPr");
		const styleId = properties && child(properties, "pStyle");
		const style = styleId && this.#context.styles.get(attribute(styleId, "val") ?? "");
		const level = outlineOf(properties) ?? style?.headingLevel ?? null;
		if (level !== null) return heading(level, text);
		const place = listPlaceOf(properties) ?? style?.list ?? null;
		if (place === null || place.numbering === "0") return text;
		return this.#item(place.numbering, place.level, oneLine(text));
	}

	#item(numbering: string, level: number, text: string): string {
		const indent = "  ".repeat(Math.min(8, Math.max(0, level)));
		const format = this.#context.numbering.get(numbering)?.get(level);
		if (format === undefined || format === "none") return text;
		if (format === "bullet") return `${indent}- ${text}`;
		const counters = this.#counters.get(numbering) ?? [];
		this.#counters.set(numbering, counters);
		counters.length = Math.min(counters.length, level + 1);
		const number = (counters[level] ?? 0) + 1;
		counters[level] = number;
		return `${indent}${number}. ${text}`;
	}

	#table(element: MarkupElement): string {
		const rows = flat(element, "tr").map((row) =>
			flat(row, "tc").flatMap((cell) => {
				const properties = child(cell, "tcPr");
				const span = Number((properties && attribute(child(properties, "gridSpan") ?? NOTHING, "val")) ?? 1);
				const text = this.blocks(cell).replaceAll(/\n+/g, "\n");
				return [text, ...Array<string>(Math.min(63, Math.max(0, span - 1) || 0)).fill("")];
			}),
		);
		return table(rows);
	}

	#inline(parent: MarkupElement, into: Paragraph): void {
		for (const element of elements(parent)) this.#inlineElement(element, into);
	}

	#inlineElement(element: MarkupElement, into: Paragraph): void {
		const { name } = element;
		const { notes } = this.#context;
		if (name === "t") into.text += textOf(element);
		else if (name === "tab" || name === "ptab") into.text += "\t";
		else if (name === "br" || name === "cr") into.text += "\n";
		else if (name === "noBreakHyphen") into.text += "\u2011";
		else if (name === "sym") into.text += symbol(attribute(element, "char"));
		else if (name === "oMathPara") into.text += formulas(element, "$$");
		else if (name === "oMath") into.text += formulas({ name: "", attributes: {}, children: [element] }, "$");
		else if (name === "fldChar") this.#field(attribute(element, "fldCharType"), into);
		else if (name === "instrText") addCode(into.fields.at(-1), textOf(element));
		else if (name === "hyperlink") {
			const inner: Paragraph = { text: "", notes: into.notes, after: into.after, fields: [] };
			this.#inline(element, inner);
			into.text += link(inner.text, this.#context.link(prefixed(element, "id") ?? ""));
		} else if (name === "footnoteReference") this.#note(notes.footnotes, element, "", into);
		else if (name === "endnoteReference") this.#note(notes.endnotes, element, "e", into);
		else if (name === "commentReference") {
			const text = notes.comments.get(attribute(element, "id") ?? "");
			if (text !== undefined) into.after.push(quote(`Comment by ${text}`));
		} else if (name === "AlternateContent") this.#inline(chosen(element), into);
		else if (name === "txbxContent") into.after.push(...this.#blockList(element));
		else if (name === "tbl") into.after.push(this.#table(element));
		else if (name === "p") into.text += `${into.text === "" ? "" : "\n"}${this.#paragraph(element).join("\n")}`;
		else if (!HIDDEN.has(name)) this.#inline(element, into);
	}

	#field(type: string | undefined, into: Paragraph): void {
		const field = into.fields.at(-1);
		if (type === "begin") into.fields.push({ code: "", textFrom: null });
		else if (type === "separate" && field !== undefined) field.textFrom = into.text.length;
		else if (type === "end") {
			const { code = "", textFrom = null } = into.fields.pop() ?? {};
			const isEmpty = textFrom === null || into.text.slice(textFrom).trim() === "";
			if (isEmpty) into.text += eqFieldText(code) ?? "";
			const address = /^\s*HYPERLINK\s+"([^"]+)"/.exec(code)?.[1];
			if (address === undefined || textFrom === null) return;
			into.text = into.text.slice(0, textFrom) + link(into.text.slice(textFrom), address);
		}
	}

	#note(notes: ReadonlyMap<string, string>, element: MarkupElement, mark: string, into: Paragraph): void {
		const id = attribute(element, "id") ?? "";
		const text = notes.get(id);
		if (text === undefined) return;
		into.text += `[^${mark}${id}]`;
		into.notes.push(`[^${mark}${id}]: ${text.trim()}`);
	}
}

/** Returns each formula below an element, as LaTeX between these marks. */
function formulas(parent: MarkupElement, mark: string): string {
	return descendants(parent, "oMath")
		.map(ommlToLatex)
		.filter((latex) => latex !== "")
		.map((latex) => `${mark}${latex}${mark}`)
		.join("\n");
}

function addCode(field: Field | undefined, code: string): void {
	if (field !== undefined) field.code += code;
}

/** Returns a shape's new form if it has content, otherwise the equivalent old one. */
function chosen(element: MarkupElement): MarkupElement {
	const choice = child(element, "Choice");
	const fallback = child(element, "Fallback");
	return choice !== undefined && textOf(choice).trim() !== "" ? choice : (fallback ?? choice ?? NOTHING);
}

/** Returns children of that name, including those in wrappers. */
function flat(parent: MarkupElement, name: string): MarkupElement[] {
	return elements(parent).flatMap((element) =>
		element.name === name ? [element] : WRAPPERS.has(element.name) ? flat(element, name) : [],
	);
}

/** Returns a symbol font's character, which is in the private area, 0xF000 above its code; unknown ones become a bullet. */
function symbol(code: string | undefined): string {
	const point = Number.parseInt(code ?? "", 16);
	if (!Number.isFinite(point) || point > 0x10ffff) return "";
	return point >= 0xe000 && point <= 0xf8ff ? "\u2022" : String.fromCodePoint(point);
}
