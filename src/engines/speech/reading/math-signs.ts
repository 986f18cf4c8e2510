/**
 * Replaces signs of powers and comparisons with words of a language; applies to the original text, before markup is removed.
 */

export interface MathWords {
	/** `raised` is negative with a sign; otherwise digits, a letter, or a parenthesis with its content. */
	power(raised: string): string;
	readonly comparisons: Readonly<Record<Comparison, string>>;
	/** The word before the second comparison of a chain: `1 < x < 5`. */
	readonly chain: string;
	readonly times: string;
	/** The words for square and cubic units; absent: they are read as powers. */
	readonly measures?: MeasureWords;
}

export interface MeasureWords {
	readonly units: Readonly<Record<MeasureUnit, string>>;
	/** Joins the plural of a unit with its power. */
	join(unit: string, isSquare: boolean): string;
	/** Changes the joined words to those for an amount of one. */
	one(words: string): string;
}
type MeasureUnit = "km" | "m" | "cm" | "mm";
type Comparison = "<" | ">" | "<=" | ">=" | "!=" | "==" | "≈";

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const RAISED = new RegExp(`(?<=[\\p{L}\\p{N})])([⁻⁺]?)([${SUPERSCRIPTS}]+)`, "gu");
/** `2^10`, `x^n`, `e^(x+1)`, and `2**10` of programs; not a face (`^_^`), nor two stars around words. */
const CARET = /(?<=[\p{L}\p{N})])(?:\s?\^\s?|(?<=\d)\*\*(?=[-+\d]))([-−+]?)(\d+(?:\.\d+)?|\p{L}(?![\p{L}\p{N}])|(?=\())/gu;
/** A square or cubic unit behind its amount: 20 m², 5 cm^3. */
const MEASURE = /(?<![\p{L}\p{N}.,])(\d[\d.,]*)\s?(km|cm|mm|m)(?:\^?(2|²)|\^?[3³])(?![\p{L}\p{N}⁰¹²³⁴⁵⁶⁷⁸⁹])/gu;
const TIMES = /(?<=\d)\s?\*\s?(?=\d)/g;

const ATTRIBUTE = String.raw`\s+[\w:-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))`;
const TAG = String.raw`<\/?[a-z][\w:-]*(?:${ATTRIBUTE})*\s*\/?>|<![^<>]*>`;
/** Angle brackets directly behind a word, without a word directly after them: the parameters of a type. */
const PARAMETERS = String.raw`(?<=[\p{L}\p{N}_])<[\p{L}_][^<>\n]*[\p{L}\p{N}_\])]>(?![\p{L}\p{N}(])`;
const ARROW = String.raw`<{2,}|>{2,}|<?[-=]{1,2}>|<-{1,2}(?!\d)|<={2,}|\/>`;
const SIGN = new RegExp(`(?:${TAG}|${PARAMETERS}|${ARROW})|(!==?|===?|<=|>=|[≤≥≠≈<>])`, "giu");
const SAME: Readonly<Record<string, Comparison>> = { "≤": "<=", "≥": ">=", "≠": "!=", "!==": "!=", "===": "==" };
const OPERAND = /^\s*[^\s,;:.!?]{1,12}\s*$/u;
const MAX_CONTEXT = 16;

/** Replaces powers and comparisons; tags, arrows and type parameters stay. */
export function mathSignsIn(text: string, words: MathWords): string {
	return comparisonsIn(powersIn(measuresIn(text, words), words), words);
}

function measuresIn(text: string, { measures }: MathWords): string {
	if (measures === undefined) return text;
	return text.replace(MEASURE, (_, amount: string, unit: MeasureUnit, square?: string) => {
		const many = measures.join(measures.units[unit], square !== undefined);
		return `${amount} ${amount === "1" ? measures.one(many) : many}`;
	});
}

function powersIn(text: string, { power, times }: MathWords): string {
	return text
		.replace(RAISED, (_, sign: string, raised: string) => {
			const digits = [...raised].map((digit) => SUPERSCRIPTS.indexOf(digit)).join("");
			return power(sign === "⁻" ? `-${digits}` : digits);
		})
		.replace(CARET, (_, sign: string, raised: string) => power(/[-−]/.test(sign) ? `-${raised}` : raised))
		.replace(TIMES, times);
}

function comparisonsIn(text: string, { comparisons, chain }: MathWords): string {
	let spoken = "";
	let from = 0;
	let lastEnd = -1;
	for (const { 0: whole, 1: sign, index } of text.matchAll(SIGN)) {
		const end = index + whole.length;
		if (sign === undefined || !compares(text, index, end, sign)) continue;
		const isChained = lastEnd >= 0 && OPERAND.test(text.slice(lastEnd, index));
		const comparison = SAME[sign] ?? (sign as Comparison);
		spoken += `${text.slice(from, index).trimEnd()}${isChained ? chain : ""}${comparisons[comparison]}`;
		from = end + (/^[^\S\n]*/.exec(text.slice(end, end + MAX_CONTEXT))?.[0].length ?? 0);
		lastEnd = end;
	}
	return spoken + text.slice(from);
}

/** Returns true if a sign compares two things: spaces on both sides or on none, or a figure on the side without one. */
function compares(text: string, index: number, end: number, sign: string): boolean {
	const before = /(\S?)([^\S\n]*)$/u.exec(text.slice(Math.max(0, index - MAX_CONTEXT), index));
	const after = /^([^\S\n]*)(\S?)(\S?)/u.exec(text.slice(end, end + MAX_CONTEXT));
	const [left = "", right = "", next = ""] = [before?.[1], after?.[2], after?.[3]];
	if (!/[\p{L}\p{N})\]%°'"_]/u.test(left) || !/[\p{L}\p{N}([.$€£¥"'_√−-]/u.test(right)) return false;
	if (/[.−-]/.test(right) && !/[\p{L}\p{N}.]/u.test(next)) return false;
	// Signs of two characters, and purely mathematical ones, have no other meaning.
	if (!/^[<>]$/.test(sign)) return true;
	const [spaceBefore, spaceAfter] = [before?.[2] !== "", after?.[1] !== ""];
	if (spaceBefore === spaceAfter) return true;
	// A heart: "I <3 you".
	if (sign === "<" && spaceBefore && right === "3" && !/\d/.test(left)) return false;
	return /[\p{N}(.−-]/u.test(spaceBefore ? right : left);
}
