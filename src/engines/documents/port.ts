import type { Requester } from "../../fairness/index.ts";

/** Reading the text of files: what routes hand in and get. */
export interface DocumentReader {
	/**
	 * A file's text: Markdown where it has structure. The bytes are let go of when this settles.
	 * @param name tells the type where the content alone does not
	 * @throws ApiError INVALID_REQUEST where the file gives no text, with a message that says why; SERVICE_UNAVAILABLE where
	 * too much waits; what the requester's signal aborts with
	 */
	read(bytes: Uint8Array, name: string, requester: Requester): Promise<string>;
}
