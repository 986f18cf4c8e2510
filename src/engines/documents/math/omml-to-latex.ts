import { attribute, child, elements, type MarkupElement, textOf } from "../markup/markup-tree.ts";
import { LATEX_ACCENTS, LATEX_FUNCTIONS, LATEX_SIGNS } from "./latex-symbols.ts";

/** Converts an Office formula (ECMA-376 part 1, 22.1) to LaTeX. */
export function ommlToLatex(formula: MarkupElement): string {
	return latexOf(formula).replaceAll(/ {2,}/g, " ").trim();
}

const INTEGRAL = "∫";
/** The separator between the parts of a delimiter. */
const SEPARATOR = "|";

const STRUCTURES: Readonly<Record<string, (element: MarkupElement) => string>> = {
	f: fraction,
	sSup: (element) => `${base(element)}^${braced(element, "sup")}`,
	sSub: (element) => `${base(element)}_${braced(element, "sub")}`,
	sSubSup: (element) => `${base(element)}_${braced(element, "sub")}^${braced(element, "sup")}`,
	sPre: (element) => `{}_${braced(element, "sub")}^${braced(element, "sup")}${part(element, "e")}`,
	rad: root,
	nary: sumOrIntegral,
	d: delimited,
	func: (element) => `${name(part(element, "fName"))} ${part(element, "e")}`,
	limLow: (element) => limit(element, "_"),
	limUpp: (element) => limit(element, "^"),
	acc: (element) => `\\${LATEX_ACCENTS.get(property(element, "chr") ?? "\u0302") ?? "hat"}${braced(element, "e")}`,
	bar: (element) => `\\${property(element, "pos") === "top" ? "overline" : "underline"}${braced(element, "e")}`,
	groupChr: grouped,
	borderBox: (element) => `\\boxed${braced(element, "e")}`,
	r: run,
	m: (element) => `\\begin{matrix}${rows(elements(element), (row) => elements(row))}\\end{matrix}`,
	eqArr: (element) => `\\begin{aligned}${rows(elements(element), (row) => [row])}\\end{aligned}`,
};

function latexOf(parent: MarkupElement): string {
	let latex = "";
	for (const element of elements(parent)) latex = joined(latex, elementLatex(element));
	return latex;
}

function elementLatex(element: MarkupElement): string {
	if (element.name === "t") return signs(textOf(element));
	if (element.name.endsWith("Pr") || element.name === "del") return "";
	const write = Object.hasOwn(STRUCTURES, element.name) ? STRUCTURES[element.name] : undefined;
	return write === undefined ? latexOf(element) : write(element);
}

/** Words within a formula are upright text, with their spaces (22.1.2.76); function names are recognised. */
function run(element: MarkupElement): string {
	const text = textOf(child(element, "t"));
	const isWords = isOn(property(element, "nor")) && /\p{L}{2}|\s/u.test(text) && !LATEX_FUNCTIONS.has(text.trim());
	return isWords ? `\\text{${text.replaceAll(/[%&#$_{}]/g, "\\$&")}}` : latexOf(element);
}

/** Joins two texts; a command's name must not run into a letter. */
const joined = (first: string, second: string): string =>
	/\\[A-Za-z]+$/.test(first) && /^[A-Za-z]/.test(second) ? `${first} ${second}` : first + second;

/** Replaces letters of the mathematical alphabets with plain ones, because their style has no meaning here. */
function signs(text: string): string {
	let latex = "";
	for (const sign of text) {
		const plain = /[\u{1d400}-\u{1d7ff}]/u.test(sign) ? sign.normalize("NFKC") : sign;
		latex = joined(latex, LATEX_SIGNS.get(plain) ?? plain);
	}
	return latex;
}

const part = (element: MarkupElement, name: string): string => {
	const inner = child(element, name);
	return inner === undefined ? "" : latexOf(inner);
};

const braced = (element: MarkupElement, name: string): string => `{${part(element, name).trim()}}`;

/** Returns the base of an index, in braces if it is longer than one letter or command. */
function base(element: MarkupElement): string {
	const latex = part(element, "e");
	return /^(?:[\p{L}\p{N}]+|\\[A-Za-z]+)?$/u.test(latex) || /^\\left.*\\right\S+$/s.test(latex) ? latex : `{${latex}}`;
}

/** Returns a property of a structure: from `naryPr` of `nary`. */
function property(element: MarkupElement, name: string): string | undefined {
	const inner = child(child(element, `${element.name}Pr`), name);
	return inner === undefined ? undefined : (attribute(inner, "val") ?? "");
}

const isOn = (value: string | undefined): boolean => value !== undefined && !/^(0|off|false)$/.test(value);

function fraction(element: MarkupElement): string {
	const type = property(element, "type");
	if (type === "noBar") return `{${part(element, "num")} \\atop ${part(element, "den")}}`;
	if (type === "lin" || type === "skw") return `{${part(element, "num")}}/{${part(element, "den")}}`;
	return `\\frac${braced(element, "num")}${braced(element, "den")}`;
}

function root(element: MarkupElement): string {
	const degree = isOn(property(element, "degHide")) ? "" : part(element, "deg");
	return `\\sqrt${degree === "" ? "" : `[${degree}]`}${braced(element, "e")}`;
}

function sumOrIntegral(element: MarkupElement): string {
	const index = (name: "sub" | "sup", mark: string) => {
		const latex = part(element, name);
		return latex === "" ? "" : `${mark}{${latex}}`;
	};
	return `${signs(property(element, "chr") ?? INTEGRAL)}${index("sub", "_")}${index("sup", "^")} ${part(element, "e")}`;
}

function delimited(element: MarkupElement): string {
	const fence = (sign: string) => (sign === "" ? "." : signs(sign));
	const [open, close] = [property(element, "begChr") ?? "(", property(element, "endChr") ?? ")"];
	const parts = elements(element)
		.filter(({ name }) => name === "e")
		.map((inner) => latexOf(inner));
	const inner = parts.join(` ${signs(property(element, "sepChr") ?? SEPARATOR)} `);
	return `\\left${joined(fence(open), inner)}\\right${fence(close)}`;
}

/** Sets a name of letters upright. */
function name(latex: string): string {
	const [, word = "", rest = ""] = /^([A-Za-z]+)(.*)$/s.exec(latex.trim()) ?? [];
	if (word === "") return latex;
	return `${LATEX_FUNCTIONS.has(word) ? `\\${word}` : `\\operatorname{${word}}`}${rest}`;
}

function limit(element: MarkupElement, mark: string): string {
	return `${name(part(element, "e"))}${mark}${braced(element, "lim")}`;
}

function grouped(element: MarkupElement): string {
	const sign = property(element, "chr") ?? "⏟";
	const command = LATEX_ACCENTS.get(sign);
	if (command !== undefined) return `\\${command}${braced(element, "e")}`;
	return `\\${property(element, "pos") === "top" ? "overset" : "underset"}{${signs(sign)}}${braced(element, "e")}`;
}

function rows(list: readonly MarkupElement[], cellsOf: (row: MarkupElement) => readonly MarkupElement[]): string {
	return list
		.filter(({ name }) => !name.endsWith("Pr"))
		.map((row) =>
			cellsOf(row)
				.map((cell) => latexOf(cell))
				.join(" & "),
		)
		.join(" \\\\ ");
}
