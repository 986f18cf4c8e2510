import { ApiError } from "../../errors/index.ts";
import { invalidField, pathText } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import type { ChatMessage } from "../schema.ts";

/** Maximum size of one file, decoded. */
export const MAX_FILE_BYTES = 26_214_400;
/** Maximum number of files in a request: each is a job of the reader. */
export const MAX_FILES = 100;

type Part = Exclude<Extract<ChatMessage, { role: "user" }>["content"], string>[number];
export type FilePartBody = Extract<Part, { type: "file" }>;

/** A file of a message that is replaced by its text. */
export interface FilePart {
	/** Index of its message, and of the part in the message's content. */
	readonly message: number;
	readonly part: number;
	/** "" if the caller gave none. */
	readonly name: string;
	/** A `data:` URL, or an address. */
	readonly source: string;
}

/** The sizes of a file, known before it is read. */
export interface FileContents {
	readonly isAddress: boolean;
	/** Size of its data in the body. */
	readonly dataBytes: number;
	/** Size of the decoded file. */
	readonly fileBytes: number;
	readonly isPdf: boolean;
}

/**
 * Checks the form and the size of a file part without reading it.
 * @throws ApiError INVALID_REQUEST and PAYLOAD_TOO_LARGE, naming the part
 */
export function checkFilePart({ file }: FilePartBody, at: readonly (string | number)[], long: LongStrings): FileContents {
	const path = [...at, "file", "file_data"];
	const { file_data: source } = file;
	const isPdf = /\.pdf$/i.test(file.filename ?? "") || /^data:application\/pdf[;,]/i.test(source);
	if (/^https?:\/\//i.test(source)) {
		if (!URL.canParse(source)) throw invalidField(path, "must be a data: URL with base64, or an http(s) URL");
		return { isAddress: true, dataBytes: source.length, fileBytes: 0, isPdf };
	}
	const comma = source.indexOf(",");
	if (comma < 0 || comma > 512 || !/^data:[^,]*;base64$/i.test(source.slice(0, comma)))
		throw invalidField(path, "must be a data: URL with base64, or an http(s) URL");
	const dataBytes = long.bytesOf(source);
	const fileBytes = Math.floor(((dataBytes - comma - 1) * 3) / 4);
	// Padding encodes no bytes.
	if (fileBytes > MAX_FILE_BYTES + 2) throw tooLarge(path);
	return { isAddress: false, dataBytes, fileBytes, isPdf };
}

export function tooLarge(path: readonly (string | number)[]): ApiError {
	return new ApiError("PAYLOAD_TOO_LARGE", {
		message: `${pathText(path)}: the file is over the limit of ${MAX_FILE_BYTES} bytes`,
		param: pathText(path),
	});
}
