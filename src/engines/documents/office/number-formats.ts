import { format } from "numfmt";
import { attribute, child, elements, type MarkupElement } from "../markup/markup-tree.ts";

/** The formats that files name only by number (ECMA-376 part 1, 18.8.30). */
const BUILT_IN: Readonly<Record<number, string>> = {
	1: "0",
	2: "0.00",
	3: "#,##0",
	4: "#,##0.00",
	5: '"$"#,##0_);\\("$"#,##0\\)',
	6: '"$"#,##0_);\\("$"#,##0\\)',
	7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
	8: '"$"#,##0.00_);\\("$"#,##0.00\\)',
	9: "0%",
	10: "0.00%",
	11: "0.00E+00",
	12: "# ?/?",
	13: "# ??/??",
	14: "m/d/yyyy",
	15: "d-mmm-yy",
	16: "d-mmm",
	17: "mmm-yy",
	18: "h:mm AM/PM",
	19: "h:mm:ss AM/PM",
	20: "h:mm",
	21: "h:mm:ss",
	22: "m/d/yyyy h:mm",
	37: "#,##0_);(#,##0)",
	38: "#,##0_);(#,##0)",
	39: "#,##0.00_);(#,##0.00)",
	40: "#,##0.00_);(#,##0.00)",
	41: "_(* #,##0_);_(* \\(#,##0\\);_(* \\-_);_(@_)",
	42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* \\-_);_(@_)',
	43: "_(* #,##0.00_);_(* \\(#,##0.00\\);_(* \\-??_);_(@_)",
	44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* \\-??_);_(@_)',
	45: "mm:ss",
	46: "[h]:mm:ss",
	47: "mm:ss.0",
	48: "##0.0E+0",
	49: "@",
};
const GENERAL = "General";
/** Days between the two epochs of a workbook. */
const DAYS_TO_1904 = 1_462;
const MAX_PATTERN_CHARS = 500;

/** Formats numbers by the cell's style: dates, percent, currency. */
export class NumberFormats {
	readonly #patterns: readonly string[];
	readonly #from1904: boolean;

	/**
	 * @param formatIds of the cell styles, in their order
	 * @param own the formats that the file defines, by their numbers
	 */
	constructor(formatIds: readonly number[], own: ReadonlyMap<number, string>, from1904: boolean) {
		this.#patterns = formatIds.map((id) => own.get(id) ?? BUILT_IN[id] ?? GENERAL);
		this.#from1904 = from1904;
	}

	/** @param styles the root of styles.xml */
	static ofStyles(styles: MarkupElement | null, from1904: boolean): NumberFormats {
		const own = new Map<number, string>();
		const formats = styles === null ? undefined : child(styles, "numFmts");
		for (const { attributes } of formats === undefined ? [] : elements(formats))
			own.set(Number(attributes.numFmtId), attributes.formatCode ?? GENERAL);
		const cells = styles === null ? undefined : child(styles, "cellXfs");
		const ids = (cells === undefined ? [] : elements(cells)).map((style) => Number(attribute(style, "numFmtId") ?? 0));
		return new NumberFormats(ids, own, from1904);
	}

	/**
	 * Formats a value by a style.
	 * @param value as in the file: a decimal number as text
	 */
	show(value: string, style: number): string {
		return this.showAs(value, this.#patterns[style] ?? GENERAL);
	}

	/**
	 * Formats a value by a pattern.
	 * @param pattern of the file itself, instead of a style's
	 */
	showAs(value: string, pattern: string): string {
		const number = Number(value);
		if (!Number.isFinite(number) || value.trim() === "") return value;
		if (pattern === GENERAL || pattern.length > MAX_PATTERN_CHARS) return plain(number);
		try {
			const days = this.#from1904 && isDate(pattern) ? number + DAYS_TO_1904 : number;
			return format(pattern, days, { throws: true }).trim();
		} catch {
			return plain(number);
		}
	}
}

/** A sheet shows 15 digits; larger numbers are shown with an exponent. */
const MOST_SHOWN = 1e15;

/** Formats like a sheet, without rounding errors of binary fractions. */
function plain(number: number): string {
	const text = String(Number(number.toPrecision(15)));
	return Math.abs(number) >= MOST_SHOWN || text.includes("e") ? format(GENERAL, number) : text;
}

const isDate = (pattern: string): boolean => /[ymdhs]/i.test(pattern.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]|_.|\*./g, ""));
