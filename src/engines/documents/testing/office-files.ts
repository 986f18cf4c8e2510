/** Files of Office, written part by part, and the text that is read from them. */
import { zipFile } from "../../../../test/support/zip-file.ts";
import { extractText } from "../extract.ts";

export const read = (content: string | Uint8Array, name = "file") =>
	extractText(typeof content === "string" ? new TextEncoder().encode(content) : content, name, { readScan: null });

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

export const relations = (list: readonly (readonly [id: string, type: string, target: string, external?: boolean])[]) =>
	`<Relationships>${list.map(([id, type, target, external]) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${external ? ' TargetMode="External"' : ""}/>`).join("")}</Relationships>`;

export function docx(
	body: string,
	parts: Readonly<Record<string, string>> = {},
	own: Parameters<typeof relations>[0] = [],
): Uint8Array {
	return zipFile({
		"_rels/.rels": relations([["r1", "officeDocument", "word/document.xml"]]),
		"word/_rels/document.xml.rels": relations(own),
		"word/document.xml": `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
		...parts,
	});
}

export const p = (inner: string, properties = "") =>
	`<w:p>${properties === "" ? "" : `<w:pPr>${properties}</w:pPr>`}${inner}</w:p>`;

export const t = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
