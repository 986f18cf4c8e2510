import type { TSchema } from "typebox";
import { ApiError } from "../errors/index.ts";
import { invalidField } from "../schema/index.ts";
import { formBoundary, MultipartError, parseForm, textOf } from "../wire/index.ts";
import { readScalar } from "./parse-body.ts";

/** A file of a form: a view of the body. */
export interface FormFile {
	/** As the caller named it: for an upstream, never for a path. */
	readonly name: string;
	readonly bytes: Uint8Array;
}

/** How an endpoint takes files. */
export interface FormRules {
	/** Name of the file's field; one at most. */
	readonly file: string;
	/** A larger file gets 413. */
	readonly maxFileBytes: number;
}

export interface Form {
	/** Text fields as their schema wants them: numbers and booleans are read. */
	readonly body: Record<string, unknown>;
	readonly file: FormFile | null;
}

/** The boundary of the form; 415 unless the body is declared to be one. */
export function requireForm(contentType: string | null): string {
	const boundary = formBoundary(contentType);
	if (boundary !== null) return boundary;
	throw new ApiError("INVALID_CONTENT_TYPE", { message: "Send a form: Content-Type: multipart/form-data with a boundary" });
}

const MAX_TEXT_BYTES = 65_536;

/** Reads a form. Throws 400 for a malformed one, a file in the place of a text or the other way round, 413 for a large file. */
export function readForm(raw: Uint8Array, boundary: string, schema: TSchema, rules: FormRules): Form {
	const properties = (schema as { properties?: Record<string, { type?: unknown }> }).properties ?? {};
	const body: Record<string, unknown> = {};
	let file: FormFile | null = null;
	for (const part of partsOf(raw, boundary)) {
		if (part.name === rules.file) {
			if (part.filename === null) throw invalidField([part.name], "must be sent as a file, with a file name");
			if (file !== null) throw invalidField([part.name], "must be there once");
			if (part.bytes.length > rules.maxFileBytes)
				throw new ApiError("PAYLOAD_TOO_LARGE", {
					message: `The file is over the limit of ${rules.maxFileBytes} bytes`,
					param: part.name,
				});
			file = { name: part.filename, bytes: part.bytes };
			continue;
		}
		if (part.filename !== null && Object.hasOwn(properties, part.name))
			throw invalidField([part.name], "must be text, not a file");
		if (part.bytes.length > MAX_TEXT_BYTES) throw invalidField([part.name], "is too long");
		const property = Object.hasOwn(properties, part.name) ? properties[part.name] : undefined;
		Object.defineProperty(body, part.name, {
			value: readScalar(readText(part.bytes), property?.type),
			enumerable: true,
			configurable: true,
			writable: true,
		});
	}
	return { body, file };
}

function partsOf(raw: Uint8Array, boundary: string): ReturnType<typeof parseForm> {
	try {
		return parseForm(raw, boundary);
	} catch (error) {
		throw asRefusal(error);
	}
}

function readText(bytes: Uint8Array): string {
	try {
		return textOf(bytes);
	} catch (error) {
		throw asRefusal(error);
	}
}

function asRefusal(error: unknown): unknown {
	return error instanceof MultipartError ? new ApiError("INVALID_REQUEST", { message: error.message }) : error;
}
