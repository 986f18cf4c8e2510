import { posix } from "node:path";
import { DocumentFault } from "../document-fault.ts";
import { MAX_PAGES } from "../limits.ts";
import { blocks, heading, oneLine } from "../markdown.ts";
import { htmlToMarkdown } from "../markup/html-to-markdown.ts";
import { child, descendants, textOf } from "../markup/markup-tree.ts";
import type { ZipArchive } from "../zip/zip-archive.ts";
import { partRoot } from "./ooxml-package.ts";

/** Obfuscated fonts are no protection of the text (EPUB 3.3, 4.4). */
const FONT_METHODS = /idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc/;

const corrupt = () => new DocumentFault("corrupt", "The file is damaged: it does not say where its chapters are");

/** Converts a book (EPUB 3.3): title, author, and its chapters in reading order. */
export function epubToMarkdown(zip: ZipArchive): string {
	refuseProtected(zip);
	const container = partRoot(zip, "META-INF/container.xml");
	const packageName = container === null ? undefined : descendants(container, "rootfile")[0]?.attributes["full-path"];
	const root = packageName === undefined ? null : partRoot(zip, packageName);
	if (root === null || packageName === undefined) throw corrupt();
	const folder = posix.dirname(packageName);
	const files = new Map(descendants(root, "item").map(({ attributes }) => [attributes.id, attributes.href]));
	const chapters = descendants(root, "itemref").flatMap(({ attributes }) => files.get(attributes.idref) ?? []);
	if (chapters.length > MAX_PAGES) throw new DocumentFault("too-large", `The file has more than ${MAX_PAGES} chapters`);
	const metadata = child(root, "metadata");
	const metadataTexts = (name: string) =>
		metadata === undefined ? [] : descendants(metadata, name).map((element) => oneLine(textOf(element)));
	const [title = ""] = metadataTexts("title");
	return blocks([
		title === "" ? "" : heading(1, title),
		metadataTexts("creator").join(", "),
		...chapters.map((href) => {
			const html = zip.text(posix.normalize(posix.join(folder, decodePath(href.split("#", 1)[0] ?? ""))));
			return html === null ? "" : htmlToMarkdown(html);
		}),
	]);
}

function refuseProtected(zip: ZipArchive): void {
	const root = partRoot(zip, "META-INF/encryption.xml");
	const methods = root === null ? [] : descendants(root, "EncryptionMethod");
	if (methods.some(({ attributes }) => !FONT_METHODS.test(attributes.Algorithm ?? "")))
		throw new DocumentFault("encrypted", "The book is protected by a licence (DRM)");
}

function decodePath(path: string): string {
	try {
		return decodeURIComponent(path);
	} catch {
		return path;
	}
}
