import { expect, test } from "bun:test";
import { zipFile } from "../../../test/support/zip-file.ts";
import { docx, p, read, relations, t } from "./testing/office-files.ts";

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
