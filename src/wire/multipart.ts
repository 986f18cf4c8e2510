/**
 * Parses forms with files (RFC 7578) from a whole body. Files are views of the body, never copies. Throws
 * `MultipartError` with a message for the caller.
 */

export class MultipartError extends Error {
	override readonly name = "MultipartError";
}

export interface FormPart {
	readonly name: string;
	/** null: a text field. */
	readonly filename: string | null;
	readonly type: string;
	readonly bytes: Uint8Array;
}

const MAX_PARTS = 100;
const MAX_HEADER_BYTES = 8_192;
const CRLF = Buffer.from("\r\n");
const BLANK_LINE = Buffer.from("\r\n\r\n");
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns the boundary of a Content-Type; null if it is no form with files, or has no allowed boundary (RFC 2046,
 * 5.1.1).
 */
export function formBoundary(contentType: string | null): string | null {
	const [essence = "", ...parameters] = (contentType ?? "").split(";").map((part) => part.trim());
	if (essence.toLowerCase() !== "multipart/form-data") return null;
	const value = parameters.find((part) => /^boundary=/i.test(part))?.slice("boundary=".length);
	const boundary = value?.replace(/^"(.*)"$/, "$1") ?? "";
	return /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(boundary) ? boundary : null;
}

/** Returns the parts of a form, in order. */
export function parseForm(body: Uint8Array, boundary: string): FormPart[] {
	const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
	const delimiter = Buffer.from(`\r\n--${boundary}`);
	const parts: FormPart[] = [];
	// The first delimiter may be at the very beginning, without a line end before it.
	let at = startsWith(bytes, delimiter.subarray(2)) ? delimiter.length - 2 : after(bytes, delimiter, 0);
	for (;;) {
		if (bytes[at] === 0x2d && bytes[at + 1] === 0x2d) return parts;
		const lineEnd = bytes.indexOf(CRLF, at);
		if (lineEnd < 0 || bytes.subarray(at, lineEnd).toString("latin1").trim() !== "")
			throw new MultipartError("The form is cut off, or its boundary is not the one of its Content-Type");
		const start = lineEnd + CRLF.length;
		const end = bytes.indexOf(delimiter, lineEnd);
		if (end < 0) throw new MultipartError("The form is cut off: its last boundary is missing");
		if (parts.length >= MAX_PARTS) throw new MultipartError(`The form has more than ${MAX_PARTS} parts`);
		parts.push(partOf(bytes, start, Math.max(start, end)));
		at = end + delimiter.length;
	}
}

function startsWith(bytes: Buffer, beginning: Uint8Array): boolean {
	return bytes.subarray(0, beginning.length).equals(beginning);
}

function after(bytes: Buffer, delimiter: Buffer, from: number): number {
	const place = bytes.indexOf(delimiter, from);
	if (place < 0) throw new MultipartError("The form has no part, or its boundary is not the one of its Content-Type");
	return place + delimiter.length;
}

function partOf(bytes: Buffer, start: number, end: number): FormPart {
	const blank = bytes.indexOf(BLANK_LINE, start - CRLF.length);
	if (blank < 0 || blank > end || blank - start > MAX_HEADER_BYTES)
		throw new MultipartError("A part of the form has no headers, or too long ones");
	const headers = headersOf(bytes.subarray(start, Math.max(start, blank)));
	const disposition = headers.get("content-disposition") ?? "";
	const name = /^form-data\b/i.test(disposition) ? parameterOf(disposition, "name") : null;
	if (name === null || name === "") throw new MultipartError("A part of the form has no name");
	const filename = parameterOf(disposition, "filename");
	const type = headers.get("content-type") ?? (filename === null ? "text/plain" : "application/octet-stream");
	return { name, filename, type, bytes: bytes.subarray(blank + BLANK_LINE.length, end) };
}

function headersOf(block: Uint8Array): Map<string, string> {
	const headers = new Map<string, string>();
	for (const line of textOf(block).split("\r\n")) {
		const colon = line.indexOf(":");
		if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
	}
	return headers;
}

/**
 * Returns a quoted or bare parameter. Quotes in names arrive as `\"` or, from browsers, as %22; other backslashes are
 * literal.
 */
function parameterOf(header: string, name: string): string | null {
	const quoted = `"((?:\\\\"(?!\\s*(?:;|$))|[^"])*)"`;
	const match = new RegExp(`;\\s*${name}=(?:${quoted}|([^;"\\s]+))`, "i").exec(header);
	if (match === null) return null;
	const text = match[1]?.replaceAll('\\"', '"') ?? match[2] ?? "";
	return text.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n");
}

/** Returns the text of a field. */
export function textOf(bytes: Uint8Array): string {
	try {
		return decoder.decode(bytes);
	} catch {
		throw new MultipartError("A field of the form is not valid UTF-8");
	}
}
