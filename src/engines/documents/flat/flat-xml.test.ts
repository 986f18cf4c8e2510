import { expect, test } from "bun:test";
import { extractText } from "../extract.ts";

const read = (text: string, name = "file.xml") => extractText(Buffer.from(text), name, { readScan: null });

const WORD = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<?mso-application progid="Word.Document"?>
<w:wordDocument xmlns:aml="http://schemas.microsoft.com/aml/2001/core" xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:wx="http://schemas.microsoft.com/office/word/2003/auxHint" w:macrosPresent="no">
<o:DocumentProperties xmlns:o="urn:schemas-microsoft-com:office:office"><o:Title>not shown</o:Title></o:DocumentProperties>
<w:lists><w:listDef w:listDefId="0"><w:lvl w:ilvl="0"><w:nfc w:val="23"/></w:lvl></w:listDef><w:listDef w:listDefId="1"><w:lvl w:ilvl="0"/></w:listDef><w:list w:ilfo="1"><w:ilst w:val="0"/></w:list><w:list w:ilfo="2"><w:ilst w:val="1"/></w:list></w:lists>
<w:styles><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>
<w:body><wx:sect><wx:sub-section>
<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Report</w:t></w:r></w:p>
<w:p><w:r><w:t>see </w:t></w:r><w:hlink w:dest="https://example.com/"><w:r><w:t>the site</w:t></w:r></w:hlink><w:r><w:footnote><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnote></w:r><aml:annotation aml:id="1" w:type="Word.Deletion"><aml:content><w:r><w:delText>gone</w:delText></w:r></aml:content></aml:annotation><aml:annotation aml:id="2" w:type="Word.Insertion"><aml:content><w:r><w:t> new</w:t></w:r></aml:content></aml:annotation><w:r><aml:annotation aml:id="3" aml:author="Ann" w:type="Word.Comment"><aml:content><w:p><w:r><w:t>why?</w:t></w:r></w:p></aml:content></aml:annotation></w:r></w:p>
<w:p><w:pPr><w:listPr><w:ilvl w:val="0"/><w:ilfo w:val="1"/></w:listPr></w:pPr><w:r><w:t>dot</w:t></w:r></w:p>
<w:p><w:pPr><w:listPr><w:ilvl w:val="0"/><w:ilfo w:val="2"/></w:listPr></w:pPr><w:r><w:t>one</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><w:pict><w:binData w:name="wordml://1.png">aGVsbG8=</w:binData></w:pict></w:r></w:p>
</wx:sub-section><w:sectPr><w:hdr w:type="odd"><w:p><w:r><w:t>Top</w:t></w:r></w:p></w:hdr><w:ftr w:type="odd"><w:p><w:r><w:t>Foot</w:t></w:r></w:p></w:ftr></w:sectPr></wx:sect></w:body></w:wordDocument>`;

test("a document of Word 2003 in XML is read as one of Word", async () => {
	expect(await read(WORD)).toBe(
		"Top\n\n# Report\n\nsee [the site](https://example.com/)[^1] new\n\n[^1]: a note\n\n> Comment by Ann: why?\n\n- dot\n1. one\n\n| a | b |\n| --- | --- |\n\nFoot",
	);
	expect(await read(`\ufeff${WORD}`, "letter.doc")).toStartWith("Top\n\n# Report");
});

const cells = (inner: string) =>
	`<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles><Style ss:ID="Default"/><Style ss:ID="s1"><NumberFormat ss:Format="Short Date"/></Style><Style ss:ID="s2"><NumberFormat ss:Format="Percent"/></Style><Style ss:ID="s3"><NumberFormat ss:Format="yyyy\\-mm\\-dd"/></Style></Styles>
<Worksheet ss:Name="Sales &amp; more"><Table>${inner}</Table></Worksheet><Worksheet ss:Name="Old"><Table/><WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel"><Visible>SheetHidden</Visible></WorksheetOptions></Worksheet></Workbook>`;
const cell = (type: string, value: string, more = "") => `<Cell ${more}><Data ss:Type="${type}">${value}</Data></Cell>`;

test("a workbook of Excel 2003 in XML is read as one of Excel", async () => {
	const rows = [
		`<Row>${cell("String", "Name")}${cell("String", "When", 'ss:MergeAcross="1"')}${cell("String", "Share")}</Row>`,
		`<Row>${cell("String", "site", 'ss:HRef="https://example.com/"')}${cell("DateTime", "2023-03-15T00:00:00.000", 'ss:StyleID="s1"')}${cell("DateTime", "2023-03-15T00:00:00.000", 'ss:StyleID="s3"')}${cell("Number", "0.125", 'ss:StyleID="s2"')}</Row>`,
		`<Row ss:Index="9">${cell("Boolean", "1", 'ss:Index="2"')}${cell("Error", "#N/A")}${cell("DateTime", "2023-03-15T00:00:00.000")}</Row>`,
		`<Row><Cell><Data ss:Type="Number">7</Data><Comment ss:Author="Ann"><Data><Font>check</Font></Data></Comment></Cell></Row>`,
	];
	expect(await read(cells(rows.join("")))).toBe(
		[
			"## Sales & more",
			[
				"| Name | When |  | Share |",
				"| --- | --- | --- | --- |",
				"| site | 3/15/2023 | 2023-03-15 | 12.50% |",
				"|  |  |  |  |",
				"|  | TRUE | #N/A | 3/15/2023 |",
				"| 7 |  |  |  |",
			].join("\n"),
			"[site](https://example.com/)",
			'> Comment on "7" by Ann: check',
			"## Old (hidden)",
		].join("\n\n"),
	);
	const far = `<Row>${cell("Number", "1")}</Row><Row ss:Index="1048576">${cell("Number", "2", 'ss:Index="16384"')}</Row>`;
	expect((await read(cells(far))).length).toBeLessThan(120);
});

const odf = (kind: string, body: string) =>
	`<?xml version="1.0" encoding="UTF-8"?>\n<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="t" office:mimetype="application/vnd.oasis.opendocument.${kind}"><office:master-styles><style:master-page><style:footer><text:p>Foot</text:p></style:footer></style:master-page></office:master-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document>`;

test("flat OpenDocument is read as that in a zip", async () => {
	expect(await read(odf("text", '<text:h text:outline-level="2">Head</text:h><text:p>words</text:p>'), "a.fodt")).toBe(
		"## Head\n\nwords\n\nFoot",
	);
	const sheet =
		'<table:table table:name="Sales"><table:table-row><table:table-cell><text:p>50%</text:p></table:table-cell></table:table-row></table:table>';
	expect(await read(odf("spreadsheet", sheet), "a.fods")).toStartWith("## Sales\n\n| 50% |");
	const page =
		'<presentation:footer-decl>Every page</presentation:footer-decl><draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Plan</text:p></draw:text-box></draw:frame></draw:page>';
	expect(await read(odf("presentation", page), "a.fodp")).toStartWith("## Slide 1: Plan\n\nEvery page");
});

test("the encoding that a flat document declares is kept to, and other XML stays as it is", async () => {
	const russian = odf("text", "<text:p>word</text:p>").replace("UTF-8", "windows-1251");
	const [before = "", after = ""] = russian.split("word");
	const bytes = Buffer.concat([Buffer.from(before), Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]), Buffer.from(after)]);
	expect(await extractText(bytes, "a", { readScan: null })).toStartWith("Привет");
	expect(await extractText(Buffer.from(`\ufeff${WORD}`, "utf16le"), "a", { readScan: null })).toStartWith("Top");
	for (const xml of ["<document><p>x</p></document>", "<Workbook/>", "<?xml version='1.0'?>\n<note>see urn:oasis:names</note>"])
		expect(await read(xml)).toBe(xml);
});

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const NAMESPACE = "http://schemas.microsoft.com/office/2006/xmlPackage";
const part = (name: string, xml: string) =>
	`<pkg:part pkg:name="/${name}" pkg:contentType="application/xml"><pkg:xmlData>${xml}</pkg:xmlData></pkg:part>`;
const relation = (id: string, type: string, target: string) =>
	`<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
const relationsPart = (name: string, ...list: string[]) =>
	part(
		name,
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list.join("")}</Relationships>`,
	);
const flatPackage = (...parts: string[]) =>
	`<?xml version="1.0" standalone="yes"?>\n<?mso-application progid="Word.Document"?>\n<pkg:package xmlns:pkg="${NAMESPACE}">${parts.join("")}</pkg:package>`;
const flatDocx = (body: string, ...more: string[]) =>
	flatPackage(
		relationsPart("_rels/.rels", relation("r1", "officeDocument", "word/document.xml")),
		part("word/document.xml", `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`),
		...more,
	);
const WORDS = "<w:p><w:r><w:t>Gr\u00fc\u00dfe &amp; more</w:t></w:r></w:p>";

test("a document of Word as one XML file (Flat OPC) is read as in a zip, with what is packed in it", async () => {
	const chunk = Buffer.from("<html><body><p>from a page</p></body></html>").toString("base64");
	const text = flatDocx(
		`${WORDS}<w:altChunk xmlns:r="r" r:id="rC"/>`,
		relationsPart("word/_rels/document.xml.rels", relation("rC", "aFChunk", "/word/page.html")),
		`<pkg:part pkg:name="/word/page.html" pkg:compression="store"><pkg:binaryData>${chunk.replace(/(.{20})/g, "$1\n")}</pkg:binaryData></pkg:part>`,
	);
	expect(await read(text, "letter.xml")).toBe("Grüße & more\n\nfrom a page");
	expect(await read(text.replaceAll("xmlns:pkg", "xmlns").replaceAll("pkg:", ""))).toStartWith("Grüße");
});

test("a workbook and a presentation as one XML file are read as what they are", async () => {
	const book = flatPackage(
		relationsPart("_rels/.rels", relation("r1", "officeDocument", "xl/workbook.xml")),
		relationsPart("xl/_rels/workbook.xml.rels", relation("rA", "worksheet", "worksheets/a.xml")),
		part("xl/workbook.xml", '<workbook><sheets><sheet name="First" sheetId="1" r:id="rA"/></sheets></workbook>'),
		part("xl/worksheets/a.xml", '<worksheet><sheetData><row r="1"><c r="A1"><v>7</v></c></row></sheetData></worksheet>'),
	);
	expect(await read(book)).toBe("## First\n\n| 7 |\n| --- |");
	const slides = flatPackage(
		relationsPart("_rels/.rels", relation("r1", "officeDocument", "ppt/presentation.xml")),
		relationsPart("ppt/_rels/presentation.xml.rels", relation("rS", "slide", "slides/one.xml")),
		part("ppt/presentation.xml", '<p:presentation><p:sldIdLst><p:sldId id="1" r:id="rS"/></p:sldIdLst></p:presentation>'),
		part(
			"ppt/slides/one.xml",
			"<p:sld><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>said</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>",
		),
	);
	expect(await read(slides)).toContain("said");
	expect(await read(slides)).not.toContain("<");
});

test("an XML package of something else is XML, and one that is cut off or lacks its main part is damaged", async () => {
	const other = flatPackage(part("other/a.xml", "<a>b</a>"));
	expect(await read(other)).toBe(other);
	for (const cut of [flatDocx(WORDS).slice(0, -40), WORD.slice(0, -60), cells("").slice(0, -20)])
		await expect(read(cut)).rejects.toMatchObject({ kind: "corrupt" });
	const lacking = flatDocx(WORDS).replace('Target="word/document.xml"', 'Target="word/gone.xml"');
	await expect(read(lacking)).rejects.toMatchObject({ kind: "corrupt" });
	expect(await read(`${flatDocx(WORDS)}\n<!-- end -->\n`)).toBe("Grüße & more");
});
