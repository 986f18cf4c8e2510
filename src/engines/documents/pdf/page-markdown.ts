import { heading, oneLine } from "../markdown.ts";
import { findTables } from "./find-tables.ts";
import { type PageBlock, pageBlocks } from "./page-blocks.ts";
import { boxAround, overlapX, overlapY, type PageContent, type Segment } from "./page-content.ts";
import { type Placed, readingOrder } from "./reading-order.ts";
import { turnedBack } from "./vertical-writing.ts";

/** The letter sizes of a document: that of most of its text, and the larger ones of headings. */
export interface FontSizes {
	readonly body: number;
	/** In descending order. */
	readonly headings: readonly number[];
	readonly bodyIsBold: boolean;
}

const HEADING_RATIO = 1.15;
const MAX_HEADING_LEVELS = 4;
const MAX_HEADING_CHARS = 200;
const MAX_HEADING_LINES = 3;
/** A line that ends before this share of its column is the last of its paragraph. */
const FULL_LINE = 0.85;
/** The minimum width of a text column in letter heights. */
const COLUMN_WIDTH = 13;
const BULLET = /^[\u2022\u25cf\u25aa\u25e6\u2023\u2043\uf0b7\uf0a7\u00b7\u25a0] */;
const NUMBERED = /^(\d{1,3}[.)]|[a-z][.)]|\([a-z\d]{1,3}\)) /;

/** Chinese and Japanese have no spaces between words. */
const WITHOUT_SPACES = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3001-\\u303f\\u30fb\\u30fc\\uff01-\\uff60]";
const WITHOUT_SPACES_END = new RegExp(`${WITHOUT_SPACES}$`, "u");
const WITHOUT_SPACES_START = new RegExp(`^${WITHOUT_SPACES}`, "u");

/** Rounded, so that rounding errors of matrices do not create sizes. */
const sizeOf = ({ size }: Segment): number => Math.round(size * 2) / 2;

export function fontSizes(pages: readonly PageContent[]): FontSizes {
	const letters = new Map<number, number>();
	let bold = 0;
	let all = 0;
	for (const { segments, verticalSegments } of pages)
		for (const segment of [...segments, ...verticalSegments]) {
			const { length } = segment.text;
			letters.set(sizeOf(segment), (letters.get(sizeOf(segment)) ?? 0) + length);
			all += length;
			if (segment.bold) bold += length;
		}
	let body = 0;
	let most = 0;
	for (const [size, count] of letters)
		if (count > most) {
			most = count;
			body = size;
		}
	const headings = [...letters.keys()].filter((size) => size >= body * HEADING_RATIO).sort((a, b) => b - a);
	return { body, headings, bodyIsBold: bold > all / 2 };
}

interface Item extends Placed {
	readonly texts: readonly string[];
}

/** Returns a page's blocks of Markdown in reading order. */
export function pageMarkdown({ segments, verticalSegments, extras }: PageContent, sizes: FontSizes): string[] {
	const { tables, rest } = findTables(segments);
	const across = [
		...tables.map((table) => ({ ...table, texts: [table.markdown], lineCount: table.markdown.split("\n").length - 1 })),
		...blockItems(rest, sizes),
	];
	// The library sorts lines that begin at the same height from left to right, so two rows look like cells of a table.
	const fromRight = [...verticalSegments].sort((a, b) => b.top - a.top || a.left - b.left);
	const down = readingOrder(blockItems(fromRight, sizes));
	const items = across.length === 0 ? down : readingOrder([...across, ...verticalRegions(down, across)]);
	return [...items.flatMap(({ texts }) => texts), ...extras];
}

/**
 * Groups pieces of vertical writing into regions that take a place among horizontal pieces; no region contains any of those.
 */
function verticalRegions(down: readonly Item[], across: readonly Item[]): Item[] {
	const regions: Item[] = [];
	for (const item of down) {
		const own = { ...item, ...turnedBack(item) };
		const index = regions.findIndex((region) => {
			const box = boxAround([region, own]);
			return !across.some((other) => overlapX(box, other) > 0 && overlapY(box, other) > 0);
		});
		const region = regions[index];
		if (region === undefined) regions.push(own);
		else
			regions[index] = {
				...boxAround([region, own]),
				texts: [...region.texts, ...own.texts],
				lineCount: region.lineCount + own.lineCount,
			};
	}
	return regions;
}

function blockItems(segments: readonly Segment[], sizes: FontSizes): Item[] {
	const blocks = pageBlocks(segments);
	const right = Math.max(0, ...blocks.map((block) => block.right));
	return blocks.map((block) => ({
		...block,
		texts: blockTexts(block, sizes, columnRight(block, blocks, right)),
		lineCount: block.lines.length,
	}));
}

/**
 * Returns the right edge of a block's column: its own edge if its lines are long and fill it, otherwise that of blocks with the
 * same left edge.
 */
function columnRight(block: PageBlock, blocks: readonly PageBlock[], pageRight: number): number {
	const width = block.right - block.left;
	const before = block.lines.slice(0, -1);
	const full = before.filter((line) => line.right - block.left >= FULL_LINE * width);
	if (before.length > 1 && full.length >= before.length / 2 && width > COLUMN_WIDTH * (before[0]?.size ?? 0)) return block.right;
	// Blocks above and below that extend into the block's neighbours belong to another column, or to none.
	const limit = blocks.reduce(
		(least, { left, top, bottom }) =>
			left > block.right && top > block.bottom && bottom < block.top ? Math.min(least, left) : least,
		pageRight,
	);
	return blocks.reduce(
		(most, other) => (Math.abs(other.left - block.left) < 30 && other.right <= limit ? Math.max(most, other.right) : most),
		block.right,
	);
}

function blockTexts(block: PageBlock, sizes: FontSizes, right: number): string[] {
	const level = headingLevel(block, sizes);
	if (level !== null) return [heading(level, joinLines(block.lines))];
	const texts: string[] = [];
	let paragraph: Segment[] = [];
	const end = () => {
		if (paragraph.length > 0) texts.push(asItem(joinLines(paragraph)));
		paragraph = [];
	};
	for (const [index, line] of block.lines.entries()) {
		const last = block.lines[index - 1];
		if (last !== undefined && startsParagraph(last, line, block, right)) end();
		paragraph.push(line);
	}
	end();
	return texts;
}

function startsParagraph(last: Segment, line: Segment, block: PageBlock, right: number): boolean {
	if (BULLET.test(line.text) || NUMBERED.test(line.text)) return true;
	if (last.hyphen) return false;
	const width = right - block.left;
	const leftOver = right - last.right;
	const firstWord = (line.right - line.left) * ((/^\S+/.exec(line.text)?.[0].length ?? 1) / Math.max(1, line.text.length));
	// The next word would have fit, so the line break is intended.
	if (last.right - block.left < FULL_LINE * width && leftOver > firstWord + last.size) return true;
	const indent = line.left - block.left;
	return (
		indent > 0.8 * line.size &&
		indent < 4 * line.size &&
		last.left - block.left < 0.5 * last.size &&
		/[.!?:"\u201d)]$/.test(last.text)
	);
}

/** Joins lines to one text, and rejoins hyphenated words. */
function joinLines(lines: readonly Segment[]): string {
	let text = "";
	let hyphen = false;
	for (const line of lines) {
		const isJoined = text === "" || hyphen || (WITHOUT_SPACES_END.test(text) && WITHOUT_SPACES_START.test(line.text));
		text += isJoined ? line.text : ` ${line.text}`;
		hyphen = line.hyphen;
	}
	return hyphen ? `${text}-` : text;
}

function asItem(text: string): string {
	return BULLET.test(text) ? `- ${oneLine(text.replace(BULLET, ""))}` : text;
}

function headingLevel({ lines }: PageBlock, { body, headings, bodyIsBold }: FontSizes): number | null {
	const [first] = lines;
	if (first === undefined || lines.length > MAX_HEADING_LINES) return null;
	const text = joinLines(lines);
	if (text.length > MAX_HEADING_CHARS || !/\p{L}{2}/u.test(text) || BULLET.test(text)) return null;
	const size = sizeOf(first);
	if (size >= body * HEADING_RATIO) return Math.min(MAX_HEADING_LEVELS, headings.indexOf(size) + 1);
	const isBold = !bodyIsBold && lines.length === 1 && lines.every(({ bold }) => bold) && size >= body;
	return isBold && text.length < 100 && !/[.,;:]$/.test(text)
		? Math.min(6, Math.min(MAX_HEADING_LEVELS, headings.length) + 1)
		: null;
}
