import type { Requester } from "../../fairness/index.ts";

/** The interface that extracts the text of files. */
export interface DocumentReader {
	/**
	 * Returns a file's text: Markdown if it has structure. The bytes are released when this settles.
	 * @param name decides the type if the content alone does not
	 * @throws {ApiError} INVALID_REQUEST if the file gives no text, with the reason; SERVICE_UNAVAILABLE if too many wait; the
	 * reason of the requester's signal
	 */
	read(bytes: Uint8Array, name: string, requester: Requester): Promise<string>;
}
