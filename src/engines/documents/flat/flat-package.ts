import { Parser } from "htmlparser2";
import { DocumentFault } from "../document-fault.ts";
import { MAX_ZIP_ENTRIES } from "../limits.ts";
import { refuseCutOff } from "../markup/cut-off.ts";
import type { PackageParts } from "../office/package-parts.ts";

/** The place of a part's content in the file. */
interface FlatPart {
	readonly name: string;
	readonly isBinary: boolean;
	readonly from: number;
	readonly to: number;
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

/**
 * An Office document of 2007 and later as one XML file (Flat OPC). Its parts follow each other, XML parts unchanged, others in
 * base64.
 */
export class FlatPackage implements PackageParts {
	readonly #xml: string;
	readonly #parts: ReadonlyMap<string, FlatPart>;

	/** @throws DocumentFault */
	constructor(xml: string) {
		this.#xml = xml;
		refuseCutOff(xml);
		const parts = partsOf(xml);
		if (parts.length > MAX_ZIP_ENTRIES) throw new DocumentFault("too-large", `The file has more than ${MAX_ZIP_ENTRIES} parts`);
		this.#parts = new Map(parts.map((part) => [part.name.toLowerCase(), part]));
	}

	names(): string[] {
		return [...this.#parts.values()].map(({ name }) => name);
	}

	has(name: string): boolean {
		return this.#parts.has(name.toLowerCase());
	}

	read(name: string): Buffer | null {
		const part = this.#parts.get(name.toLowerCase());
		if (part === undefined) return null;
		return Buffer.from(this.#xml.slice(part.from, part.to), part.isBinary ? "base64" : "utf8");
	}

	text(name: string): string | null {
		const part = this.#parts.get(name.toLowerCase());
		if (part === undefined) return null;
		const content = this.#xml.slice(part.from, part.to);
		return part.isBinary ? Buffer.from(content, "base64").toString("utf8") : content;
	}
}

/** `<part name="/word/document.xml"><xmlData>...</xmlData></part>`, one after the other in the root element. */
function partsOf(xml: string): FlatPart[] {
	const parts: FlatPart[] = [];
	let depth = 0;
	let name = "";
	let from = -1;
	const parser = new Parser(
		{
			onopentag(tag, attributes) {
				depth += 1;
				const local = localName(tag);
				if (depth === 2 && local === "part") name = nameOf(attributes);
				if (depth === 3 && /^(xmlData|binaryData)$/.test(local)) from = parser.endIndex + 1;
			},
			onclosetag(tag) {
				if (depth === 3 && from >= 0 && name !== "")
					parts.push({ name, isBinary: localName(tag) === "binaryData", from, to: Math.max(from, parser.startIndex) });
				if (depth === 3) from = -1;
				depth -= 1;
			},
		},
		{ xmlMode: true },
	);
	parser.end(xml);
	return parts;
}

function nameOf(attributes: Readonly<Record<string, string>>): string {
	const [, name = ""] = Object.entries(attributes).find(([key]) => localName(key) === "name") ?? [];
	return name.replaceAll("\\", "/").replace(/^\/+/, "");
}
