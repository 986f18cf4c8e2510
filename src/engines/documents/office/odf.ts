import { DocumentFault } from "../document-fault.ts";
import { MAX_SHEETS } from "../limits.ts";
import { blocks, heading, oneLine } from "../markdown.ts";
import { attribute, child, descendants, elements, type MarkupElement, textOf } from "../markup/markup-tree.ts";
import type { ZipArchive } from "../zip/zip-archive.ts";
import { OdfBody } from "./odf-body.ts";
import { partRoot } from "./ooxml-package.ts";

const NOTHING: MarkupElement = { name: "", attributes: {}, children: [] };

/**
 * Converts an OpenDocument text, sheet or presentation (ISO/IEC 26300) to Markdown.
 * @throws {DocumentFault} if it has a password
 */
export function odfToMarkdown(zip: ZipArchive): string {
	const manifest = partRoot(zip, "META-INF/manifest.xml");
	if (manifest !== null && descendants(manifest, "encryption-data").length > 0)
		throw new DocumentFault("encrypted", "The file is protected by a password");
	const content = partRoot(zip, "content.xml");
	if (content === null || child(content, "body") === undefined)
		throw new DocumentFault("corrupt", "The file is damaged: it lacks the part that its text is in");
	return odfRootToMarkdown(content, partRoot(zip, "styles.xml"));
}

/**
 * Converts the root of a document.
 * @param styles the root of the part with page headers and footers: the same one in a flat file
 */
export function odfRootToMarkdown(content: MarkupElement, styles: MarkupElement | null): string {
	const body = child(content, "body") ?? NOTHING;
	const reader = new OdfBody([content, ...(styles === null ? [] : [styles])]);
	const masters = styles === null ? [] : descendants(styles, "master-page");
	const repeated = (name: string) => [
		...new Set(
			masters.flatMap((master) => elements(master).flatMap((part) => (part.name === name ? [reader.blocks(part)] : []))),
		),
	];
	return blocks([
		...repeated("header"),
		...elements(body).map((part) =>
			part.name === "spreadsheet"
				? sheets(part, reader)
				: part.name === "presentation"
					? slides(part, reader)
					: reader.blocks(part),
		),
		...repeated("footer"),
	]);
}

function sheets(spreadsheet: MarkupElement, reader: OdfBody): string {
	const tables = elements(spreadsheet).filter(({ name }) => name === "table");
	if (tables.length > MAX_SHEETS) throw new DocumentFault("too-large", `The file has more than ${MAX_SHEETS} sheets`);
	return blocks(
		tables.flatMap((sheet) => {
			const shapes = child(sheet, "shapes");
			return [
				heading(2, attribute(sheet, "name") ?? ""),
				...reader.table(sheet),
				shapes === undefined ? "" : reader.blocks(shapes),
			];
		}),
	);
}

function slides(presentation: MarkupElement, reader: OdfBody): string {
	const pages = elements(presentation).filter(({ name }) => name === "page");
	const footers = elements(presentation).flatMap((part) => (part.name === "footer-decl" ? [textOf(part)] : []));
	return blocks([
		...pages.map((page, index) => {
			const frames = elements(page);
			const title = frames.find((frame) => attribute(frame, "class") === "title");
			const text = title === undefined ? "" : oneLine(reader.blocks(title));
			const rest = frames.filter((frame) => frame !== title && frame.name !== "notes");
			const notes = child(page, "notes");
			const noted = notes === undefined ? "" : reader.blocks(notes);
			return blocks([
				heading(2, `Slide ${index + 1}${text === "" ? "" : `: ${text}`}`),
				...rest.map((frame) => reader.blocks({ name: "", attributes: {}, children: [frame] })),
				noted === "" ? "" : noted.replace(/^/, "Notes: ").replaceAll(/^/gm, "> "),
			]);
		}),
		...new Set(footers),
	]);
}
