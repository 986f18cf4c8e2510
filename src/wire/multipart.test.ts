import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type FormPart, formBoundary, MultipartError, parseForm, textOf } from "./multipart.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const shown = ({ name, filename, type, bytes }: FormPart) => ({
	name,
	filename,
	type,
	text: new TextDecoder("latin1").decode(bytes),
});
const FORM = [
	"--b",
	'Content-Disposition: form-data; name="model"',
	"",
	"a-model",
	"--b",
	'content-disposition: form-data; filename="a \\"b\\".wav"; name=file',
	"content-type: audio/wav",
	"",
	"\r\n-bytes\r\n",
	"--b--",
	"",
].join("\r\n");

describe("a form", () => {
	test("comes apart into its texts and files, whatever its bytes are", () => {
		expect(parseForm(bytesOf(FORM), "b").map(shown)).toEqual([
			{ name: "model", filename: null, type: "text/plain", text: "a-model" },
			{ name: "file", filename: 'a "b".wav', type: "audio/wav", text: "\r\n-bytes\r\n" },
		]);
	});

	test("may have words before it and after it, and no part at all", () => {
		expect(parseForm(bytesOf(`preamble\r\n${FORM}epilogue`), "b")).toHaveLength(2);
		expect(parseForm(bytesOf("--b--\r\n"), "b")).toEqual([]);
	});

	test("files are views of the body", () => {
		const body = bytesOf(FORM);
		expect(parseForm(body, "b")[1]?.bytes.buffer).toBe(body.buffer);
	});

	test.each([
		["another boundary", FORM, "x"],
		["an empty body", "", "b"],
		["one that is cut off in a file", FORM.slice(0, -10), "b"],
		["one that is cut off in a header", FORM.slice(0, 30), "b"],
		["a part without a name", FORM.replace('name="model"', 'nome="model"'), "b"],
		["a part without headers", "--b\r\nno header\r\n--b--", "b"],
		["headers without an end", `--b\r\nx: ${"y".repeat(9_000)}\r\n\r\nz\r\n--b--`, "b"],
		["too many parts", `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(101)}--b--`, "b"],
	])("%s is refused", (_, body, boundary) => {
		expect(() => parseForm(bytesOf(body), boundary)).toThrow(MultipartError);
	});

	test("a field that is no UTF-8 is refused as a text", () => {
		expect(() => textOf(new Uint8Array([0xff]))).toThrow(MultipartError);
	});

	test("what a client of the runtime writes is what comes out", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 20 }), fc.uint8Array({ maxLength: 300 }), fc.boolean()), {
					maxLength: 8,
				}),
				async (fields) => {
					const form = new FormData();
					for (const [name, bytes, isFile] of fields) {
						if (isFile) form.append(name, new Blob([bytes as Uint8Array<ArrayBuffer>]), "a.bin");
						else form.append(name, Buffer.from(bytes).toString("hex"));
					}
					const request = new Request("http://x/", { method: "POST", body: form });
					const boundary = formBoundary(request.headers.get("content-type"));
					if (boundary === null) throw new Error("no boundary");
					const parts = parseForm(await request.bytes(), boundary);
					expect(
						parts.map(({ filename, bytes }) => (filename === null ? textOf(bytes) : Buffer.from(bytes).toString("hex"))),
					).toEqual(fields.map(([, bytes]) => Buffer.from(bytes).toString("hex")));
				},
			),
			{ numRuns: 60 },
		);
	});

	test("any bytes are taken apart or refused, and never break anything", () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 400 }), fc.constantFrom("--b", "\r\n--b\r\n", "--b--", FORM), (noise, start) => {
				const body = Buffer.concat([Buffer.from(start), noise, Buffer.from("\r\n--b\r\n"), noise]);
				try {
					parseForm(body, "b");
				} catch (error) {
					expect(error).toBeInstanceOf(MultipartError);
				}
			}),
		);
	});
});

test("a boundary is read from its Content-Type, quoted or not; others are none", () => {
	expect(formBoundary("multipart/form-data; boundary=abc")).toBe("abc");
	expect(formBoundary('Multipart/Form-Data; charset=utf-8; Boundary="a b:c"')).toBe("a b:c");
	for (const type of [
		null,
		"",
		"application/json",
		"multipart/mixed; boundary=a",
		"multipart/form-data",
		"multipart/form-data; boundary=",
	])
		expect(formBoundary(type)).toBeNull();
	expect(formBoundary(`multipart/form-data; boundary=${"a".repeat(71)}`)).toBeNull();
});
