import { expect, test } from "bun:test";
import { elements, parseXml } from "../markup/markup-tree.ts";
import { ommlToLatex } from "./omml-to-latex.ts";

const r = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
const e = (inner: string, name = "e") => `<m:${name}>${inner}</m:${name}>`;
const latex = (inner: string) =>
	elements(parseXml(`<m:oMath>${inner}</m:oMath>`))
		.map(ommlToLatex)
		.join("");

test.each([
	[
		`<m:f>${e(r("a"), "num")}${e(r("λ"), "den")}</m:f>${r(" = ")}<m:f>${e(r("m"), "num")}<m:den><m:func>${e(r("sin"), "fName")}${e(r("θ"))}</m:func></m:den></m:f>`,
		"\\frac{a}{\\lambda} = \\frac{m}{\\sin \\theta}",
	],
	[`<m:sSup>${e(r("10"))}${e(r("−6"), "sup")}</m:sSup>`, "10^{-6}"],
	[`<m:sSubSup>${e(r("x"))}${e(r("i"), "sub")}${e(r("2"), "sup")}</m:sSubSup>`, "x_{i}^{2}"],
	[`<m:sSup>${e(`<m:sSup>${e(r("x"))}${e(r("2"), "sup")}</m:sSup>`)}${e(r("n"), "sup")}</m:sSup>`, "{x^{2}}^{n}"],
	[`<m:f><m:fPr><m:type m:val="lin"/></m:fPr>${e(r("1"), "num")}${e(r("2"), "den")}</m:f>`, "{1}/{2}"],
	[`<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>${e(r("2"))}</m:rad>`, "\\sqrt{2}"],
	[`<m:rad>${e(r("3"), "deg")}${e(r("x"))}</m:rad>`, "\\sqrt[3]{x}"],
	[
		`<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>${e(r("i=1"), "sub")}${e(r("n"), "sup")}${e(r("i"))}</m:nary>`,
		"\\sum_{i=1}^{n} i",
	],
	[`<m:nary>${e(r("0"), "sub")}${e(r("∞"), "sup")}${e(r("xdx"))}</m:nary>`, "\\int_{0}^{\\infty} xdx"],
	[`<m:d>${e(r("a+b"))}</m:d>`, "\\left(a+b\\right)"],
	[
		`<m:d><m:dPr><m:begChr m:val="{"/><m:endChr m:val=""/></m:dPr><m:e><m:eqArr>${e(r("1"))}${e(r("2"))}</m:eqArr></m:e></m:d>`,
		"\\left\\{\\begin{aligned}1 \\\\ 2\\end{aligned}\\right.",
	],
	[
		`<m:m><m:mPr/><m:mr>${e(r("1"))}${e(r("0"))}</m:mr><m:mr>${e(r("0"))}${e(r("1"))}</m:mr></m:m>`,
		"\\begin{matrix}1 & 0 \\\\ 0 & 1\\end{matrix}",
	],
	[`<m:acc><m:accPr><m:chr m:val="\u20d7"/></m:accPr>${e(r("v"))}</m:acc>`, "\\vec{v}"],
	[`<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>${e(r("x"))}</m:bar>`, "\\overline{x}"],
	[`<m:limLow>${e(r("lim"))}<m:lim>${r("n→∞")}</m:lim></m:limLow>${r("x")}`, "\\lim_{n\\to\\infty}x"],
	[`<m:func>${e(r("foo"), "fName")}${e(r("x"))}</m:func>`, "\\operatorname{foo} x"],
	[r("𝑎×b ≤ 50% of {c}_d"), "a\\times b \\le 50\\% of \\{c\\}\\_d"],
	[
		"<m:r><m:t>x</m:t></m:r><m:r><m:rPr><m:nor/></m:rPr><m:t> if 5% of </m:t></m:r><m:r><m:t>y</m:t></m:r>",
		"x\\text{ if 5\\% of }y",
	],
	['<m:r><m:rPr><m:nor m:val="0"/></m:rPr><m:t>ab</m:t></m:r>', "ab"],
	[
		"<m:func><m:fName><m:r><m:rPr><m:nor/></m:rPr><m:t>sin</m:t></m:r></m:fName><m:e><m:r><m:t>x</m:t></m:r></m:e></m:func>",
		"\\sin x",
	],
])("%s", (omml, expected) => {
	expect(latex(omml)).toBe(expected);
});
