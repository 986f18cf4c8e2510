import { expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import { extractText } from "../extract.ts";

/** The number of the first object among further streams of a page. */
const FIRST_STREAM = 50;

type Line = readonly [x: number, hex: string, y?: number, font?: number];

/** A page whose text is of fonts that are not in the file, each line at its place. */
function page(
	encoding: string | readonly string[],
	ordering: string,
	lines: readonly Line[],
	packed = false,
	streams: readonly string[] = [],
): Buffer {
	const encodings = typeof encoding === "string" ? [encoding] : encoding;
	const content = lines.map(([x, hex, y = 700, font = 0]) => `BT /F${font} 20 Tf 1 0 0 1 ${x} ${y} Tm <${hex}> Tj ET`).join("\n");
	const fontNumber = (index: number) => 5 + 3 * index;
	const objects = [
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		`<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<<${encodings.map((_, index) => `/F${index} ${fontNumber(index)} 0 R`).join("")}>>>>>>`,
		`<</Length ${content.length}>>stream\n${content}\nendstream`,
		...encodings.flatMap((name, index) => [
			`<</Type/Font/Subtype/Type0/BaseFont/Song/Encoding ${/^\d/.test(name) ? name : `/${name}`}/DescendantFonts[${fontNumber(index) + 1} 0 R]>>`,
			`<</Type/Font/Subtype/CIDFontType0/BaseFont/Song/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>/DW 1000/FontDescriptor ${fontNumber(index) + 2} 0 R>>`,
			"<</Type/FontDescriptor/FontName/Song/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 70>>",
		]),
	];
	const numbered = [
		...objects.map((object, index) => [index + 1, object] as const),
		...streams.map((object, index) => [FIRST_STREAM + index, object] as const),
	];
	const own = packed ? numbered.filter(([, object]) => object.includes("stream")) : numbered;
	const body = own.map(([number, object]) => `${number} 0 obj\n${object}\nendobj\n`).join("");
	const streamed = packed ? objectStream(numbered.filter(([, object]) => !object.includes("stream"))) : "";
	return Buffer.from(`%PDF-1.5\n${body}${streamed}trailer<</Size 99/Root 1 0 R>>\n%%EOF`, "latin1");
}

function objectStream(objects: readonly (readonly [number: number, object: string])[]): string {
	let at = 0;
	const places = objects.map(([number, object]) => {
		const place = `${number} ${at}`;
		at += object.length + 1;
		return place;
	});
	const head = `${places.join(" ")} `;
	const content = deflateSync(Buffer.from(head + objects.map(([, object]) => object).join("\n"), "latin1")).toString("latin1");
	return `90 0 obj\n<</Type/ObjStm/N ${objects.length}/First ${head.length}/Filter/FlateDecode/Length ${content.length}>>stream\n${content}\nendstream\nendobj\n`;
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
	expect(text.replaceAll(/\s/g, "")).toBe(lines.join("").replaceAll(" ", ""));
});

test("horizontal text stays as it is, and a page without any is none", async () => {
	expect(await read(page("UniGB-UCS2-H", "GB1", [[100, utf16("横排的文字")]]))).toBe("横排的文字");
	await expect(read(page("UniGB-UCS2-V", "GB1", []))).rejects.toMatchObject({ kind: "empty" });
});

const ACROSS: readonly Line[] = [
	[100, utf16("横書きの題名"), 800, 1],
	[100, utf16("頁の終わりの注"), 60, 1],
];
const MIXED = ["横書きの題名", "縦書きの文書です。一", "吾輩は猫である。二", "頁の終わりの注"] as const;
const down = (lines: readonly string[], y = 700): Line[] => lines.map((text, index) => [500 - index * 30, utf16(text), y]);

test.each([
	["UniJIS-UTF16-V", false],
	["UniJIS-UCS2-V", false],
	["UniJIS-UTF16-V", true],
])(
	"a page with text in %s and lines across gives both once, in their order (objects in a stream: %p)",
	async (encoding, packed) => {
		const lines = [...ACROSS, ...down([MIXED[1], MIXED[2]])];
		const file = page([encoding, encoding.replace(/V$/, "H")], "Japan1", lines, packed);
		expect((await read(file)).split(/\n+/)).toEqual([MIXED[0], `${MIXED[1]}${MIXED[2]}`, MIXED[3]]);
	},
);

test("vertical text by the numbers of its glyphs is read beside lines across", async () => {
	// Adobe-Japan1: 843 is the second Hiragana, あ.
	const glyphs = [843, 844, 845, 846, 847].map((glyph) => glyph.toString(16).padStart(4, "0")).join("");
	const text = await read(page(["Identity-V", "UniJIS-UTF16-H"], "Japan1", [...ACROSS, [500, glyphs]]));
	expect(text.split(/\n+/)).toEqual(["横書きの題名", "あぃいぅう", "頁の終わりの注"]);
});

test("figures in a vertical line stay in it, and what the library reads by itself is not doubled", async () => {
	const lines = [...ACROSS, ...down(["昭和20年の夏でした。", "吾輩は猫である。", "これも20年前です。"])];
	const text = await read(page(["UniJIS-UTF16-V", "UniJIS-UTF16-H"], "Japan1", lines));
	expect(text.split(/\n+/)).toEqual(["横書きの題名", "昭和20年の夏でした。吾輩は猫である。これも20年前です。", "頁の終わりの注"]);
});

test("two rows of vertical lines with a caption between them are read row after row", async () => {
	const lines: Line[] = [
		...down(["上の段の一行目。", "上の段の二行目。"], 800),
		...down(["下の段の一行目。", "下の段の二行目。"], 400),
		[420, utf16("間の見出し"), 500, 1],
	];
	const text = await read(page(["UniJIS-UTF16-V", "UniJIS-UTF16-H"], "Japan1", lines));
	expect(text.split(/\n+/)).toEqual(["上の段の一行目。上の段の二行目。", "間の見出し", "下の段の一行目。下の段の二行目。"]);
});

test("a paragraph of full lines is one text without spaces, down and across", async () => {
	const lines = [
		"吾輩は猫である。名前はまだ無い。どこで生れた",
		"かとんと見当がつかぬ。何でも薄暗いじめじめし",
		"た所で泣いていた。",
	];
	const vertical = await read(page("UniJIS-UTF16-V", "Japan1", down(lines)));
	expect(vertical).toBe(lines.join(""));
	const across = lines.map((text, index): Line => [60, utf16(text), 700 - index * 21]);
	expect(await read(page("UniJIS-UTF16-H", "Japan1", across))).toBe(lines.join(""));
});

const cmap = (inner: string) => `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
%%Comment: as writers put them
/CIDSystemInfo 3 dict dup begin /Registry (Adobe) def /Ordering (Japan1) def /Supplement 2 def end def
/CMapName /Own-V def /CMapType 1 def
${inner}
endcmap CMapName currentdict /CMap defineresource pop end end`;

test.each([
	[
		"says so itself",
		"/WMode 1 def\n1 begincodespacerange <0000> <ffff> endcodespacerange 1 begincidrange <0000> <ffff> 0 endcidrange",
	],
	["builds on a predefined one for vertical writing", "/UniJIS-UTF16-V usecmap\n/WMode 1 def"],
])("vertical text by a CMap in the file, which %s, is read beside lines across, packed or not", async (_name, inner) => {
	const lines = [MIXED[1], MIXED[2]];
	const letters = [...new Set(lines.join(""))];
	const code = (letter: string) =>
		inner.includes("usecmap") ? utf16(letter) : letters.indexOf(letter).toString(16).padStart(4, "0");
	const written = lines.map((text, index): Line => [500 - index * 30, [...text].map(code).join("")]);
	const names = letters.map((letter) => `<${code(letter)}> <${utf16(letter)}>`).join("\n");
	const toUnicode = `begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange ${letters.length} beginbfchar\n${names}\nendbfchar endcmap`;
	for (const isPacked of [false, true]) {
		const map = isPacked ? deflateSync(Buffer.from(cmap(inner), "latin1")).toString("latin1") : cmap(inner);
		const filter = isPacked ? "/Filter/FlateDecode" : "";
		const streams = [
			`<</Type/CMap/CMapName/Own-V/WMode 1${filter}/Length ${map.length}>>stream\n${map}\nendstream`,
			`<</Length ${toUnicode.length}>>stream\n${toUnicode}\nendstream`,
		];
		const encodings = [`${FIRST_STREAM} 0 R/ToUnicode ${FIRST_STREAM + 1} 0 R`, "UniJIS-UTF16-H"];
		const text = await read(page(encodings, "Japan1", [...ACROSS, ...written], false, streams));
		expect(text.split(/\n+/)).toEqual([MIXED[0], lines.join(""), MIXED[3]]);
	}
});
