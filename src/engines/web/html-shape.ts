import { Parser } from "htmlparser2";

/** Pages of people are far below both; past them the search for an article takes more than its time. */
const MAX_DEPTH = 400;
const MAX_ELEMENTS = 150_000;
/** Each form costs a look at all others. */
const MAX_FORMS = 500;

/** True where a page is built as pages are: not so deep, nor of so many parts, that only a linear reader should take it. */
export function isOrdinary(html: string): boolean {
	let depth = 0;
	let deepest = 0;
	let elements = 0;
	let forms = 0;
	const isFine = () => deepest <= MAX_DEPTH && elements <= MAX_ELEMENTS && forms <= MAX_FORMS;
	const parser = new Parser({
		onopentag(name) {
			depth += 1;
			elements += 1;
			if (name === "form") forms += 1;
			if (depth > deepest) deepest = depth;
			if (!isFine()) parser.pause();
		},
		onclosetag() {
			depth -= 1;
		},
	});
	for (let at = 0; at < html.length && isFine(); at += 65_536) parser.write(html.slice(at, at + 65_536));
	return isFine();
}
