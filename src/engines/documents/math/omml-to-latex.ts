import { attribute, child, elements, type MarkupElement, textOf } from "../markup/markup-tree.ts";
import { LATEX_ACCENTS, LATEX_FUNCTIONS, LATEX_SIGNS } from "./latex-symbols.ts";

/** A formula of Office (ECMA-376 part 1, 22.1) as LaTeX. */
export function ommlToLatex(formula: MarkupElement): string {
	return latexOf(formula).replaceAll(/ {2,}/g, " ").trim();
}

const INTEGRAL = "∫";
/** Between the parts of what a pair of signs encloses. */
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

/** Words within a formula are upright text, with their spaces (22.1.2.76); names of functions are known by themselves. */
function run(element: MarkupElement): string {
	const text = textOf(child(element, "t"));
	const isWords = isOn(property(element, "nor")) && /\p{L}{2}|\s/u.test(text) && !LATEX_FUNCTIONS.has(text.trim());
	return isWords ? `\\text{${text.replaceAll(/[%&#$_{}]/g, "\\$&")}}` : latexOf(element);
}

/** A command's name ends where no letter follows. */
const joined = (first: string, second: string): string =>
	/\\[A-Za-z]+$/.test(first) && /^[A-Za-z]/.test(second) ? `${first} ${second}` : first + second;

/** Letters of the mathematical alphabets are plain ones here: their slant says nothing. */
function signs(text: string): string {
	let latex = "";
	for (const sign of text) {
		const plain = /[\u{1d400}-\u{1d7ff}]/u.test(sign) ? sign.normalize("NFKC") : sign;
		latex = joined(latex, LATEX_SIGNS.get(plain) ?? plain);
	}
	return latex;
}

const part = (element: MarkupElement, name: string): string => {
	const found = child(element, name);
	return found === undefined ? "" : latexOf(found);
};

const braced = (element: MarkupElement, name: string): string => `{${part(element, name).trim()}}`;

/** What has an index: in braces where it is more than one letter or command. */
function base(element: MarkupElement): string {
	const latex = part(element, "e");
	return /^(?:[\p{L}\p{N}]+|\\[A-Za-z]+)?$/u.test(latex) || /^\\left.*\\right\S+$/s.test(latex) ? latex : `{${latex}}`;
}

/** The value of a property of a structure: `naryPr` of `nary`. */
function property(element: MarkupElement, name: string): string | undefined {
	const found = child(child(element, `${element.name}Pr`), name);
	return found === undefined ? undefined : (attribute(found, "val") ?? "");
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

/** A name of letters is set upright. */
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
