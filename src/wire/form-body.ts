/** Writes forms with files (RFC 7578). */
import { randomBytes } from "node:crypto";
import { concatBytes } from "./concat-bytes.ts";

export interface FormField {
	readonly name: string;
	readonly value: string | Uint8Array;
	/** Present for a file. */
	readonly filename?: string;
	readonly type?: string;
}

export interface FormBody {
	/** The Content-Type, with its boundary. */
	readonly type: string;
	/** Each file's bytes are copied once. */
	readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

/** Writes the fields in order. Names are ours, so they need no escaping. */
export function formBody(fields: readonly FormField[]): FormBody {
	const boundary = `form-${randomBytes(24).toString("hex")}`;
	const pieces: Uint8Array[] = [];
	for (const { name, value, filename, type } of fields) {
		const file = filename === undefined ? "" : `; filename="${filename}"`;
		const kind = type === undefined ? "" : `Content-Type: ${type}\r\n`;
		pieces.push(encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${kind}\r\n`));
		pieces.push(typeof value === "string" ? encoder.encode(value) : value, encoder.encode("\r\n"));
	}
	pieces.push(encoder.encode(`--${boundary}--\r\n`));
	return { type: `multipart/form-data; boundary=${boundary}`, bytes: concatBytes(pieces) };
}
