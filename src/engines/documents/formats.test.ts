import { expect, test } from "bun:test";
import { zipFile } from "../../../test/support/zip-file.ts";
import { extractText } from "./extract.ts";

const read = (content: string | Uint8Array, name = "file") =>
	extractText(typeof content === "string" ? new TextEncoder().encode(content) : content, name, { readScan: null });

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const relations = (list: readonly (readonly [id: string, type: string, target: string, external?: boolean])[]) =>
	`<Relationships>${list.map(([id, type, target, external]) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${external ? ' TargetMode="External"' : ""}/>`).join("")}</Relationships>`;

function docx(body: string, parts: Readonly<Record<string, string>> = {}, own: Parameters<typeof relations>[0] = []): Uint8Array {
	return zipFile({
		"_rels/.rels": relations([["r1", "officeDocument", "word/document.xml"]]),
		"word/_rels/document.xml.rels": relations(own),
		"word/document.xml": `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
		...parts,
	});
}
const p = (inner: string, properties = "") => `<w:p>${properties === "" ? "" : `<w:pPr>${properties}</w:pPr>`}${inner}</w:p>`;
const t = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;

test("DOCX: headings by style, nested lists with their numbers, changes, links, comments, spans", async () => {
	const list = (level: number, id = 1) => `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${id}"/></w:numPr>`;
	const body = [
		p(t("Report"), '<w:pStyle w:val="Title1"/>'),
		p(t("Part"), '<w:pStyle w:val="Sub"/>'),
		p(t("one"), list(0)),
		p(t("inner"), list(1)),
		p(t("two"), list(0)),
		p(t("dot"), list(0, 2)),
		p(`${t("kept")}<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins>${t(" and new")}</w:ins>`),
		p(`<w:hyperlink r:id="rL">${t("a site")}</w:hyperlink>${t(" &amp; more")}<w:r><w:commentReference w:id="7"/></w:r>`),
		`<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>${p(t("wide"))}</w:tc></w:tr><w:tr><w:tc>${p(t("a|b"))}</w:tc><w:tc>${p(t("l1"))}${p(t("l2"))}</w:tc></w:tr></w:tbl>`,
	].join("");
	const text = await read(
		docx(
			body,
			{
				"word/styles.xml":
					'<w:styles><w:style w:styleId="Title1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Mid"><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style><w:style w:styleId="Sub"><w:basedOn w:val="Mid"/></w:style></w:styles>',
				"word/numbering.xml":
					'<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>',
				"word/comments.xml": `<w:comments><w:comment w:id="7" w:author="Ann">${p(t("Is it so?"))}</w:comment></w:comments>`,
			},
			[
				["rS", "styles", "styles.xml"],
				["rN", "numbering", "numbering.xml"],
				["rC", "comments", "comments.xml"],
				["rL", "hyperlink", "https://example.com/", true],
			],
		),
	);
	expect(text).toBe(
		[
			"# Report",
			"## Part",
			"1. one\n  1. inner\n2. two\n- dot",
			"kept and new",
			"[a site](https://example.com/) & more",
			"> Comment by Ann: Is it so?",
			"| wide |  |\n| --- | --- |\n| a\\|b | l1<br>l2 |",
		].join("\n\n"),
	);
});

test("a document that nests without end, or whose part inflates to more than it declares, is refused", async () => {
	await expect(read(docx(`${"<w:sdt>".repeat(400)}${"</w:sdt>".repeat(400)}`))).rejects.toMatchObject({ kind: "too-large" });
	const honest = Buffer.from(docx(p(t("x".repeat(10_000)))));
	const size = Buffer.alloc(4);
	size.writeUInt32LE(`<w:document xmlns:w="w"><w:body>${p(t("x".repeat(10_000)))}</w:body></w:document>`.length);
	let lying = honest.toString("latin1");
	lying = lying.replaceAll(size.toString("latin1"), "\x10\0\0\0");
	await expect(read(new Uint8Array(Buffer.from(lying, "latin1")))).rejects.toMatchObject({ kind: "too-large" });
});

test("a part whose content is not what its checksum says is damaged", async () => {
	const bytes = Buffer.from(docx(p(t("words"))));
	const content = Buffer.from(`<w:document xmlns:w="w"><w:body>${p(t("words"))}</w:body></w:document>`);
	const checksum = Buffer.alloc(4);
	checksum.writeUInt32LE(Bun.hash.crc32(content));
	expect(await read(bytes)).toBe("words");
	bytes.writeUInt32LE(1, bytes.lastIndexOf(checksum));
	await expect(read(bytes)).rejects.toMatchObject({ kind: "corrupt", message: expect.stringContaining("word/document.xml") });
});

test("entities of a document type are not expanded", async () => {
	const bomb = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
	const bytes = zipFile({
		"_rels/.rels": relations([["r1", "officeDocument", "word/document.xml"]]),
		"word/document.xml": `${bomb}<w:document><w:body>${p(t("safe &b;"))}</w:body></w:document>`,
	});
	expect(await read(bytes)).toBe("safe &b;");
});

test("XLSX: sheets in order with their names, dates from either epoch, shared and inline texts, comments", async () => {
	const sheet = (cells: string) => `<worksheet><sheetData>${cells}</sheetData></worksheet>`;
	const book = (epoch: string) =>
		zipFile({
			"_rels/.rels": relations([["r1", "officeDocument", "xl/workbook.xml"]]),
			"xl/_rels/workbook.xml.rels": relations([
				["rA", "worksheet", "worksheets/b.xml"],
				["rB", "worksheet", "worksheets/a.xml"],
				["rS", "styles", "styles.xml"],
				["rT", "sharedStrings", "strings.xml"],
			]),
			"xl/workbook.xml": `<workbook><workbookPr date1904="${epoch}"/><sheets><sheet name="First" sheetId="1" r:id="rA"/><sheet name="Second &amp; last" sheetId="2" state="hidden" r:id="rB"/></sheets></workbook>`,
			"xl/styles.xml":
				'<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/><numFmt numFmtId="165" formatCode="#,##0.00\\ &quot;EUR&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="10"/></cellXfs></styleSheet>',
			"xl/strings.xml": "<sst><si><t>Name</t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>reading</t></rPh></si></sst>",
			"xl/worksheets/_rels/b.xml.rels": relations([["rC", "comments", "../comments1.xml"]]),
			"xl/comments1.xml":
				'<comments><authors><author>Ann</author></authors><commentList><comment ref="B2" authorId="0"><text><t>check</t></text></comment></commentList></comments>',
			"xl/worksheets/b.xml": sheet(
				'<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>in line</t></is></c></row><row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" s="1"><v>45000</v></c><c r="C2" s="2"><v>1234.5</v></c><c r="D2" s="3"><v>0.125</v></c><c r="E2" t="b"><v>1</v></c><c r="F2"><v>0.30000000000000004</v></c></row>',
			),
			"xl/worksheets/a.xml": sheet('<row r="1048576"><c r="XFD1048576"><v>7</v></c></row>'),
		});
	const text = await read(book("0"));
	expect(text).toStartWith("## First\n\n| Name |  | in line |  |  |  |\n");
	expect(text).toContain("| rich text | 2023-03-15 | 1,234.50 EUR | 12.50% | TRUE | 0.3 |");
	expect(text).toContain("> Comment on B2 by Ann: check");
	expect(text.indexOf("## Second & last (hidden)")).toBeGreaterThan(text.indexOf("rich text"));
	expect(await read(book("1"))).toContain("2027-03-16");
});

test("XLSX: a text that many cells show is refused where it comes to more than a file's text", async () => {
	const book = (cells: number) =>
		zipFile({
			"_rels/.rels": relations([["r1", "officeDocument", "xl/workbook.xml"]]),
			"xl/_rels/workbook.xml.rels": relations([
				["rA", "worksheet", "worksheets/a.xml"],
				["rT", "sharedStrings", "strings.xml"],
			]),
			"xl/workbook.xml": '<workbook><sheets><sheet name="First" sheetId="1" r:id="rA"/></sheets></workbook>',
			"xl/strings.xml": `<sst><si><t>${"x".repeat(1_000_000)}</t></si></sst>`,
			"xl/worksheets/a.xml": `<worksheet><sheetData><row>${'<c t="s"><v>0</v></c>'.repeat(cells)}</row></sheetData></worksheet>`,
		});
	expect((await read(book(3))).length).toBeGreaterThan(3_000_000);
	await expect(read(book(20_000))).rejects.toMatchObject({ kind: "too-large" });
});

test("PPTX: slides in the order of the presentation, titles, notes without slide numbers, hidden ones named", async () => {
	const shape = (type: string, text: string) =>
		`<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
	const slide = (attributes: string, shapes: string) =>
		`<p:sld${attributes}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
	const text = await read(
		zipFile({
			"_rels/.rels": relations([["r1", "officeDocument", "ppt/presentation.xml"]]),
			"ppt/presentation.xml":
				'<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rB"/><p:sldId id="257" r:id="rA"/></p:sldIdLst></p:presentation>',
			"ppt/_rels/presentation.xml.rels": relations([
				["rA", "slide", "slides/slide1.xml"],
				["rB", "slide", "slides/slide2.xml"],
			]),
			"ppt/slides/slide1.xml": slide(' show="0"', shape("body", "later")),
			"ppt/slides/slide2.xml": slide(
				"",
				`${shape("sldNum", "2")}<p:grpSp>${shape("body", "point")}</p:grpSp>${shape("title", "Plan")}`,
			),
			"ppt/slides/_rels/slide2.xml.rels": relations([
				["rN", "notesSlide", "../notes/n.xml"],
				["rL", "slideLayout", "../layouts/l.xml"],
			]),
			"ppt/layouts/l.xml": slide("", shape("title", "Click to edit")),
			"ppt/layouts/_rels/l.xml.rels": relations([["rM", "slideMaster", "../masters/m.xml"]]),
			"ppt/masters/m.xml": slide(
				"",
				`${shape("ftr", "Foot of the master")}${shape("ftr", "&lt;footer&gt;")}${shape("dt", "today")}`,
			),
			"ppt/notes/n.xml": slide("", `${shape("body", "say this")}${shape("sldNum", "2")}`),
		}),
	);
	expect(text).toBe("## Slide 1: Plan\n\n- point\n\n> Notes: say this\n\n## Slide 2 (hidden)\n\n- later\n\nFoot of the master");
});

test("ODT: headings, lists, notes, comments, boxes, repeated cells, headers and footers", async () => {
	const text = await read(
		zipFile({
			mimetype: "application/vnd.oasis.opendocument.text",
			"META-INF/manifest.xml": "<manifest/>",
			"styles.xml":
				"<s><master-styles><style:master-page><style:header><text:p>Top</text:p></style:header><style:footer><text:p>Foot</text:p></style:footer></style:master-page></master-styles></s>",
			"content.xml": `<o><automatic-styles><text:list-style style:name="L"><text:list-level-style-number text:level="1"/></text:list-style></automatic-styles><office:body><office:text>
<text:h text:outline-level="2">Head</text:h>
<text:p>a<text:s text:c="2"/>b<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p></text:note-body></text:note> <text:a xlink:href="https://example.com/">site</text:a><office:annotation><dc:creator>Ann</dc:creator><text:p>hm</text:p></office:annotation><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>
<text:list text:style-name="L"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>in</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row><table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row></table:table>
</office:text></office:body></o>`,
		}),
	);
	expect(text).toBe(
		"Top\n\n## Head\n\na  b[^1] [site](https://example.com/)\n\n[^1]: the note\n\n> Comment by Ann: hm\n\nboxed\n\n1. one\n  - in\n2. two\n\n| x | x |\n| --- | --- |\n\nFoot",
	);
});

test("ODS: sheets with the values that they show; cells repeated without end are refused", async () => {
	const sheet = (cells: string) =>
		zipFile({
			mimetype: "application/vnd.oasis.opendocument.spreadsheet",
			"META-INF/manifest.xml": "<manifest/>",
			"content.xml": `<o><office:body><office:spreadsheet><table:table table:name="Sales"><table:table-row>${cells}</table:table-row></table:table></office:spreadsheet></office:body></o>`,
		});
	const cell = '<table:table-cell office:value="0.5" table:number-columns-repeated="N"><text:p>50%</text:p></table:table-cell>';
	expect(await read(sheet(cell.replace("N", "1")))).toBe("## Sales\n\n| 50% |\n| --- |");
	await expect(read(sheet(cell.replace("N", "1000000000")))).rejects.toMatchObject({ kind: "too-large" });
});

test("EPUB: title, author, chapters in reading order; a licence is named", async () => {
	const book = (more: Readonly<Record<string, string>>) =>
		zipFile({
			mimetype: "application/epub+zip",
			"META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></container>',
			"OEBPS/b.opf":
				'<package><metadata><dc:title>Book</dc:title><dc:creator>Ann Lee</dc:creator></metadata><manifest><item id="a" href="a%20b.xhtml"/><item id="z" href="z.xhtml"/></manifest><spine><itemref idref="z"/><itemref idref="a"/></spine></package>',
			"OEBPS/a b.xhtml": "<html><body><h2>Second</h2></body></html>",
			"OEBPS/z.xhtml": "<html><body><h2>First</h2><p>once</p></body></html>",
			...more,
		});
	expect(await read(book({}))).toBe("# Book\n\nAnn Lee\n\n## First\n\nonce\n\n## Second");
	const licence =
		'<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></EncryptedData></encryption>';
	await expect(read(book({ "META-INF/encryption.xml": licence }))).rejects.toMatchObject({ kind: "encrypted" });
});

test("EML: fields, text, and attachments under their names", async () => {
	const mail = [
		"From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>",
		"To: ann@example.com",
		"Subject: Figures",
		"Date: Tue, 03 Mar 2026 10:00:00 +0000",
		"MIME-Version: 1.0",
		'Content-Type: multipart/mixed; boundary="b"',
		"",
		"--b",
		"Content-Type: text/plain; charset=iso-8859-1",
		"Content-Transfer-Encoding: quoted-printable",
		"",
		"Gr=FC=DFe",
		"--b",
		'Content-Type: application/octet-stream; name="a.rtf"',
		'Content-Disposition: attachment; filename="a.rtf"',
		"Content-Transfer-Encoding: base64",
		"",
		Buffer.from("{\\rtf1 inside}").toString("base64"),
		"--b",
		'Content-Disposition: attachment; filename="b.docx"',
		"Content-Transfer-Encoding: base64",
		"",
		Buffer.from("PK\x03\x04 broken").toString("base64"),
		"--b--",
		"",
	].join("\r\n");
	const text = await read(mail, "mail.eml");
	expect(text).toStartWith("# Figures\n\nFrom: Jürgen <j@example.com>\nTo: ann@example.com\nDate: ");
	expect(text).toContain(
		"\n\nGrüße\n\n## Attachment: a.rtf\n\ninside\n\n## Attachment: b.docx\n\n(The file is cut off or damaged",
	);
});

test("HTML: what a reader sees, with its structure, in the encoding that the page names", async () => {
	const page = `<!doctype html><html><head><meta charset="windows-1251"><title>T</title><style>x{}</style></head><body><nav hidden>no</nav><h1>Head</h1><p>a <a href="/rel">rel</a> <a href="https://example.com/">abs</a><br>next<script>bad()</script></p><ul><li>one<ol><li>in</li></ol></li><li>two</li></ul><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><pre>  x = 1\n</pre></body></html>`;
	expect(await read(page)).toBe(
		"# T\n\n# Head\n\na rel [abs](https://example.com/)\nnext\n\n- one\n  1. in\n- two\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\n```\n  x = 1\n```",
	);
	const russian = new Uint8Array([
		...Buffer.from('<html><head><meta charset="windows-1251"></head><body>'),
		0xcf,
		0xf0,
		0xe8,
		0xe2,
		0xe5,
		0xf2,
		...Buffer.from("</body></html>"),
	]);
	expect(await read(russian)).toBe("Привет");
	expect(await read(`<html><body>${"<div>".repeat(20_000)}deep`)).toBe("deep");
});

test("RTF: code pages of fonts, Unicode with its fallback, cells, notes, comments, what is hidden", async () => {
	const rtf = String.raw`{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset128 B;}{\f2\fcharset204 C;}}{\stylesheet{\s1 heading 1;}}{\info{\title no}}
{\header Top\par}\pard\s1 Head\par\pard Gr\'fc\'dfe {\f1\'93\'8c\'8b\'9e} {\f2\'cf\'f0} \u8364? {\v hidden}{\*\unknown no}\par
x{\footnote\pard the note\par}\par\trowd\pard\intbl a\cell b\cell\row\pard{\*\atnauthor Ann}{\*\annotation hm}end{\*\bkmkstart no}\par}`;
	expect(await read(rtf)).toBe(
		"Top\n\n# Head\n\nGrüße 東京 Пр € \n\nx[^1]\n\n[^1]: the note\n\n| a | b |\n| --- | --- |\n\nend\n\n> Comment by Ann: hm".replace(
			"€ \n",
			"€\n",
		),
	);
	await expect(read("{\\rtf1 cut off")).rejects.toMatchObject({ kind: "corrupt" });
	await expect(read(`{\\rtf1 ${"{".repeat(5_000)}`)).rejects.toMatchObject({ kind: "too-large" });
});

test.each([
	["code page 437", String.raw`{\rtf1\pc Stra\'e1e \'c4\'c4\'b3 \'9b}`, "Straße ──│ ¢"],
	["code page 850", String.raw`{\rtf1\pca Stra\'e1e \'b8 \'9b}`, "Straße © ø"],
	["the Macintosh", String.raw`{\rtf1\mac Gr\'9f\'a7e \'d2a\'d3}`, "Grüße “a”"],
	["the code page that it names beside another set", String.raw`{\rtf1\pc\ansicpg1251 \'cf\'f0}`, "Пр"],
	["the code page that it names before another set", String.raw`{\rtf1\ansicpg1251\mac \'cf\'f0}`, "Пр"],
	["its set where the named page is none", String.raw`{\rtf1\pc\ansicpg0 \'81}`, "ü"],
	["code page 852", String.raw`{\rtf1\ansi\ansicpg852 \'9fe\'a7\'a9}`, "čežę"],
	["the Macintosh of Central Europe", String.raw`{\rtf1\ansi\ansicpg10029 \'8b}`, "č"],
	["a font of code page 437", String.raw`{\rtf1\ansi{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset254 B;}}\f1 \'e1\f0 \'e1}`, "ßá"],
	["Windows where it names no page", String.raw`{\rtf1\ansi Gr\'fc\'dfe}`, "Grüße"],
])("RTF is read in %s", async (_, rtf, text) => {
	expect(await read(rtf)).toBe(text);
});

test("RTF: bytes above ASCII that are written as they are count like those that are escaped", async () => {
	expect(await read(Buffer.from("{\\rtf1\\pc Stra\xe1e}", "latin1"))).toBe("Straße");
});

test("text stays as it is: code, CSV, JSON, XML, Markdown", async () => {
	for (const text of ["const a = 1 < 2;\n", "a,b\n1,2\n", '{"a": [1, 2]}', "<?xml version='1.0'?><a>b</a>", "# T\n\n* x"])
		expect(await read(text)).toBe(text);
	expect(await read("a\r\nb\rc\ufeff")).toBe("a\nb\nc");
});

const ENCODED: readonly (readonly [encoding: string, hex: string, text: string])[] = [
	["UTF-16 without a mark", Buffer.from("Plain words in two bytes", "utf16le").toString("hex"), "Plain words in two bytes"],
	["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0, 0x00, 0xf6, 1, 0]).toString("hex"), "A😀"],
	[
		"Shift-JIS",
		"82b182ea82cd93fa967b8cea82cc95b68f9182c582b781428e6c94bc8afa82cc94848fe382cd919d89c182b582dc82b582bd8142",
		"これは日本語の文書です。四半期の売上は増加しました。",
	],
	["Shift-JIS without kana", "96bc914f2c944e97ee0a8e5293632c33300a", "名前,年齢\n山田,30\n"],
	["EUC-JP, names without kana", "ccbec1b02cc7afcef00abbb3c5c42c33300a", "名前,年齢\n山田,30\n"],
	["EUC-JP, a list of cities", "c5ecb5fe0ac2e7bae50ab5fec5d40a", "東京\n大阪\n京都\n"],
	["EUC-JP, katakana alone", "a5eaa5f3a5b40aa5d0a5caa5ca0aa5d1a5a4a5caa5c3a5d7a5eb0a", "リンゴ\nバナナ\nパイナップル\n"],
	["EUC-JP, numbered prefectures", "312ccbccb3a4c6bb0a322cc0c4bfb9b8a90a332cb4e4bceab8a90a", "1,北海道\n2,青森県\n3,岩手県\n"],
	[
		"EUC-JP, names with spaces",
		"bab4c6a320b7f20aceebccda20b0eccfba0ab9e2b6b620bfbf0ac5c4c3e620bcc20a",
		"佐藤 健\n鈴木 一郎\n高橋 真\n田中 実\n",
	],
	["Shift-JIS, a short list with kana", "8fa4956996bc2c89bf8a690a82e882f182b22c3130300a", "商品名,価格\nりんご,100\n"],
	["Shift-JIS, katakana alone", "838a839383530a836f836983690a", "リンゴ\nバナナ\n"],
	[
		"code page 949, syllables beyond KS X 1001",
		"8c63b9e6b0a2c7cf0aaa42c2f7b8a620c5b8b0ed20bfc220bc84bdc3b8c7b0fa209cbab4d9b8ae208c63b9e6b0a2c7cf0a",
		"똠방각하\n찦차를 타고 온 펲시맨과 쑛다리 똠방각하\n",
	],
	[
		"code page 949, misspelt words",
		"81a420b3aab4c220c8abb1e6b5bfc0ccb4d92e20b9dcbfa120b0a3b4d90a",
		"겇 나는 홍길동이다. 밗에 간다\n",
	],
	["code page 949, a greeting", "bec8b3e7c7cfbcbcbfe42094ee94ee0a", "안녕하세요 뷁뷁\n"],
	["GB18030, a list of fruit", "c6bbb9fb0acfe3bdb60a", "苹果\n香蕉\n"],
	["GB18030, traditional characters", "be8ecc962cd0d5c3fb0a312cea90b4f3cec42cc55fb1b1cad00a", "編號,姓名\n1,陳大文,臺北市\n"],
	[
		"HZ-GB-2312",
		Buffer.from("~{<:Ky2;S{#,NpJ)SZHK!#~}\n~{UbJG~} HZ~~ ~{5DND<~!#~}\n~\n").toString("hex"),
		"己所不欲，勿施于人。\n这是 HZ~ 的文件。\n",
	],
	["ASCII with signs of HZ that hold no words", Buffer.from("a~{bcd}~}").toString("hex"), "a~{bcd}~}"],
	["ASCII with a tilde beside signs of HZ", Buffer.from("~{Dc:C~} ~home").toString("hex"), "~{Dc:C~} ~home"],
	["UTF-32 without a mark", Buffer.from([0x41, 0, 0, 0, 0x00, 0xf6, 1, 0]).toString("hex"), "A😀"],
	["UTF-32 without a mark, the other way round", Buffer.from([0, 0, 0, 0x41, 0, 1, 0xf6, 0]).toString("hex"), "A😀"],
	["windows-1252 with signs", Buffer.from("Prix : 5 \u20ac".replace("\u20ac", "\x80"), "latin1").toString("hex"), "Prix : 5 €"],
	["windows-1252 with apostrophes alone", Buffer.from("it\x92s a dog\x92s life", "latin1").toString("hex"), "it’s a dog’s life"],
	["windows-1252 with bullets alone", Buffer.from("\x95item\n\x95other\n", "latin1").toString("hex"), "•item\n•other\n"],
	["ISO-2022-JP", "1b2442467c4b5c386c1b2842", "日本語"],
	[
		"ISO 8859-2",
		"5a61bff3b3e62067eab66cb1206a61bcf12c2077b1bf207065b37a61b320706f20b3b16365",
		"Zażółć gęślą jaźń, wąż pełzał po łące",
	],
	[
		"windows-1250",
		"50f8ed6c699a209e6c759d6f75e86bfd206bf9f220fa70ec6c20efe162656c736be920f36479",
		"Příliš žluťoučký kůň úpěl ďábelské ódy",
	],
	[
		"windows-1253",
		"cae1ebe7ecddf1e120eafcf3ece52c20e1f5f4fc20e5dfede1e920ddede120eae5dfece5edef",
		"Καλημέρα κόσμε, αυτό είναι ένα κείμενο",
	],
	["windows-1255", "f9ece5ed20f2e5eced2c20e6e420e8f7f1e820e1f2e1f8e9fa", "שלום עולם, זה טקסט בעברית"],
	[
		"windows-1256",
		"e3d1cdc8c720c8c7e1dac7e1e320e5d0c720e4d520c8c7e1e1dbc920c7e1dad1c8edc9",
		"مرحبا بالعالم هذا نص باللغة العربية",
	],
	["TIS-620", "cac7d1cab4d5a4c3d1ba20b9d5e8a4d7cda2e9cda4c7d2c1c0d2c9d2e4b7c2", "สวัสดีครับ นี่คือข้อความภาษาไทย"],
	[
		"IBM 866",
		"8fe0a8a2a5e22c20aca8e021209de2ae20e2a5aae1e220a220aaaea4a8e0aea2aaa520848e912e",
		"Привет, мир! Это текст в кодировке ДОС.",
	],
	[
		"UTF-16 in Cyrillic, without a mark",
		"1f04400438043204350442042c0020003c043804400421000a003804200035044904510420004104420440043e043a0430040a00",
		"Привет, мир!\nи ещё строка\n",
	],
	[
		"UTF-16 in Japanese, without a mark",
		"53308c306f30e5652c679e8a6e30c630ad30b930c8306730593002300a007167ac4e0a00",
		"これは日本語のテキストです。\n東京\n",
	],
	[
		"UTF-16 in Chinese, without a mark, the other way round",
		"8fd9662f4e2d65876587672cff0c6ca1670968078bb03002000a7b2c4e8c884c000a",
		"这是中文文本，没有标记。\n第二行\n",
	],
	["UTF-16 in Korean, without a mark", "c548b155d558c138c6940020c5ecb7ecbd84000a", "안녕하세요 여러분\n"],
	["EUC-KR", "c0ccb8a72cb5b5bdc30ab1e8c3b6bcf62cbcadbfefc6afbab0bdc30a", "이름,도시\n김철수,서울특별시\n"],
	["Big5", "a96da6572cabb0a5ab0ab3afa46aa4e52cbb4fa55fa5abab48b871b0cf0a", "姓名,城市\n陳大文,臺北市信義區\n"],
	["GB18030", "d0d5c3fb2cb3c7cad00ad5c5ceb02cb1b1bea9cad00acdf5b7bc2cc9cfbaa3cad00a", "姓名,城市\n张伟,北京市\n王芳,上海市\n"],
	[
		"windows-1251",
		Buffer.from(
			Array.from("Квартальный отчёт показывает рост выручки, позвоните в офис.", (letter) => cyrillic(letter)),
		).toString("hex"),
		"Квартальный отчёт показывает рост выручки, позвоните в офис.",
	],
];

/** A letter's byte in windows-1251. */
function cyrillic(letter: string): number {
	const code = letter.charCodeAt(0);
	return letter === "ё" ? 0xb8 : code < 128 ? code : code - 0x350;
}

test.each(ENCODED)("text in %s is told by its bytes", async (_, hex, text) => {
	expect(await read(new Uint8Array(Buffer.from(hex, "hex")))).toBe(text);
});

test("names of parts compare without case and with either slash; a declared part that is not there is an error", async () => {
	const odd = zipFile({
		"_RELS/.rels": relations([["r1", "officeDocument", "Word\\Document.XML"]]),
		"WORD/document.xml": `<w:document xmlns:w="w"><w:body>${p(t("found"))}</w:body></w:document>`,
	});
	expect(await read(odd)).toBe("found");
	const workbook = (sheet: string) =>
		zipFile({
			"_rels/.rels": relations([["r1", "officeDocument", "xl/workbook.xml"]]),
			"xl/_rels/workbook.xml.rels": relations([
				["rA", "worksheet", "worksheets/sheet1.xml"],
				["rS", "sharedStrings", "sharedStrings.xml"],
			]),
			"xl/workbook.xml": '<workbook xmlns:r="r"><sheets><sheet name="A" r:id="rA"/></sheets></workbook>',
			"xl/sharedStrings.xml": "<sst><si><t>one_x000D_two _x005F_x0041_</t></si></sst>",
			[sheet]:
				'<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>a_x0009_b</t></is></c></row></sheetData></worksheet>',
		});
	expect(await read(workbook("xl/Worksheets/SHEET1.xml"))).toBe("## A\n\n| one two _x0041_ | a b |\n| --- | --- |");
	await expect(read(workbook("xl/other.xml"))).rejects.toMatchObject({
		kind: "corrupt",
		message: expect.stringContaining("lacks its part xl/worksheets/sheet1.xml"),
	});
});

test.each([
	["with a slash before each name", (name: string) => `/${name}`, "word/document.xml"],
	["with a dot and a slash", (name: string) => `./${name}`, "word/document.xml"],
	["escaped in the relation alone", (name: string) => name.replace("document", "my doc"), "word/my%20doc.xml"],
	["escaped in the package alone", (name: string) => name.replace("document", "my%20doc"), "word/my doc.xml"],
	["with letters beyond ASCII", (name: string) => name.replace("document", "d\u00f6k"), "word/d%C3%B6k.xml"],
])("parts are found %s", async (_, stored, target) => {
	const file = zipFile({
		[stored("_rels/.rels")]: relations([["r1", "officeDocument", target]]),
		[stored("word/document.xml")]: `<w:document xmlns:w="w"><w:body>${p(t("found"))}</w:body></w:document>`,
	});
	expect(await read(file)).toBe("found");
});

test("a workbook or a document that lacks a part with some of its text is an error, and so is an empty part", async () => {
	const workbook = (parts: Readonly<Record<string, string>>, id = "rA") =>
		zipFile({
			"_rels/.rels": relations([["r1", "officeDocument", "xl/workbook.xml"]]),
			"xl/_rels/workbook.xml.rels": relations([
				["rA", "worksheet", "a.xml"],
				["rS", "sharedStrings", "strings.xml"],
			]),
			"xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="A" r:id="${id}"/></sheets></workbook>`,
			...parts,
		});
	const sheet = '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row></sheetData></worksheet>';
	const strings = "<sst><si><t>word</t></si></sst>";
	expect(await read(workbook({ "xl/a.xml": sheet, "xl/strings.xml": strings }))).toStartWith("## A");
	const broken = [
		workbook({ "xl/a.xml": sheet }),
		workbook({ "xl/a.xml": "", "xl/strings.xml": strings }),
		workbook({ "xl/a.xml": sheet, "xl/strings.xml": strings }, "rZ"),
		...["header", "footer", "footnotes", "endnotes", "comments"].map((type) =>
			docx(p(t("body")), {}, [["rX", type, `${type}9.xml`]]),
		),
	];
	for (const file of broken)
		await expect(read(file)).rejects.toMatchObject({ kind: "corrupt", message: expect.stringContaining("lacks its part") });
});

test("documents within a Word document are read: pages, RTF, texts, other documents of Word", async () => {
	const inner = docx(p(t("inner document")));
	const chunk = (id: string) => `<w:altChunk xmlns:r="r" r:id="${id}"/>`;
	const outer = zipFile({
		"_rels/.rels": relations([["r1", "officeDocument", "word/document.xml"]]),
		"word/_rels/document.xml.rels": relations([
			["rH", "aFChunk", "page.html"],
			["rR", "aFChunk", "old.rtf"],
			["rT", "aFChunk", "note.txt"],
			["rD", "aFChunk", "inner.docx"],
			["rM", "aFChunk", "page.mht"],
			["rX", "aFChunk", "never/asked/for.html"],
		]),
		"word/document.xml": `<w:document xmlns:w="w"><w:body>${p(t("before"))}${["rH", "rR", "rT", "rD", "rM"].map(chunk).join("")}</w:body></w:document>`,
		"word/page.html": "<html><body><h1>A page</h1><p>with text</p></body></html>",
		"word/old.rtf": "{\\rtf1 old words}",
		"word/note.txt": "plain words",
		"word/inner.docx": inner,
		"word/page.mht": [
			"MIME-Version: 1.0",
			'Content-Type: multipart/related; type="text/html"; boundary="--b"',
			"",
			"----b",
			'Content-Type: text/html; charset="utf-8"',
			"Content-Transfer-Encoding: quoted-printable",
			"Content-Location: file:///C:/page.htm",
			"",
			'<html><body><h2>Archived</h2><p>gr=C3=BC=C3=9Fe</p><img src=3D"a.png"></body></html>',
			"----b",
			"Content-Type: image/png",
			"Content-Transfer-Encoding: base64",
			"Content-Location: file:///C:/a.png",
			"",
			"aGVsbG8=",
			"----b--",
			"",
		].join("\r\n"),
	});
	expect(await read(outer)).toBe(
		"before\n\n# A page\n\nwith text\n\nold words\n\nplain words\n\ninner document\n\n## Archived\n\ngrüße",
	);
	const lacking = docx(`${p(t("before"))}${chunk("rX")}`, {}, [["rX", "aFChunk", "gone.html"]]);
	await expect(read(lacking)).rejects.toMatchObject({ kind: "corrupt" });
});

const TABLE = "<table border=1><tr><th>Name</th><th>Umsatz</th></tr><tr><td>Käse</td><td>1.234,50</td></tr></table>";
const TABLE_READ = "| Name | Umsatz |\n| --- | --- |\n| Käse | 1.234,50 |";

test.each([
	["a table", TABLE],
	["a table behind its encoding", `<meta http-equiv="Content-Type" content="text/html; charset=utf-8">\r\n${TABLE}`],
	[
		"a table behind a style and a comment",
		`<!-- made by a program -->\n<style>td { mso-number-format: "\\@" }</style><div>${TABLE}</div>`,
	],
	["a page of Excel", `<html xmlns:x="urn:schemas-microsoft-com:office:excel">\n<head></head><body>${TABLE}</body></html>`],
])("%s under the name of a workbook is read as the table that it is", async (_, html) => {
	for (const name of ["sales.xls", "sales.XLSX"]) expect(await read(html, name)).toBe(TABLE_READ);
	expect(await read(Buffer.from(`\ufeff${html}`, "utf16le"), "sales.xls")).toBe(TABLE_READ);
});

test("words under the name of a workbook stay words, and a table without such a name is text", async () => {
	expect(await read("Name\tUmsatz\nKäse\t1", "sales.xls")).toBe("Name\tUmsatz\nKäse\t1");
	expect(await read("<b is less than, a> is more", "sales.xls")).toBe("<b is less than, a> is more");
	expect(await read(TABLE, "readme.md")).toBe(TABLE);
});

const archive = (fields: readonly string[], ...parts: readonly (readonly [location: string, type: string, content: string])[]) =>
	[
		"MIME-Version: 1.0",
		...fields,
		'Content-Type: multipart/related; boundary="----=_b"',
		"",
		"This document is a Single File Web Page.",
		"",
		...parts.flatMap(([location, type, content]) => [
			"------=_b",
			`Content-Location: file:///C:/x/${location}`,
			"Content-Transfer-Encoding: quoted-printable",
			`Content-Type: ${type}; charset="utf-8"`,
			"",
			content.replaceAll("=", "=3D").replaceAll("ä", "=C3=A4"),
			"",
		]),
		"------=_b--",
		"",
	].join("\r\n");
const sheetNames = (...names: readonly string[]) =>
	`<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><!--[if gte mso 9]><xml><x:ExcelWorkbook><x:ExcelWorksheets>${names.map((name) => `<x:ExcelWorksheet>\r\n<x:Name>${name}</x:Name><x:WorksheetSource HRef="s.htm"/></x:ExcelWorksheet>`).join("")}</x:ExcelWorksheets></x:ExcelWorkbook></xml><![endif]--></head><frameset rows="*,39"><frame src="a.htm"><noframes><body><p>This page uses frames</p></body></noframes></frameset></html>`;

test("a web archive under the name of a workbook is read with all its sheets, and without what is no text", async () => {
	const page = (body: string) => `<html><head><title>x</title></head><body>${body}</body></html>`;
	const book = archive(
		["X-Document-Type: Workbook"],
		["Book.htm", "text/html", sheetNames("Erstes &amp; mehr", "Zweites")],
		["Book_files/stylesheet.css", "text/css", "td { color: red }"],
		["Book_files/tabstrip.htm", "text/html", '<html><body><a href="sheet001.htm" target="frSheet">Erstes</a></body></html>'],
		["Book_files/sheet001.htm", "text/html", page(TABLE)],
		["Book_files/sheet002.htm", "text/html", page("<table><tr><td>a</td><td>b</td></tr></table>")],
		["Book_files/filelist.xml", "text/xml", "<xml/>"],
	);
	expect(await read(book, "sales.xls")).toBe(`## Erstes & mehr\n\n${TABLE_READ}\n\n## Zweites\n\n| a | b |\n| --- | --- |`);
	expect(await read(archive([], ["Book.htm", "text/html", `<html><body>${TABLE}</body></html>`]), "sales.xls")).toBe(TABLE_READ);
});

test("a page that a browser saved as an archive is that page, and a mail stays a mail", async () => {
	const page = ["a.htm", "text/html", "<html><body><p>saved words</p></body></html>"] as const;
	expect(await read(archive(["From: <Saved by Blink>", "Subject: A page"], page))).toBe("saved words");
	expect(await read(archive(["Subject: A page"], page), "page.mhtml")).toBe("saved words");
	const mail = await read(archive(["From: ann@example.org", "To: bob@example.org", "Subject: Hello"], page));
	expect(mail).toStartWith("# Hello");
	expect(mail).toContain("saved words");
});

test("words about a format that begin with its mark are text", async () => {
	for (const text of [
		"<html is where a page begins, and </html> is where it ends, as we know.",
		"<html> and </html> enclose a page; nothing else does so.",
		"<html lang=en is the tag that most pages lack.",
		"<!DOCTYPE html> is the first line of a page.",
		"{\\rtf is how each file of rich text begins.",
		"%PDF-1.7 is the mark of a PDF, which a reader looks for.",
		"BMW fährt vor: ein größeres Auto",
		"ID3 tags – what they are",
		"Rar! rief er, und alle lachten über ihn",
	])
		expect(await read(text)).toBe(text);
	expect(await read(Buffer.from("BMW f\xe4hrt vor, und alle gr\xfc\xdfen", "latin1"))).toBe("BMW fährt vor, und alle grüßen");
});

test("pages and rich text that begin in odd ways are read as what they are", async () => {
	for (const html of [
		"<html>words</html>",
		"<HTML><BODY>words",
		"<html\n lang='en' data-x=1>\n<p>words</p>",
		"<!-- saved -->\n<!doctype html>\n<title></title><p>words</p>",
		'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>words</body></html>',
	])
		expect(await read(html)).toBe("words");
	expect(await read(Buffer.from("\ufeff<html><body>Wörter</body></html>", "utf16le"))).toBe("Wörter");
	for (const rtf of ["{\\rtf\\ansi words}", "{\\rtf1 words}", "{\\rtf {\\b words}}"]) expect(await read(rtf)).toBe("words");
});

test("plain words that begin like a picture or a sound are text, and a page may name its encoding late", async () => {
	for (const text of ["RIFF is a format.", "GIF89a and what it means", "II*: a list"]) expect(await read(text)).toBe(text);
	await expect(read(Buffer.concat([Buffer.from("GIF89a"), Buffer.from([1, 0, 1, 0, 0, 0, 0])]))).rejects.toMatchObject({
		kind: "unsupported",
	});
	const late = Buffer.concat([
		Buffer.from(`<html><head>${"<!-- a long head -->".repeat(100)}<meta charset="windows-1251"></head><body>`),
		Buffer.from([0xcf, 0xf0, 0xe8]),
		Buffer.from("</body></html>"),
	]);
	expect(await read(late)).toBe("При");
});

test("formulas of Word and PowerPoint are LaTeX between dollar signs; EQ fields keep their text", async () => {
	const formula =
		"<m:oMath><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>−6</m:t></m:r></m:sup></m:sSup></m:oMath>";
	const field = (code: string, result: string) =>
		`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> EQ \\o\\ad(\\s\\up 9(とう),</w:instrText></w:r><w:r><w:instrText>${code})</w:instrText></w:r>${result}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
	const body = [
		p(`${t("about ")}${formula}${t(" m")}`),
		p(`<m:oMathPara>${formula}</m:oMathPara>`),
		p(`${field("東", "")}${t("京")}${field("x", `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${t(" shown")}`)}`),
	].join("");
	expect(await read(docx(body))).toBe("about $10^{-6}$ m\n\n$$10^{-6}$$\n\n東京 shown");
	const slides = zipFile({
		"_rels/.rels": relations([["r1", "officeDocument", "ppt/presentation.xml"]]),
		"ppt/presentation.xml": '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rA"/></p:sldIdLst></p:presentation>',
		"ppt/_rels/presentation.xml.rels": relations([["rA", "slide", "slides/slide1.xml"]]),
		"ppt/slides/slide1.xml": `<p:sld><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>so </a:t></a:r><mc:AlternateContent><mc:Choice><a14:m>${formula}</a14:m></mc:Choice><mc:Fallback><a:r><a:t>a picture</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
	});
	expect(await read(slides)).toBe("## Slide 1\n\nso $10^{-6}$");
});

test("RTF: bytes in the text, and words that nobody knows, are no text; EQ fields keep theirs", async () => {
	const bin = "\\bin12 {}\\}{\\par }}";
	expect(
		await read(`{\\rtf1 a{\\pict ${bin}}b{\\unknownword55 c}{\\*\\new d}\\${"long".repeat(20)}123456789012345 e\\u8364${bin}f}`),
	).toBe("abc e€f".replace("abc e", "abce"));
	const field = (result: string) =>
		`{\\field{\\*\\fldinst{ EQ \\\\o\\\\ad(\\\\s\\\\up 9(\\u12392?),\\u26481?)}}{\\fldrslt ${result}}}`;
	expect(await read(`{\\rtf1 ${field("")}|${field("shown")}|}`)).toBe("東|shown|");
});

test("a sheet costs as little as it says, wherever its cells are", async () => {
	const book = (cells: string) =>
		zipFile({
			"_rels/.rels": relations([["r1", "officeDocument", "xl/workbook.xml"]]),
			"xl/_rels/workbook.xml.rels": relations([["rA", "worksheet", "worksheets/a.xml"]]),
			"xl/workbook.xml": '<workbook><sheets><sheet name="A" sheetId="1" r:id="rA"/></sheets></workbook>',
			"xl/worksheets/a.xml": `<worksheet><sheetData>${cells}</sheetData></worksheet>`,
		});
	const row = (number: number, cells: Readonly<Record<string, number>>) =>
		`<row r="${number}">${Object.entries(cells)
			.map(([column, value]) => `<c r="${column}${number}"><v>${value}</v></c>`)
			.join("")}</row>`;
	expect(await read(book(row(1, { A: 1 }) + row(1_048_576, { XFD: 2 })))).toBe(
		"## A\n\n| 1 |  |  |\n| --- | --- | --- |\n|  |  |  |\n|  |  | 2 |",
	);
	expect(await read(book(row(3, { C: 1, D: 2, G: 3 })))).toBe("## A\n\n|  | 1 | 2 |  | 3 |\n| --- | --- | --- | --- | --- |");
	const wide = Array.from({ length: 300 }, (_, at) => String.fromCharCode(65 + Math.floor(at / 26), 65 + (at % 26)));
	const rows = Array.from({ length: 2_000 }, (_, at) => row(at + 2, { AA: at })).join("");
	const text = await read(book(row(1, Object.fromEntries(wide.map((column) => [column, 1]))) + rows));
	expect(text.length).toBeLessThan(2_000 * 64 * 4);
});

test("numbers of more than 15 digits are shown as Excel shows them", async () => {
	const cells = ["12345678901234567890", "1234567890123456", "123456789012345", "1E+20", "0.00000012", "-4111111111111111"];
	const book = zipFile({
		"_rels/.rels": relations([["r1", "officeDocument", "xl/workbook.xml"]]),
		"xl/_rels/workbook.xml.rels": relations([
			["rA", "worksheet", "worksheets/a.xml"],
			["rS", "styles", "styles.xml"],
		]),
		"xl/workbook.xml": '<workbook><sheets><sheet name="A" sheetId="1" r:id="rA"/></sheets></workbook>',
		"xl/styles.xml": '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="1"/></cellXfs></styleSheet>',
		"xl/worksheets/a.xml": `<worksheet><sheetData><row r="1">${cells.map((value) => `<c><v>${value}</v></c>`).join("")}<c s="1"><v>12345678901234567890</v></c></row></sheetData></worksheet>`,
	});
	expect(await read(book)).toStartWith(
		"## A\n\n| 1.23457E+19 | 1.23457E+15 | 123456789012345 | 1E+20 | 0.00000012 | -4.11111E+15 | 12345678901234600000 |",
	);
});

test("a declaration of an encoding counts in XML, and in a page however far down it stands", async () => {
	const cyrillic = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
	const declared = '<?xml version="1.0" encoding="windows-1251"?><r>';
	expect(await read(Buffer.concat([Buffer.from(declared), cyrillic, Buffer.from("</r>")]))).toBe(`${declared}Привет</r>`);
	const script = `<html><head><script>${"var x = 1;".repeat(3_000)}</script><meta charset="windows-1251"></head><body>`;
	expect(await read(Buffer.concat([Buffer.from(script), cyrillic]), "page.html")).toBe("Привет");
});
