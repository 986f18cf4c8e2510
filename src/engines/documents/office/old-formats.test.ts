import { expect, test } from "bun:test";
import { type OleTree, oleFile } from "../../../../test/support/ole-file.ts";
import { extractText } from "../extract.ts";

const read = (tree: OleTree) => extractText(oleFile(tree), "file", { readScan: null });
const u8 = (...values: number[]) => Buffer.from(values);
const u16 = (...values: number[]) => Buffer.from(Uint16Array.from(values).buffer);
const u32 = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer);
const f64 = (value: number) => Buffer.from(Float64Array.of(value).buffer);
const all = (...parts: (Buffer | string)[]) =>
	Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)));
const wide = (text: string) => Buffer.from(text, "utf16le");

const biff = (type: number, ...parts: (Buffer | string)[]) => {
	const data = all(...parts);
	return all(u16(type, data.length), data);
};
const bof = (version: number, kind: number) => biff(0x809, u16(version, kind, 0, 0), u32(0, 0));
const EOF = biff(0x0a);
/** A book whose sheets begin behind its globals. */
function book(
	globals: readonly Buffer[],
	sheets: readonly (readonly [head: Buffer, content: Buffer])[],
	version = 0x600,
): Buffer {
	const front = all(bof(version, 5), ...globals);
	const heads = sheets.map(([head]) => biff(0x85, u32(0), head));
	let at = front.length + heads.reduce((sum, head) => sum + head.length, 0) + EOF.length;
	for (const [index, head] of heads.entries()) {
		head.writeUInt32LE(at, 4);
		at += 4 + 16 + (sheets[index]?.[1].length ?? 0) + EOF.length;
	}
	return all(front, ...heads, EOF, ...sheets.flatMap(([, content]) => [bof(version, 0x10), content, EOF]));
}
const sheetName = (name: string, hidden = 0) => all(u8(hidden, 0, name.length, 0), name);

test("XLS: a text that goes on in the next record changes its width there; fonts and readings are passed over", async () => {
	const strings = all(
		biff(0xfc, u32(3, 3), u16(8), u8(0), "half"),
		biff(0x3c, u8(1), wide("東京だ!"), u16(4), u8(0x0d), u16(1), u32(4), wide("rich")),
		biff(0x3c, u16(0, 0), "read", u16(3), u8(0), "end"),
	);
	const cells = all(...[0, 1, 2].map((index) => biff(0xfd, u16(0, index, 0), u32(index))));
	expect(await read({ Workbook: book([strings], [[sheetName("Texts"), cells]]) })).toBe(
		"## Texts\n\n| half東京だ! | rich | end |\n| --- | --- | --- |",
	);
});

test("XLS: numbers in each of their forms as they are shown, formulas as they were worked out, comments, links, hidden sheets", async () => {
	const globals = [
		biff(0x22, u16(0)),
		biff(0x41e, u16(164, 10), u8(0), "yyyy-mm-dd"),
		...[0, 164, 10].map((format) => biff(0xe0, u16(0, format), Buffer.alloc(16))),
	];
	const url = all(wide("https://example.com/"), u16(0));
	const cells = all(
		biff(0x14, u16(7), u8(0), "&CAbove"),
		biff(0x203, u16(0, 0, 1), f64(45_000)),
		biff(0x27e, u16(0, 1, 2), u32(((1_250 << 2) | 3) >>> 0)),
		biff(0xbd, u16(1, 0), u16(0), u32((-7 << 2) | 2), u16(0), u32(((4_200 << 2) | 3) >>> 0), u16(1)),
		biff(0x06, u16(2, 0, 0), u8(0, 0, 0, 0, 0, 0, 255, 255), Buffer.alloc(8)),
		biff(0x207, u16(6), u8(0), "joined"),
		biff(0x06, u16(2, 1, 0), u8(2, 0, 7, 0, 0, 0, 255, 255), Buffer.alloc(8)),
		biff(0x205, u16(2, 2, 0), u8(1, 0)),
		biff(0x204, u16(3, 0, 0), u16(4), u8(0), "site"),
		biff(
			0x1b8,
			u16(3, 3, 0, 0),
			Buffer.from("d0c9ea79f9bace118c8200aa004ba90b", "hex"),
			u32(2, 3),
			Buffer.from("e0c9ea79f9bace118c8200aa004ba90b", "hex"),
			u32(url.length),
			url,
		),
		biff(0x5d, u16(0x15, 18, 0x19, 5), Buffer.alloc(14)),
		biff(0x1b6, u16(0, 0, 0, 0, 0, 5, 16), Buffer.alloc(4)),
		biff(0x3c, u8(0), "check"),
		biff(0x3c, Buffer.alloc(16)),
		biff(0x1c, u16(1, 27, 0, 5), u16(3), u8(0), "Ann"),
	);
	const far = biff(0x203, u16(65_535, 0, 0), f64(0.1 + 0.2));
	const text = await read({
		Workbook: book(globals, [
			[sheetName("First"), cells],
			[sheetName("Second", 1), far],
		]),
	});
	expect(text).toBe(
		[
			"## First",
			"Above",
			"| 2023-03-15 | 1250.00% |  |\n| --- | --- | --- |\n| -7 | 42 |  |\n| joined | #DIV/0! | TRUE |\n| site |  |  |",
			"[site](https://example.com/)",
			"> Comment on AB2 by Ann: check",
			"## Second (hidden)",
			"| 0.3 |\n| --- |",
		].join("\n\n"),
	);
});

test("XLS of 1995: texts in the code page of the book", async () => {
	const cells = all(biff(0x204, u16(0, 0, 0), u16(3), u8(0xd4, 0xfb, 0xe2)), biff(0x1c, u16(0, 0, 4), "note"));
	const name = all(u8(0, 0, 1), u8(0xcb));
	const text = await read({ Book: book([biff(0x42, u16(1_251))], [[name, cells]], 0x500) });
	expect(text).toBe("## Л\n\n| Фыв |\n| --- |\n\n> Comment on A1: note");
});

test("old Office files with a password, and those cut off, are refused as what they are", async () => {
	const locked = book([biff(0x2f, u16(1, 1))], []);
	await expect(read({ Workbook: locked })).rejects.toMatchObject({ kind: "encrypted" });
	const strings = biff(0xfc, u32(1, 1), u16(500), u8(0), "cut");
	await expect(read({ Workbook: book([strings], []) })).rejects.toMatchObject({ kind: "corrupt" });
	const user = (token: number) => all(u16(0, 0xff6), u32(20), u32(20, token, 0));
	await expect(read({ "PowerPoint Document": u32(0), "Current User": user(0xf3d1c4df) })).rejects.toMatchObject({
		kind: "encrypted",
	});
	await expect(read({ "PowerPoint Document": u32(0), "Current User": user(0xe391c05f) })).rejects.toMatchObject({
		kind: "corrupt",
	});
	const whole = oleFile({ Workbook: Buffer.alloc(20_000) });
	await expect(extractText(whole.subarray(0, 4_000), "file", { readScan: null })).rejects.toMatchObject({ kind: "corrupt" });
});

const ppt = (type: number, head: number, ...parts: (Buffer | string)[]) => {
	const data = all(...parts);
	return all(u16(head, type), u32(data.length), data);
};
const box = (type: number, head: number, ...parts: Buffer[]) => ppt(type, (head << 4) | 15, ...parts);
const shape = (...content: Buffer[]) => box(0xf004, 0, box(0xf00d, 0, ...content));
const kind = (value: number) => ppt(3999, 0, u32(value));

test("PPT: slides in the order of the list, the newest edit of each, texts of the outline, notes, comments, hidden ones", async () => {
	const drawing = (...shapes: Buffer[]) => box(1036, 0, box(0xf002, 0, box(0xf003, 0, ...shapes)));
	const atom = (notes: number) => ppt(1007, 2, u32(0, 0, 0, 0, notes), u16(0, 0));
	const footer = (text: string) =>
		box(0xf004, 0, box(0xf011, 0, ppt(3011, 0, u32(0), u8(9, 0, 0, 0))), box(0xf00d, 0, kind(4), ppt(4008, 0, text)));
	const place = (number: number, id: number) => ppt(1011, 0, u32(number, 0, 0, id, 0));
	const parts: Buffer[] = [];
	const offsets: number[] = [];
	let at = 0;
	const put = (part: Buffer) => {
		parts.push(part);
		at += part.length;
		return at - part.length;
	};
	offsets.push(
		put(
			box(
				1000,
				0,
				box(4080, 0, place(3, 257), kind(0), ppt(4008, 0, "Plan"), kind(1), ppt(4000, 0, wide("один\rdva")), place(2, 256)),
				box(4080, 1, place(5, 400)),
				box(4080, 2, place(4, 300)),
				box(4057, 3, ppt(4058, 0, u16(13, 0x25)), ppt(4026, 2 << 4, wide("Foot of all"))),
			),
		),
		put(box(1006, 0, atom(0), drawing(shape(kind(4), ppt(4008, 0, "old words"))))),
		put(
			box(
				1006,
				0,
				atom(300),
				drawing(shape(ppt(3998, 0, u32(1))), shape(ppt(3998, 0, u32(0))), footer("every page")),
				box(5000, 0, box(5002, 0, ppt(5003, 0, box(12000, 0, ppt(4026, 0, wide("Ann")), ppt(4026, 16, wide("Why?")))))),
			),
		),
		put(box(1008, 0, drawing(shape(kind(2), ppt(4008, 0, "Say it"))))),
		put(box(1016, 0, drawing(footer("Foot of the master"), footer("*"), shape(kind(0), ppt(4008, 0, "Click to edit"))))),
	);
	const first = put(ppt(6002, 0, u32((5 << 20) | 1, ...offsets)));
	const firstEdit = put(ppt(4085, 0, u32(0, 0, 0, first, 1, 5), u16(0, 0)));
	const changed = put(
		box(1006, 0, atom(0), ppt(1017, 0, u32(0, 0), u16(0, 4)), drawing(shape(kind(4), ppt(4000, 0, wide("new words"))))),
	);
	const second = put(ppt(6002, 0, u32((1 << 20) | 2, changed)));
	const edit = put(ppt(4085, 0, u32(0, 0, firstEdit, second, 1, 5), u16(0, 0)));
	const user = all(u16(0, 0xff6), u32(20), u32(20, 0xe391c05f, edit));
	expect(await read({ "PowerPoint Document": all(...parts), "Current User": user })).toBe(
		"## Slide 1: Plan\n\n- один\n- dva\n\n> Notes: Say it\n\n> Comment by Ann: Why?\n\n## Slide 2 (hidden)\n\nnew words\n\nevery page\n\nFoot of the master\n\nFoot of all",
	);
});

test("an OLE file is what its root says, whatever it holds inside", async () => {
	const inner = { WordDocument: all(u16(0xa5ec), Buffer.alloc(2_000)) };
	const cells = biff(0x204, u16(0, 0, 0), u16(4), u8(0), "cell");
	const workbook = book([], [[sheetName("Own"), cells]]);
	expect(await read({ Workbook: workbook, MBD00012345: inner })).toBe("## Own\n\n| cell |\n| --- |");
	const letter = {
		...mail("Letter", mapi({ "1000001F": "words" })),
		"__attach_version1.0_#00000000": { "__properties_version1.0": Buffer.alloc(8), "__substg1.0_3701000D": inner },
	};
	expect(await read(letter)).toStartWith("# Letter");
	const works = read({ CONTENTS: Buffer.alloc(600), MatOST: Buffer.alloc(600), Objects: inner });
	await expect(works).rejects.toMatchObject({ kind: "unsupported", message: expect.stringContaining("Microsoft Works") });
	await expect(read({ Other: Buffer.alloc(600), Objects: inner })).rejects.toMatchObject({ kind: "unsupported" });
});

test("documents of Word 6 and 95 are named, and a password is told", async () => {
	const head = (mark: number, version: number, flags: number) => all(u16(mark, version, 0, 0, 0, flags), Buffer.alloc(2_000));
	for (const version of [101, 104])
		await expect(read({ WordDocument: head(0xa5dc, version, 0) })).rejects.toMatchObject({
			kind: "unsupported",
			message: expect.stringContaining("Word 6 or 95"),
		});
	await expect(read({ WordDocument: head(0xa5ec, 193, 0x0100) })).rejects.toMatchObject({ kind: "encrypted" });
	await expect(read({ WordDocument: head(0xa5ec, 193, 0) })).rejects.toMatchObject({ kind: "corrupt" });
});

const mapi = (properties: Readonly<Record<string, Uint8Array | string>>): Record<string, Uint8Array> =>
	Object.fromEntries(
		Object.entries(properties).map(([tag, value]) => [`__substg1.0_${tag}`, typeof value === "string" ? wide(value) : value]),
	);
const mail = (subject: string, extra: OleTree = {}): OleTree => ({
	"__properties_version1.0": all(Buffer.alloc(32), u16(0x40, 0x39), u32(6), u32(0xe5e6a000, 0x01da5b2f)),
	...mapi({ "0037001F": subject, "0C1A001F": "Ann", "0C1F001F": "ann@example.com" }),
	...extra,
});

test("MSG: who, when, text and attachments, of which one is a mail", async () => {
	const attached = (number: number, content: OleTree): OleTree => ({
		[`__attach_version1.0_#0000000${number}`]: { "__properties_version1.0": Buffer.alloc(8), ...content },
	});
	const text = await read(
		mail("Grüße", {
			...mapi({ "1000001F": "Hello,\r\n\r\nсвет." }),
			"__recip_version1.0_#00000000": {
				"__properties_version1.0": all(Buffer.alloc(8), u16(3, 0x0c15), u32(6), u32(1, 0)),
				...mapi({ "3001001F": "Bob", "39FE001F": "bob@example.com" }),
			},
			...attached(0, mapi({ "3707001F": "table.csv", "37010102": Buffer.from("a,b\n1,2") })),
			...attached(1, {
				...mapi({ "3001001F": "Inner" }),
				"__substg1.0_3701000D": mail("Inner", mapi({ "10130102": Buffer.from("<p>from <b>HTML</b></p>") })),
			}),
		}),
	);
	expect(text).toStartWith("# Grüße\n\nFrom: Ann <ann@example.com>\nTo: Bob <bob@example.com>\nDate: 2024-");
	expect(text).toContain("Hello,\n\nсвет.\n\n## Attachment: table.csv\n\na,b\n1,2\n\n## Attachment: Inner\n\n# Inner");
	expect(text).toEndWith("from HTML");
});
