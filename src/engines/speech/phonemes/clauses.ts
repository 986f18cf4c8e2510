/** Words and the punctuation between them, which the model turns into melody and pauses. */
export interface Clause {
	/** Without the punctuation that ends it; may be empty. */
	readonly words: string;
	/** One of the model's signs, "" if there is none. */
	readonly mark: string;
}

/** A sign that ends a clause; `.` within a number or an address does not. */
const MARK = /(?:[;:,.!?…]+(?=[\s”)]|$)|[“”()—])+/gu;

const SAME_SIGN: readonly (readonly [RegExp, string])[] = [
	[/[‘’ʼ`´]/g, "'"],
	[/[«„‟]/g, "“"],
	[/»/g, "”"],
	[/(^|[\s(“])"(?=\S)/g, "$1“"],
	[/"/g, "”"],
	[/[।॥]/g, ". "],
	[/[、，﹐]/g, ", "],
	[/[。．｡]/g, ". "],
	[/！/g, "! "],
	[/？/g, "? "],
	[/[：]/g, ": "],
	[/；/g, "; "],
	[/[¡¿]/g, ""],
	[/[《「『【〈〔]/g, " “"],
	[/[》」』】〉〕]/g, "” "],
	[/（/g, " ("],
	[/）/g, ") "],
	[/[_~]+/g, " "],
	[/\.{3,}/g, "…"],
	[/\s[-–]\s|--+|[–―]/g, " — "],
];

/** Replaces punctuation of all languages with the model's signs. */
export const modelPunctuation = (text: string): string =>
	SAME_SIGN.reduce((written, [from, to]) => written.replace(from, to), text);

/**
 * Splits a text into clauses.
 * @param text with the model's punctuation
 */
export function clausesOf(text: string): Clause[] {
	const clauses: Clause[] = [];
	let from = 0;
	for (const match of text.matchAll(MARK)) {
		clauses.push({ words: text.slice(from, match.index).trim(), mark: shortMark(match[0]) });
		from = match.index + match[0].length;
	}
	const rest = text.slice(from).trim();
	if (rest !== "") clauses.push({ words: rest, mark: "" });
	return clauses;
}

/** Shortens a run of the same sign: "!!!!" is a "!". */
const shortMark = (mark: string): string => mark.replace(/(.)\1+/gu, "$1").slice(0, 3);

/** Joins clauses with the spaces of the training data: before an opening sign, after all others. */
export function joinClauses(clauses: readonly { readonly phonemes: string; readonly mark: string }[]): string {
	let joined = "";
	for (const { phonemes, mark } of clauses) {
		const opening = /[“(]$/u.test(mark);
		const space = joined === "" || /[\s“(]$/u.test(joined) || phonemes === "" ? "" : " ";
		joined += space + phonemes + (opening && !/\s$/u.test(joined + phonemes) ? " " : "") + mark;
	}
	return joined.trim();
}
