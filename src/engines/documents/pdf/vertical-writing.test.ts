import { expect, test } from "bun:test";
import { extractText } from "../extract.ts";

/** A page whose text is of a font that is not in the file, each line at its place. */
function page(encoding: string, ordering: string, lines: readonly (readonly [x: number, hex: string])[]): Buffer {
	const content = lines.map(([x, hex]) => `BT /F1 20 Tf 1 0 0 1 ${x} 700 Tm <${hex}> Tj ET`).join("\n");
	const objects = [
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		`<</Length ${content.length}>>stream\n${content}\nendstream`,
		`<</Type/Font/Subtype/Type0/BaseFont/Song/Encoding/${encoding}/DescendantFonts[6 0 R]>>`,
		`<</Type/Font/Subtype/CIDFontType0/BaseFont/Song/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>/DW 1000/FontDescriptor 7 0 R>>`,
		"<</Type/FontDescriptor/FontName/Song/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 70>>",
	];
	const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join("");
	return Buffer.from(`%PDF-1.4\n${body}trailer<</Size 8/Root 1 0 R>>\n%%EOF`, "latin1");
}
const utf16 = (text: string) => Buffer.from(text, "utf16le").swap16().toString("hex");
const read = (bytes: Buffer) => extractText(bytes, "file.pdf", { readScan: null });

test.each([
	["UniGB-UCS2-V", "GB1", ["竖排的文字。第一行", "我是一只猫。第二行", "名字还没有。第三行"]],
	["UniGB-UTF16-V", "GB1", ["竖排的文字。第一行", "我是一只猫。第二行"]],
	["UniCNS-UCS2-V", "CNS1", ["直排的文字", "第二行"]],
	["UniKS-UCS2-V", "Korea1", ["세로쓰기 문서", "둘째 줄"]],
	["UniJIS-UCS2-V", "Japan1", ["縦書きの文書です。一", "吾輩は猫である。二", "名前はまだ無い。三"]],
	["UniJIS-UTF16-V", "Japan1", ["縦書きの文書です。"]],
])("vertical text in %s of a font that is nowhere is read, line after line from the right", async (encoding, ordering, lines) => {
	const text = await read(
		page(
			encoding,
			ordering,
			lines.map((line, index) => [500 - index * 30, utf16(line)]),
		),
	);
	expect(text.split(/\n+/)).toEqual(lines);
});

test("horizontal text stays as it is, and a page without any is none", async () => {
	expect(await read(page("UniGB-UCS2-H", "GB1", [[100, utf16("横排的文字")]]))).toBe("横排的文字");
	await expect(read(page("UniGB-UCS2-V", "GB1", []))).rejects.toMatchObject({ kind: "empty" });
});
