/** Locates settings: the flag, the variable, or the file and line that an operator has to correct. */
import { createRequire } from "node:module";
import type { Document, ParsedNode } from "yaml";
import { pathText } from "../schema/index.ts";

/** Loads the parser only if there is a file to parse, because it takes some megabytes. */
export function yaml(): typeof import("yaml") {
	return createRequire(import.meta.url)("yaml");
}

export interface SettingPlacesOptions {
	/** The absolute path of the file and its text; null if there is none. */
	readonly file: { readonly path: string; readonly text: string } | null;
	/** Path of a setting -> the flag or variable that set it. */
	readonly sources?: ReadonlyMap<string, string>;
}

/** Locates settings. It parses the file again, because places are needed only for errors. */
export class SettingPlaces {
	readonly #file: SettingPlacesOptions["file"];
	readonly #sources: ReadonlyMap<string, string>;

	constructor({ file, sources = new Map() }: SettingPlacesOptions) {
		this.#file = file;
		this.#sources = sources;
	}

	/**
	 * Returns the flag or variable that set a setting; otherwise file, line, column and path, like `/etc/turnpike.yaml:3:9:
	 * server.port`. A missing setting has the place of the nearest one around it.
	 */
	of(path: string): string {
		const source = this.#sources.get(path);
		if (source !== undefined) return source;
		if (this.#file === null) return `environment: ${path}`;
		return `${this.#file.path}${this.#lineOf(path)}: ${path}`;
	}

	#lineOf(path: string): string {
		const { LineCounter, parseDocument } = yaml();
		const lines = new LineCounter();
		try {
			const document = parseDocument(this.#file?.text ?? "", { lineCounter: lines });
			const offset = offsetOf(document, document.contents, path);
			if (offset === undefined) return "";
			const { line, col } = lines.linePos(offset);
			return `:${line}:${col}`;
		} catch {
			// The file is nested deeper than the stack, so the message has only the path.
			return "";
		}
	}
}

/** Returns a path in one line, whatever its names contain. */
export function shownPath(path: readonly (string | number)[]): string {
	return pathText(path)
		.slice(0, 300)
		.replace(/[\p{Cc}\u2028\u2029]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Returns the offset of the value at a path, or of the deepest existing setting on the way to it; undefined if there is none.
 */
function offsetOf(document: Document.Parsed, node: ParsedNode | null, path: string): number | undefined {
	const { isAlias, isMap, isSeq } = yaml();
	const value = isAlias(node) ? node.resolve(document) : node;
	if (isMap<ParsedNode, ParsedNode | null>(value)) {
		// A name may contain dots and be the prefix of another; the longest match wins.
		const members = value.items.flatMap((pair) => {
			const rest = restBehind(path, keyOf(pair.key));
			return rest === null ? [] : [{ pair, rest }];
		});
		members.sort((a, b) => a.rest.length - b.rest.length);
		const [longestMatch] = members;
		if (longestMatch === undefined) return undefined;
		return offsetOf(document, longestMatch.pair.value, longestMatch.rest) ?? longestMatch.pair.key.range[0];
	}
	if (isSeq<ParsedNode>(value)) {
		const [, index, rest = ""] = /^\[(\d+)\]\.?(.*)$/s.exec(path) ?? [];
		const item = index === undefined ? undefined : value.items[Number(index)];
		if (item === undefined) return undefined;
		return offsetOf(document, item, rest) ?? item.range[0];
	}
	return undefined;
}

function keyOf(key: ParsedNode): string {
	const { isScalar } = yaml();
	return isScalar(key) ? shownPath([String(key.value)]) : "";
}

/** Returns the rest of a path behind a member's name; null if the path does not start with it. */
function restBehind(path: string, key: string): string | null {
	// A path writes a name of digits as an index.
	for (const name of [key, `[${key}]`]) {
		if (path === name) return "";
		if (name !== "" && path.startsWith(`${name}.`)) return path.slice(name.length + 1);
		if (name !== "" && path.startsWith(`${name}[`)) return path.slice(name.length);
	}
	return null;
}
