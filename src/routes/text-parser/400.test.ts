import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";
import { zipFile } from "../../../test/support/zip-file.ts";
import { sample, sendFile } from "./testing/parser.ts";

let gate: RunningGateway;
beforeAll(async () => {
	gate = await startGateway({ config: { limits: { failedRequests: 0 }, documents: { processes: 1 } } });
});
afterAll(async () => {
	expect(await gate.posts()).toEqual([]);
	expect(await gate.balance()).toBe(10_000_000_000);
	await gate.stop();
});

interface Refusal {
	readonly error: string;
	readonly code: string;
	readonly issues: readonly { readonly path: readonly string[]; readonly code: string }[];
}
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const ole = (stream: string) =>
	new Uint8Array(Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(1_016), Buffer.from(stream, "utf16le")]));
const odt = (manifest: string) =>
	new Uint8Array(
		zipFile({ mimetype: "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": manifest, "content.xml": "x" }),
	);

const faults: readonly (readonly [what: string, bytes: Uint8Array<ArrayBuffer> | string, code: string, text: string])[] = [
	["is empty", "", "file_empty", "is empty"],
	["has only white space", " \n\t ", "file_empty", "has no text"],
	["is a picture", bytesOf("\x89PNG\r\n\x1a\n\0\0"), "file_unsupported", "an image"],
	["is of no known type", bytesOf("\x01\x02\0\x03binary\xff"), "file_unsupported", "not text"],
	["is an archive", new Uint8Array(zipFile({ "a.bin": "x" })), "file_unsupported", "a zip archive"],
	["is an old workbook of nothing", ole("Workbook"), "file_corrupt", "cut off"],
	["has a password", sample("encrypted.docx"), "file_encrypted", "password"],
	[
		"is an OpenDocument file with a password",
		odt("<manifest><file-entry><encryption-data/></file-entry></manifest>"),
		"file_encrypted",
		"password",
	],
	["is cut off", sample("x_truncated.docx"), "file_corrupt", "cut off"],
	["is a PDF of nothing", "%PDF-1.7\nnothing", "file_corrupt", "PDF"],
	["inflates to 400 MB", sample("x_bomb.docx"), "file_too_large", "inflates 1028 times"],
];

test.each(faults)("refuses a file that %s, and says so", async (_, bytes, code, text) => {
	const answer = await sendFile(gate, { name: "file.docx", bytes });
	expect(answer.status).toBe(400);
	const refusal = (await answer.json()) as Refusal;
	expect(refusal).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: ["file"], code }] });
	expect(refusal.error).toContain(text);
});

test("refuses a form without a file, a text in its place, two files, and another format", async () => {
	const none = await sendFile(gate, null, { response_format: "json" });
	expect(none.status).toBe(400);
	expect(((await none.json()) as Refusal).issues[0]?.path).toEqual(["file"]);
	expect((await sendFile(gate, null, { file: "text" })).status).toBe(400);
	const format = await sendFile(gate, { name: "a.txt", bytes: "a" }, { response_format: "xml" });
	expect(format.status).toBe(400);
	expect(((await format.json()) as Refusal).issues[0]?.path).toEqual(["response_format"]);
	const two = new FormData();
	two.append("file", new File(["a"], "a.txt"));
	two.append("file", new File(["b"], "b.txt"));
	const headers = { authorization: `Bearer ${gate.key}` };
	expect((await fetch(`${gate.url}/api/v1/augment/text-parser`, { method: "POST", body: two, headers })).status).toBe(400);
});
