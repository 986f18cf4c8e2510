/**
 * Returns the text of an EQ field (the Field Reference of Word): for a phonetic guide its base text, for a fraction and the
 * like its parts in a line. null for another field.
 */
export function eqFieldText(code: string): string | null {
	const formula = /^\s*EQ\s+(.*)$/is.exec(code)?.[1];
	if (formula === undefined || formula.length > MAX_CHARS) return null;
	// Layout: direction and font.
	return textOf(formula.replaceAll(/\\\*\s*("[^"]*"|\S+)/g, ""))
		.replaceAll(/\s+/g, " ")
		.trim();
}

/** Each bracket is parsed again for those around it. */
const MAX_CHARS = 4_000;

/** A switch with its options and arguments: `\o\ad(\s\up 9(reading),word)`. */
const SWITCH = /\\(ac|[abdfilorsx])\b(?:\s*\\(?:[a-z]{1,2}\d*\s*\d*|[^a-z\s,;]))*\s*\(/iy;

const WRITTEN: Readonly<Record<string, (parts: readonly string[]) => string>> = {
	a: (parts) => parts.join(" "),
	b: ([inner = ""]) => `(${inner})`,
	d: () => "",
	f: ([above = "", below = ""]) => `${above}/${below}`,
	i: ([low = "", high = "", inner = ""]) => `∫${low === "" ? "" : `_${low}`}${high === "" ? "" : `^${high}`} ${inner}`,
	l: (parts) => parts.join(","),
	r: (parts) => `${parts.length > 1 ? parts[0] : ""}√(${parts.at(-1) ?? ""})`,
};

function textOf(formula: string): string {
	let text = "";
	for (let at = 0; at < formula.length; ) {
		SWITCH.lastIndex = at;
		const match = SWITCH.exec(formula);
		if (match === null) {
			if (formula[at] === "\\" && at + 1 < formula.length) at += 1;
			text += formula[at] ?? "";
			at += 1;
			continue;
		}
		const from = at + match[0].length;
		const { parts, end } = partsFrom(formula, from);
		text += toLatex((match[1] ?? "").toLowerCase(), parts);
		at = end;
	}
	return text;
}

function toLatex(name: string, parts: readonly string[]): string {
	if (name !== "o") return (WRITTEN[name] ?? ((inner) => inner.map(textOf).join("")))(parts.map(textOf));
	// A raised part above another one is its phonetic reading.
	const words = parts.filter((part) => !/^\s*\\s\s*\\up/i.test(part));
	return (words.length === 0 ? parts : words).map(textOf).join("");
}

/** Returns the parts up to the closing bracket, split at the list separator of the author's locale. */
function partsFrom(formula: string, from: number): { readonly parts: string[]; readonly end: number } {
	const parts: string[] = [];
	let depth = 0;
	let start = from;
	for (let at = from; at < formula.length; at += 1) {
		const sign = formula[at];
		if (sign === "\\") at += 1;
		else if (sign === "(") depth += 1;
		else if (sign === ")" && depth > 0) depth -= 1;
		else if (sign === ")") return { parts: [...parts, formula.slice(start, at)], end: at + 1 };
		else if ((sign === "," || sign === ";") && depth === 0) {
			parts.push(formula.slice(start, at));
			start = at + 1;
		}
	}
	return { parts: [...parts, formula.slice(start)], end: formula.length };
}
