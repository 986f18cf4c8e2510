import { DocumentFault } from "../document-fault.ts";
import { MAX_PAGES } from "../limits.ts";
import { blocks, heading, oneLine, quote } from "../markdown.ts";
import type { OleStreams } from "./ole-streams.ts";
import { PPT, type PptRecord, pptDescendants, pptRecord, pptRecords } from "./ppt-records.ts";
import { type PptText, pptFooters, pptShapes, pptTexts } from "./ppt-shapes.ts";

const ENCRYPTED = 0xf3d1c4df;
const SLIDES = 0;
const MASTERS = 1;
const NOTES = 2;
/** A repeated text of one slide ([MS-PPT], 2.4.15.1). */
const OF_ONE_SLIDE = 0;
const OF_SLIDES = 3;
const FOOTER = 2;
const AUTHOR = 0;
const COMMENT = 1;
const HIDDEN = 4;
/** A user edit with encryption information has this length. */
const EDIT_WITH_KEY = 32;

/** An entry in the list of slides or notes pages. */
interface Place {
	readonly number: number;
	readonly id: number;
	/** Its texts in the outline. */
	readonly outline: readonly PptText[];
}

/**
 * Converts a presentation of the format of 1997 to 2003 ([MS-PPT]) to Markdown: a heading for each slide in order, its shapes,
 * notes and comments.
 * @param bytes the stream `PowerPoint Document` of the file
 * @throws {DocumentFault}
 */
export function pptToMarkdown(file: OleStreams, bytes: Buffer): string {
	const user = file.stream("Current User");
	if (user === null || user.length < 20) throw damaged();
	if (user.readUInt32LE(12) === ENCRYPTED) throw locked();
	const { offsets, document } = readEdits(bytes, user.readUInt32LE(16));
	const at = (number: number): Buffer => pptRecord(bytes, offsets.get(number) ?? bytes.length)?.data ?? Buffer.alloc(0);
	const lists = [...pptRecords(at(document))].filter(({ type }) => type === PPT.slideList);
	const places = (list: number) => lists.filter(({ instance }) => instance === list).flatMap(({ data }) => placesOf(data));
	const slides = places(SLIDES);
	if (slides.length > MAX_PAGES) throw new DocumentFault("too-large", `The file has more than ${MAX_PAGES} slides`);
	const footers = [...slides, ...places(MASTERS)].flatMap(({ number, outline }) => [
		...pptFooters(at(number), outline),
		...setFooters(at(number)),
	]);
	const notes = new Map(places(NOTES).map((place) => [place.id, place]));
	return blocks([
		...slides.map((place, index) => {
			const slide = at(place.number);
			const page = notes.get(notesOf(slide));
			return slideToMarkdown(slide, place.outline, index + 1, page === undefined ? "" : notesText(at(page.number), page));
		}),
		...new Set([...footers, ...setFooters(at(document))].map((text) => text.trim())),
	]);
}

/** Returns the offset of each part: the newest edit overrides older ones. */
function readEdits(bytes: Buffer, newest: number): { offsets: Map<number, number>; document: number } {
	const offsets = new Map<number, number>();
	const seen = new Set<number>();
	let document: number | undefined;
	for (let at = newest; at !== 0 && !seen.has(at); ) {
		seen.add(at);
		const edit = pptRecord(bytes, at);
		if (edit?.type !== PPT.userEdit) throw damaged();
		if (edit.data.length >= EDIT_WITH_KEY) throw locked();
		document ??= edit.data.readUInt32LE(16);
		const places = pptRecord(bytes, edit.data.readUInt32LE(12));
		if (places?.type !== PPT.places) throw damaged();
		for (let from = 0; from + 4 <= places.data.length; ) {
			const run = places.data.readUInt32LE(from);
			from += 4;
			for (let index = 0; index < run >>> 20; index += 1, from += 4) {
				const number = (run & 0xfffff) + index;
				if (!offsets.has(number)) offsets.set(number, places.data.readUInt32LE(from));
			}
		}
		at = edit.data.readUInt32LE(8);
	}
	if (document === undefined) throw damaged();
	return { offsets, document };
}

/** Returns the footers that all slides, or one, are set to show. */
function setFooters(part: Buffer): string[] {
	return [...pptRecords(part)]
		.filter(({ type, instance }) => type === PPT.headersFooters && (instance === OF_SLIDES || instance === OF_ONE_SLIDE))
		.flatMap(({ data }) => [...pptRecords(data)])
		.filter(({ type, instance }) => type === PPT.string && instance === FOOTER)
		.map(({ data }) => data.toString("utf16le"));
}

/** Reads the entries; each slide's record is followed by its texts. */
function placesOf(list: Buffer): Place[] {
	const entries: { readonly place: PptRecord; readonly texts: PptRecord[] }[] = [];
	for (const record of pptRecords(list))
		if (record.type === PPT.slidePlace) entries.push({ place: record, texts: [] });
		else entries.at(-1)?.texts.push(record);
	return entries.map(({ place, texts }) => ({
		number: place.data.readUInt32LE(0),
		id: place.data.readUInt32LE(12),
		outline: pptTexts(texts),
	}));
}

function notesOf(slide: Buffer): number {
	const atom = [...pptRecords(slide)].find(({ type }) => type === PPT.slideAtom);
	return atom === undefined ? 0 : atom.data.readUInt32LE(16);
}

function slideToMarkdown(slide: Buffer, outline: readonly PptText[], number: number, notes: string): string {
	const shapes = pptShapes(slide, outline);
	const title = oneLine(
		shapes
			.filter(({ isTitle }) => isTitle)
			.map(({ block }) => block)
			.join(" "),
	);
	const show = [...pptRecords(slide)].find(({ type }) => type === PPT.slideShow);
	const hidden = show !== undefined && (show.data.readUInt16LE(10) & HIDDEN) !== 0 ? " (hidden)" : "";
	return blocks([
		heading(2, `Slide ${number}${hidden}${title === "" ? "" : `: ${title}`}`),
		...shapes.filter(({ isTitle }) => !isTitle).map(({ block }) => block),
		notes === "" ? "" : quote(`Notes: ${notes}`),
		...[...pptDescendants(slide, PPT.comment)].map(commentText),
	]);
}

const notesText = (page: Buffer, { outline }: Place): string =>
	pptShapes(page, outline)
		.map(({ block }) => block)
		.join("\n");

function commentText({ data }: PptRecord): string {
	const strings = new Map(
		[...pptRecords(data)].flatMap((part) => (part.type === PPT.string ? [[part.instance, part.data] as const] : [])),
	);
	const author = strings.get(AUTHOR)?.toString("utf16le") ?? "";
	const text = strings.get(COMMENT)?.toString("utf16le") ?? "";
	return text.trim() === "" ? "" : quote(`Comment${author === "" ? "" : ` by ${author}`}: ${text.replaceAll("\r", "\n")}`);
}

const damaged = () => new DocumentFault("corrupt", "The file is cut off or damaged: it cannot be read as a presentation");
const locked = () => new DocumentFault("encrypted", "The file is protected by a password");
