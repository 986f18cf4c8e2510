import { expect, test } from "bun:test";
import { join } from "node:path";
import { missingLetters } from "./missing-letters.ts";

const roboto = { font: "Roboto", fontfile: join(import.meta.dir, "fonts/Roboto-Regular.ttf") };

test.each([
	["Hello, Ärger & Жизнь, Ελλάδα: 10 € — «naïve» e\u0301", []],
	["a\u0378b\u0379", ["\u0378", "\u0379"]],
	["\u{10fffe}\n x", ["\u{10fffe}"]],
	["□ ■ ▯", expect.not.arrayContaining(["\u0378"])],
	["", []],
])("of %p", async (text, missing) => {
	expect(await missingLetters(text, roboto)).toEqual(missing);
});
