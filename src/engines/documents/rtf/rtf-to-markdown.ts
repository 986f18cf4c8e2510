import { blocks } from "../markdown.ts";
import { RtfReader } from "./rtf-reader.ts";
import { readRtf } from "./rtf-tokens.ts";

/** An RTF document as Markdown: headers, body with its notes, tables and boxes, footers. Throws DocumentFault. */
export function rtfToMarkdown(bytes: Uint8Array): string {
	const reader = new RtfReader();
	readRtf(bytes, reader);
	return blocks(reader.end());
}
