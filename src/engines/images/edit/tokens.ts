import { type Colour, colourOfHex } from "./colours.ts";

export type Unit = "px" | "%" | "degrees" | "times" | null;

interface Spot {
	/** The index in the prompt. */
	readonly start: number;
	readonly end: number;
}

export type Token = Spot &
	(
		| { readonly kind: "word"; readonly word: string }
		| { readonly kind: "number"; readonly value: number; readonly signed: boolean; readonly unit: Unit }
		| { readonly kind: "size"; readonly width: number; readonly height: number }
		| { readonly kind: "ratio"; readonly width: number; readonly height: number }
		| { readonly kind: "colour"; readonly colour: Colour }
		| { readonly kind: "text"; readonly text: string }
		/** Separates two operations; a comma may also separate two numbers. */
		| { readonly kind: "separator"; readonly mark: string }
	);

/** Words without meaning here. */
const FILLERS = new Set("please the a an image picture photo it this its my some effect filter".split(" "));

const UNITS: readonly (readonly [RegExp, Unit])[] = [
	[/^(?:%|percent)$/, "%"],
	[/^(?:px|pixels?)$/, "px"],
	[/^(?:°|degrees?|deg)$/, "degrees"],
	[/^(?:x|×|times)$/, "times"],
];

const NUMBER = String.raw`\d{1,9}(?:\.\d{1,6})?`;
const PIXELS = String.raw`(?:\s?(?:px|pixels?))?`;
const PATTERNS = {
	space: /[^\S\n]+/y,
	// Quotes match in kind; a backslash escapes a quote or itself.
	text: /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|“([^”]*)”|‘([^’]*)’|«([^»]*)»/sy,
	colour: /#[0-9a-z]+/iy,
	size: new RegExp(String.raw`(${NUMBER})${PIXELS}\s?(?:x|×|\*|by)\s?(${NUMBER})${PIXELS}(?![\p{L}\p{N}%])`, "iuy"),
	ratio: new RegExp(String.raw`(${NUMBER})\s?:\s?(${NUMBER})(?![\p{L}\p{N}%])`, "iuy"),
	number: new RegExp(
		String.raw`([+\-−]?)(${NUMBER})(?:\s?(%|°|percent|px|pixels?|degrees?|deg|x|×|times)(?![\p{L}]))?(?![\p{L}\p{N}])`,
		"iuy",
	),
	separator: /[,;.!\n]/y,
	word: /[\p{L}\p{M}'’]+/uy,
} as const;

/** Returns the words of a prompt; hyphens separate words, and fillers are left out. Other characters are words of one sign. */
export function tokensOf(prompt: string): Token[] {
	const tokens: Token[] = [];
	for (let start = 0; start < prompt.length; ) {
		const match = (pattern: RegExp): RegExpExecArray | null => {
			pattern.lastIndex = start;
			return pattern.exec(prompt);
		};
		const [token, length] = tokenAt(match, start);
		if (token !== null && !(token.kind === "word" && FILLERS.has(token.word))) tokens.push(token);
		start += length;
	}
	return tokens;
}

function tokenAt(match: (pattern: RegExp) => RegExpExecArray | null, start: number): [Token | null, number] {
	const spot = (matched: RegExpExecArray): Spot => ({ start, end: start + matched[0].length });
	const line = match(PATTERNS.separator);
	if (line !== null) return [{ kind: "separator", mark: line[0], ...spot(line) }, line[0].length];
	const space = match(PATTERNS.space);
	if (space !== null) return [null, space[0].length];
	const text = match(PATTERNS.text);
	if (text !== null) {
		const [whole, ...kinds] = text;
		const inner = kinds.find((kind) => kind !== undefined) ?? "";
		const escaped = whole.startsWith('"') || whole.startsWith("'");
		return [{ kind: "text", text: escaped ? inner.replaceAll(/\\(.)/gs, "$1") : inner, ...spot(text) }, whole.length];
	}
	const hex = match(PATTERNS.colour);
	const colour = hex === null ? undefined : colourOfHex(hex[0]);
	if (hex !== null && colour !== undefined) return [{ kind: "colour", colour, ...spot(hex) }, hex[0].length];
	for (const kind of ["size", "ratio"] as const) {
		const pair = match(PATTERNS[kind]);
		if (pair !== null) return [{ kind, width: Number(pair[1]), height: Number(pair[2]), ...spot(pair) }, pair[0].length];
	}
	const number = match(PATTERNS.number);
	if (number !== null) return [numberOf(number, spot(number)), number[0].length];
	const word = match(PATTERNS.word);
	if (word !== null) return [{ kind: "word", word: word[0].toLowerCase(), ...spot(word) }, word[0].length];
	return [signAt(match, start), 1];
}

function numberOf([, sign = "", digits, unit]: RegExpExecArray, spot: Spot): Token {
	const value = Number(digits) * (sign === "" || sign === "+" ? 1 : -1);
	const named = UNITS.find(([pattern]) => unit !== undefined && pattern.test(unit.toLowerCase()))?.[1] ?? null;
	return { kind: "number", value: value === 0 ? 0 : value, signed: sign !== "", unit: named, ...spot };
}

/** A hyphen between words separates them; any other sign is an unknown word. */
function signAt(match: (pattern: RegExp) => RegExpExecArray | null, start: number): Token | null {
	if (match(/-(?=\p{L})/uy) !== null) return null;
	const sign = match(/./suy)?.[0] ?? "";
	if (sign === "&") return { kind: "word", word: "and", start, end: start + 1 };
	return { kind: "word", word: sign, start, end: start + Math.max(1, sign.length) };
}
