import { DocumentFault } from "../document-fault.ts";
import { MAX_CELLS } from "../limits.ts";
import { blocks, heading, link, oneLine, quote, table } from "../markdown.ts";
import { attribute, child, descendants, elements, type MarkupElement, textOf } from "../markup/markup-tree.ts";

/** Elements without visible text: tracked deletions, forms, declarations, pictures. */
const HIDDEN = new Set([
	"tracked-changes",
	"sequence-decls",
	"variable-decls",
	"user-field-decls",
	"forms",
	"scripts",
	"binary-data",
	"calculation-settings",
	"content-validations",
	"named-expressions",
	"date-time-decl",
	"footer-decl",
	"header-decl",
	"page-thumbnail",
	"desc",
	"title",
]);
/** A longer run of empty cells or rows is the unused rest of a sheet. */
const MAX_EMPTY_REPEATS = 64;

interface Paragraph {
	text: string;
	readonly notes: string[];
	readonly after: string[];
}

/** Converts the content of an OpenDocument file to Markdown blocks. */
export class OdfBody {
	/** List style -> its numbered levels. */
	readonly #numbered = new Map<string, Set<number>>();
	#cells = 0;
	#notes = 0;

	/** @param roots the parts that define list styles */
	constructor(roots: readonly MarkupElement[]) {
		for (const root of roots)
			for (const style of descendants(root, "list-style")) {
				const levels = descendants(style, "list-level-style-number").map((level) => Number(attribute(level, "level")));
				this.#numbered.set(attribute(style, "name") ?? "", new Set(levels));
			}
	}

	/** Returns all blocks below an element. */
	blocks(parent: MarkupElement): string {
		return blocks(this.#blockList(parent));
	}

	/** Returns a table with its repeated cells, followed by the comments of its cells. */
	table(element: MarkupElement): string[] {
		const rows: string[][] = [];
		const after: string[] = [];
		for (const row of rowsOf(element)) {
			const cells: string[] = [];
			for (const cell of elements(row)) {
				if (cell.name !== "table-cell" && cell.name !== "covered-table-cell") continue;
				for (const note of elements(cell)) if (note.name === "annotation") after.push(comment(note));
				const text = this.blocks({
					...cell,
					children: cell.children.filter((node) => typeof node === "string" || node.name !== "annotation"),
				});
				repeat(cells, text.replaceAll(/\n+/g, "\n"), Number(attribute(cell, "number-columns-repeated") ?? 1), text === "");
			}
			const filled = cells.slice(0, cells.findLastIndex((text) => text !== "") + 1);
			this.#count(filled.length * repeat(rows, filled, Number(attribute(row, "number-rows-repeated") ?? 1), filled.length === 0));
		}
		return [table(rows.filter((row, index) => row.length > 0 || (rows[index - 1]?.length ?? 0) > 0)), ...after];
	}

	#count(cells: number): void {
		this.#cells += cells;
		if (this.#cells > MAX_CELLS) throw new DocumentFault("too-large", `The file has more than ${MAX_CELLS} cells`);
	}

	#blockList(parent: MarkupElement, list: ListPlace | null = null): string[] {
		return elements(parent).flatMap((element) => this.#block(element, list));
	}

	#block(element: MarkupElement, list: ListPlace | null): string[] {
		const { name } = element;
		if (HIDDEN.has(name)) return [];
		if (name === "h" || name === "p") {
			const paragraph: Paragraph = { text: "", notes: [], after: [] };
			this.#inline(element, paragraph);
			const level = name === "h" ? Number(attribute(element, "outline-level") ?? 1) : 0;
			const text = paragraph.text.trim();
			const block = text === "" ? "" : level > 0 ? heading(level, text) : list === null ? paragraph.text : list.item(text);
			return [block, ...paragraph.notes, ...paragraph.after];
		}
		if (name === "list") {
			const style = attribute(element, "style-name") ?? list?.style ?? "";
			const level = (list?.level ?? 0) + 1;
			return this.#blockList(element, new ListPlace(style, level, this.#numbered.get(style)?.has(level) ?? false));
		}
		if (name === "list-item" || name === "list-header") {
			list?.next(name === "list-header");
			return this.#blockList(element, list);
		}
		if (name === "table") return this.table(element);
		if (name === "annotation") return [comment(element)];
		return this.#blockList(element, list);
	}

	#inline(parent: MarkupElement, into: Paragraph): void {
		for (const node of parent.children) {
			if (typeof node === "string") into.text += node.replaceAll(/\s+/g, " ");
			else this.#inlineElement(node, into);
		}
	}

	#inlineElement(element: MarkupElement, into: Paragraph): void {
		const { name } = element;
		if (name === "s") into.text += " ".repeat(Math.min(1_000, Number(attribute(element, "c") ?? 1) || 1));
		else if (name === "tab") into.text += "\t";
		else if (name === "line-break") into.text += "\n";
		else if (name === "note") {
			const number = ++this.#notes;
			const body = child(element, "note-body");
			into.text += `[^${number}]`;
			if (body !== undefined) into.notes.push(`[^${number}]: ${this.blocks(body)}`);
		} else if (name === "annotation") into.after.push(comment(element));
		else if (name === "a") {
			const inner: Paragraph = { text: "", notes: into.notes, after: into.after };
			this.#inline(element, inner);
			into.text += link(inner.text, attribute(element, "href"));
		} else if (name === "frame" || name === "custom-shape" || name === "text-box" || name === "g" || name === "rect")
			into.after.push(...this.#blockList(element));
		else if (name === "ruby-text" || HIDDEN.has(name)) return;
		else this.#inline(element, into);
	}
}

/** A list level, and the marks of its items. */
class ListPlace {
	readonly style: string;
	readonly level: number;
	readonly #numbered: boolean;
	#number = 0;
	#marked = false;

	constructor(style: string, level: number, numbered: boolean) {
		this.style = style;
		this.level = level;
		this.#numbered = numbered;
	}

	next(isHeader: boolean): void {
		this.#marked = !isHeader;
		if (!isHeader) this.#number += 1;
	}

	item(text: string): string {
		const indent = "  ".repeat(Math.min(8, this.level - 1));
		if (!this.#marked) return `${indent}  ${oneLine(text)}`;
		this.#marked = false;
		return `${indent}${this.#numbered ? `${this.#number}.` : "-"} ${oneLine(text)}`;
	}
}

function rowsOf(element: MarkupElement): MarkupElement[] {
	return elements(element).flatMap((row) =>
		row.name === "table-row" ? [row] : /^table-(header-rows|rows|row-group)$/.test(row.name) ? rowsOf(row) : [],
	);
}

/** Adds a value as often as the file says, except an empty one that fills the rest of a sheet. Returns the number. */
function repeat<T>(list: T[], value: T, times: number, empty: boolean): number {
	if (!Number.isFinite(times) || times < 1) return 0;
	if (empty && times > MAX_EMPTY_REPEATS) {
		list.push(value);
		return 1;
	}
	if (list.length + times > MAX_CELLS) throw new DocumentFault("too-large", `The file has more than ${MAX_CELLS} cells`);
	for (let time = 0; time < times; time += 1) list.push(value);
	return times;
}

function comment(element: MarkupElement): string {
	const author = textOf(child(element, "creator"));
	const text = descendants(element, "p").map(textOf).join(" ");
	return quote(`Comment${author === "" ? "" : ` by ${author}`}: ${oneLine(text)}`);
}
