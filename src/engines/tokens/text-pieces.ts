/**
 * Splits a text into pieces for a byte-pair encoder. Its time grows with the square of the longest run of one kind of
 * character, so runs are cut at 2,000 characters. Long texts are cut at the end of a word, which changes no count.
 */

const MAX_RUN_CHARS = 2_000;
/** The clock is checked between pieces of this size. */
const PIECE_CHARS = 16_384;

type Kind = "letter" | "digit" | "space" | "sign";

/** Characters beyond ASCII count as letters, because any run of them has to be bounded. */
function kindOf(unit: number): Kind {
	if (unit === 32 || (unit >= 9 && unit <= 13)) return "space";
	if (unit >= 48 && unit <= 57) return "digit";
	if ((unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122) || unit > 127) return "letter";
	return "sign";
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Returns true at a single space between letters, where the encoder starts a new word in any case. */
function wordEnds(text: string, at: number): boolean {
	return (
		text.charCodeAt(at) === 32 && kindOf(text.charCodeAt(at - 1)) === "letter" && kindOf(text.charCodeAt(at + 1)) === "letter"
	);
}

/** Yields the pieces in order; their concatenation is the text. */
export function* textPieces(text: string): Generator<string, void> {
	let start = 0;
	let runStart = 0;
	let runKind: Kind | null = null;
	for (let at = 0; at < text.length; at += 1) {
		const unit = text.charCodeAt(at);
		const kind = kindOf(unit);
		if (kind !== runKind) {
			runKind = kind;
			runStart = at;
		}
		const longRun = at - runStart >= MAX_RUN_CHARS && !isLowSurrogate(unit);
		if (!longRun && !(at - start >= PIECE_CHARS && wordEnds(text, at))) continue;
		yield text.slice(start, at);
		start = at;
		runStart = at;
	}
	if (start < text.length) yield text.slice(start);
}

/**
 * The number of characters counted in one turn: some tens of milliseconds, so that short texts of other callers do not wait
 * longer.
 */
const TURN_CHARS = 262_144;

/** Yields the parts of a long text that are counted in one turn each, cut at the end of a word if one is near. */
export function* textTurns(text: string): Generator<string, void> {
	let start = 0;
	while (text.length - start > TURN_CHARS + MAX_RUN_CHARS) {
		let end = start + TURN_CHARS;
		while (end < start + TURN_CHARS + MAX_RUN_CHARS && !wordEnds(text, end)) end++;
		if (isLowSurrogate(text.charCodeAt(end))) end++;
		yield text.slice(start, end);
		start = end;
	}
	yield text.slice(start);
}
