import type { TSchema } from "typebox";
import { ApiError } from "../errors/index.ts";
import { invalidField, invalidRequest } from "../schema/index.ts";
import { type FormPart, formBoundary, MultipartError, parseForm, textOf } from "../wire/index.ts";
import { isJson, readScalar } from "./parse-body.ts";

/** A file of a form. Its bytes are a view of the body. */
export interface FormFile {
	/** The caller's name for the file: sent to an upstream, never used as a path. */
	readonly name: string;
	readonly bytes: Uint8Array;
}

/** A file with the name of its field. */
export interface FieldFile extends FormFile {
	readonly field: string;
}

/** How an endpoint accepts files. */
export interface FormRules {
	/** Name of the file's field. */
	readonly file: string;
	/** Size limit of a file; a larger one gets 413. */
	readonly maxFileBytes: number;
	/** Maximum number of files with that name; default 1. */
	readonly most?: number;
	/** Further file fields, with the maximum number of files of each. */
	readonly others?: Readonly<Record<string, number>>;
	/** True: the file is optional. */
	readonly optional?: boolean;
	/** True: the file's field may hold a text of any length instead, which the schema describes. */
	readonly orText?: boolean;
	/** True: the body may be JSON instead, with a text in place of the file. */
	readonly orJson?: boolean;
	/** True: fields that the schema does not know are ignored. */
	readonly lenient?: boolean;
}

export interface Form {
	/** Text fields as their schema types them: numbers and booleans are parsed. */
	readonly body: Record<string, unknown>;
	/** Files in the order of the form. */
	readonly files: readonly FieldFile[];
}

/**
 * Returns the form's boundary; null for another content type, which must be JSON.
 * @throws ApiError 415
 */
export function formOrJson(contentType: string | null): string | null {
	const boundary = formBoundary(contentType);
	if (boundary !== null) return boundary;
	if (isJson(contentType)) return null;
	throw new ApiError("INVALID_CONTENT_TYPE", {
		message: "Send Content-Type: application/json, or multipart/form-data with a boundary",
	});
}

/**
 * Returns the boundary of the form.
 * @throws ApiError 415 unless the body is declared to be a form
 */
export function requireForm(contentType: string | null): string {
	const boundary = formBoundary(contentType);
	if (boundary !== null) return boundary;
	throw new ApiError("INVALID_CONTENT_TYPE", { message: "Send a form: Content-Type: multipart/form-data with a boundary" });
}

/** Size limit of a text field: 32,768 characters. */
const MAX_TEXT_BYTES = 131_072;

/**
 * Reads a form.
 * @throws ApiError 400 if it is malformed or has a file in place of a text or the reverse, 413 for a large file
 */
export function readForm(raw: Uint8Array, boundary: string, schema: TSchema, rules: FormRules): Form {
	const properties = (schema as { properties?: Record<string, { type?: unknown }> }).properties ?? {};
	const body: Record<string, unknown> = {};
	const files: FieldFile[] = [];
	const most: Readonly<Record<string, number>> = { [rules.file]: rules.most ?? 1, ...rules.others };
	for (const part of formParts(raw, boundary)) {
		const limit = Object.hasOwn(most, part.name) ? most[part.name] : undefined;
		const asText = part.filename === null && rules.orText === true && part.name === rules.file;
		if (limit !== undefined && !asText) {
			files.push(fileOf(part, limit, files, rules.maxFileBytes));
			continue;
		}
		const isKnown = Object.hasOwn(properties, part.name);
		if (!isKnown && rules.lenient === true) continue;
		if (part.filename !== null && !isKnown) throw wrongFileField(part.name, Object.keys(most));
		if (part.filename !== null && isKnown) throw invalidField([part.name], "must be text, not a file");
		if (part.bytes.length > MAX_TEXT_BYTES && !asText) throw invalidField([part.name], "is too long");
		Object.defineProperty(body, part.name, {
			value: readScalar(readText(part.bytes), isKnown ? properties[part.name]?.type : undefined),
			enumerable: true,
			configurable: true,
			writable: true,
		});
	}
	return { body, files };
}

function wrongFileField(name: string, expected: readonly string[]): ApiError {
	return invalidField(
		[name.slice(0, 100)],
		`is no field of a file here; send the file as ${expected.join(" or ")}`,
		"unrecognized_key",
	);
}

function fileOf(part: FormPart, most: number, earlierFiles: readonly FieldFile[], maxBytes: number): FieldFile {
	const { name: field, filename: name, bytes } = part;
	if (name === null) throw invalidField([field], "must be sent as a file, with a file name");
	if (earlierFiles.filter((other) => other.field === field).length >= most) {
		const message = most === 1 ? "must be there once" : `must be there ${most} times at most`;
		throw invalidRequest([{ path: [field], code: "too_big", message, maximum: most }]);
	}
	if (bytes.length > maxBytes)
		throw new ApiError("PAYLOAD_TOO_LARGE", { message: `The file is over the limit of ${maxBytes} bytes`, param: field });
	return { field, name, bytes };
}

function formParts(raw: Uint8Array, boundary: string): ReturnType<typeof parseForm> {
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
