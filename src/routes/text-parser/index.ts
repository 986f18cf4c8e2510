/**
 * POST /augment/text-parser: a file's text, or a 400 that says what is wrong with the file. Only a text is charged.
 * Files are never written to disk, logged or stored.
 */
import Type from "typebox";
import { type Endpoint, metered } from "../../server/endpoint.ts";
import { admitFile, type TextParserDeps } from "./parse.ts";
import { TextParserAnswerSchema, type TextParserBody, TextParserSchema } from "./schema.ts";

const MAX_FILE_BYTES = 26_214_400;
/** The overhead of a form. */
const FORM_BYTES = 65_536;

export function textParser(parts: TextParserDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/augment/text-parser",
		name: "text-parser",
		tag: "Documents",
		summary: "Text of a file",
		description:
			"A form with a file of up to 25 MiB: PDF, DOCX, PPTX, XLSX, ODT, ODS, ODP, DOC, RTF, EPUB, EML, HTML, or text of any kind and encoding. The type is told by the content.",
		openAi: false,
		callers: ["key", "wallet"],
		body: {
			schema: TextParserSchema,
			maxBytes: MAX_FILE_BYTES + FORM_BYTES,
			form: { file: "file", maxFileBytes: MAX_FILE_BYTES },
		},
		codes: ["SERVICE_UNAVAILABLE"],
		answer: {
			type: "application/json",
			schema: TextParserAnswerSchema,
			description: "The text. With `text` it is sent as text/plain",
			others: { "text/plain": Type.String() },
		},
		mayBeFree: () => parts.config().documents.pricePerFileUsd === 0,
		minuteWindow: () => ({
			subject: "text-parser",
			limit: { requestsPerMinute: parts.config().limits.augmentRequestsPerMinute },
		}),
		admit: (input, call) => admitFile({ ...input, body: input.body as TextParserBody }, call, parts),
	});
}

export type { TextParserDeps } from "./parse.ts";
