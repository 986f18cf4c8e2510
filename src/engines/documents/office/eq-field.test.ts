import { expect, test } from "bun:test";
import { eqFieldText } from "./eq-field.ts";

test.each([
	[' EQ \\* jc2 \\* "Font:MS Mincho" \\* hps10 \\o\\ad(\\s\\up 9(とうきょう),東京)', "東京"],
	["EQ \\o(\\s\\up 9(a;b);東)", "東"],
	[String.raw`EQ \f(1,2)`, "1/2"],
	[String.raw`eq \r(3,x) + \r(,y) + \r(z)`, "3√(x) + √(y) + √(z)"],
	[String.raw`EQ x\s\up4(2)`, "x2"],
	[String.raw`EQ \b\bc\[(\f(a\,b,c))`, "(a,b/c)"],
	[String.raw`EQ \i(0,1,x dx)`, "∫_0^1 x dx"],
	[String.raw`EQ \l(a,b) \x(c)`, "a,b c"],
	[String.raw`EQ \f(1,`, "1/"],
	["EQUATION 1", null],
	[' HYPERLINK "https://example.com/"', null],
	[`EQ ${"(".repeat(5_000)}`, null],
])("%s", (code, text) => {
	expect(eqFieldText(code)).toBe(text);
});
