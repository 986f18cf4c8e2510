import { DocumentFault } from "../document-fault.ts";
import { MAX_XML_DEPTH } from "../limits.ts";
import { table } from "../markdown.ts";
import { PPT, type PptRecord, pptDescendants, pptRecords } from "./ppt-records.ts";

/** Types of a slide's text ([MS-PPT], 2.13.33). */
const TITLES: ReadonlySet<number> = new Set([0, 6]);
const LISTS: ReadonlySet<number> = new Set([1, 7, 8]);
/** Date, slide number, footer and header ([MS-PPT], 2.13.22) repeat on every slide. */
const FOOTER = 9;
const REPEATED: ReadonlySet<number> = new Set([7, 8, FOOTER, 10]);
/** The property that makes a group of shapes a table ([MS-ODRAW], 2.3.4.37). */
const TABLE_PROPERTY = 0x39f;

export interface PptText {
	readonly kind: number;
	readonly text: string;
}

export interface PptShape {
	readonly isTitle: boolean;
	readonly block: string;
}

/**
 * Returns the texts of a slide's shapes in their order; groups that are tables become tables.
 * @param outline the slide's texts in the outline, to which its shapes refer by number
 * @throws {DocumentFault}
 */
export function pptShapes(slide: Buffer, outline: readonly PptText[]): PptShape[] {
	return [...pptDescendants(slide, PPT.group)].flatMap((group) => groupShapes(group.data, outline, 0));
}

function groupShapes(group: Buffer, outline: readonly PptText[], depth: number): PptShape[] {
	if (depth > MAX_XML_DEPTH) throw new DocumentFault("too-large", "The file nests too deep");
	const parts = [...pptRecords(group)];
	const first = parts[0];
	if (first !== undefined && isTable(first)) return [{ isTitle: false, block: tableOf(parts.slice(1), outline) }];
	return parts.flatMap((part) => {
		if (part.type === PPT.group) return groupShapes(part.data, outline, depth + 1);
		if (part.type !== PPT.shape || isRepeated(part.data)) return [];
		return shapeTexts(part.data, outline).map(({ kind, text }) => ({ isTitle: TITLES.has(kind), block: blockOf(kind, text) }));
	});
}

function blockOf(kind: number, text: string): string {
	if (!LISTS.has(kind)) return text;
	return text
		.split("\n")
		.filter((line) => line.trim() !== "")
		.map((line) => `- ${line}`)
		.join("\n");
}

function shapeTexts(shape: Buffer, outline: readonly PptText[]): PptText[] {
	return (
		[...pptRecords(shape)]
			.filter(({ type }) => type === PPT.textBox)
			.flatMap(({ data }) => {
				const [reference] = [...pptRecords(data)].filter(({ type }) => type === PPT.outlineText);
				const named = reference === undefined ? undefined : outline[reference.data.readUInt32LE(0)];
				return named === undefined ? pptTexts(pptRecords(data)) : [named];
			})
			// Placeholders for a number or a date.
			.filter(({ text }) => text.trim() !== "" && text.trim() !== "*")
	);
}

/** Returns the texts of consecutive records: each follows the record with its type. */
export function pptTexts(records: Iterable<PptRecord>): PptText[] {
	const texts: PptText[] = [];
	let kind: number | null = null;
	const end = () => {
		// An empty text has no record, but counts in the numbering.
		if (kind !== null) texts.push({ kind, text: "" });
	};
	for (const { type, data } of records) {
		if (type === PPT.textKind) {
			end();
			kind = data.readUInt32LE(0);
		} else if (type === PPT.wideText || type === PPT.narrowText) {
			const text = data.toString(type === PPT.wideText ? "utf16le" : "latin1");
			texts.push({ kind: kind ?? 4, text: text.replaceAll(/[\r\v]/g, "\n") });
			kind = null;
		}
	}
	end();
	return texts;
}

/** Returns the footer texts of a slide or master. */
export function pptFooters(slide: Buffer, outline: readonly PptText[]): string[] {
	return [...pptDescendants(slide, PPT.shape)]
		.filter(({ data }) => placeholderOf(data) === FOOTER)
		.flatMap(({ data }) => shapeTexts(data, outline).map(({ text }) => text));
}

function placeholderOf(shape: Buffer): number | null {
	const [placeholder] = pptDescendants(shape, PPT.placeholder);
	return placeholder === undefined ? null : placeholder.data.readUInt8(4);
}

const isRepeated = (shape: Buffer): boolean => REPEATED.has(placeholderOf(shape) ?? -1);

function isTable(shape: PptRecord): boolean {
	return [...pptRecords(shape.data)].some(({ type, instance, data }) => {
		if (type !== PPT.moreProperties) return false;
		for (let index = 0; index < instance && index * 6 + 6 <= data.length; index += 1)
			if ((data.readUInt16LE(index * 6) & 0x3fff) === TABLE_PROPERTY) return (data.readUInt32LE(index * 6 + 2) & 1) === 1;
		return false;
	});
}

/** Builds a table from cells, which are shapes: their position gives row and column. Shapes without an extent are lines. */
function tableOf(shapes: readonly PptRecord[], outline: readonly PptText[]): string {
	const cells = shapes.flatMap(({ data }) => {
		const place = [...pptRecords(data)].find(({ type }) => type === PPT.place)?.data;
		if (place === undefined) return [];
		const [left, top, right, bottom] = [0, 4, 8, 12].map((at) => place.readInt32LE(at));
		if (left === undefined || top === undefined || left === right || top === bottom) return [];
		const text = shapeTexts(data, outline)
			.map((part) => part.text)
			.join("\n");
		return [{ left, top, text }];
	});
	const lefts = [...new Set(cells.map(({ left }) => left))].sort((a, b) => a - b);
	const rows = Map.groupBy(cells, ({ top }) => top);
	return table(
		[...rows]
			.sort(([a], [b]) => a - b)
			.map(([, row]) => {
				const byLeft = new Map(row.map(({ left, text }) => [left, text]));
				return lefts.map((left) => byLeft.get(left) ?? "");
			}),
	);
}
