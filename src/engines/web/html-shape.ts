import { Parser } from "htmlparser2";

/** Pages of people are far below both; past them the search for an article takes more than its time. */
const MAX_DEPTH = 400;
const MAX_ELEMENTS = 150_000;

/** True where a page is built as pages are: not so deep, nor of so many parts, that only a linear reader should take it. */
export function isOrdinary(html: string): boolean {
	let depth = 0;
	let deepest = 0;
	let elements = 0;
	const parser = new Parser({
		onopentag() {
			depth += 1;
			elements += 1;
			if (depth > deepest) deepest = depth;
			if (deepest > MAX_DEPTH || elements > MAX_ELEMENTS) parser.pause();
		},
		onclosetag() {
			depth -= 1;
		},
	});
	for (let at = 0; at < html.length && deepest <= MAX_DEPTH && elements <= MAX_ELEMENTS; at += 65_536)
		parser.write(html.slice(at, at + 65_536));
	return deepest <= MAX_DEPTH && elements <= MAX_ELEMENTS;
}
