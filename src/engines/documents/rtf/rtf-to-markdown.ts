import { blocks } from "../markdown.ts";
import { RtfReader } from "./rtf-reader.ts";
import { readRtf } from "./rtf-tokens.ts";

/**
 * Converts an RTF document to Markdown: headers, body with its notes, tables and boxes, footers.
 * @throws {DocumentFault}
 */
export function rtfToMarkdown(bytes: Uint8Array): string {
	const reader = new RtfReader();
	readRtf(bytes, reader);
	return blocks(reader.end());
}
