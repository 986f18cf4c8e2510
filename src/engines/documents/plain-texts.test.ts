import { expect, test } from "bun:test";
import { read } from "./testing/office-files.ts";

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

test("RTF: bytes in the text, and words that nobody knows, are no text; EQ fields keep theirs", async () => {
	const bin = "\\bin12 {}\\}{\\par }}";
	expect(
		await read(`{\\rtf1 a{\\pict ${bin}}b{\\unknownword55 c}{\\*\\new d}\\${"long".repeat(20)}123456789012345 e\\u8364${bin}f}`),
	).toBe("abc e€f".replace("abc e", "abce"));
	const field = (result: string) =>
		`{\\field{\\*\\fldinst{ EQ \\\\o\\\\ad(\\\\s\\\\up 9(\\u12392?),\\u26481?)}}{\\fldrslt ${result}}}`;
	expect(await read(`{\\rtf1 ${field("")}|${field("shown")}|}`)).toBe("東|shown|");
});

test("a declaration of an encoding counts in XML, and in a page however far down it stands", async () => {
	const cyrillic = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
	const declared = '<?xml version="1.0" encoding="windows-1251"?><r>';
	expect(await read(Buffer.concat([Buffer.from(declared), cyrillic, Buffer.from("</r>")]))).toBe(`${declared}Привет</r>`);
	const script = `<html><head><script>${"var x = 1;".repeat(3_000)}</script><meta charset="windows-1251"></head><body>`;
	expect(await read(Buffer.concat([Buffer.from(script), cyrillic]), "page.html")).toBe("Привет");
});
