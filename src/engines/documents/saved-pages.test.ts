import { expect, test } from "bun:test";
import { read } from "./testing/office-files.ts";

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
