import type { UrlCitation } from "../assistant-output.ts";
import type { WebSource } from "./web-sources.ts";

/** Matches the numbers of sources as a model is asked to write them: `^1^`, `^1,3^`. */
const MARK = /\^(\d{1,3}(?:\s{0,2},\s{0,2}\d{1,3}){0,20})\^/g;

/** Returns the sources that a text cites by number, each with the place of its mark. */
export function citedSources(text: string, sources: readonly WebSource[]): UrlCitation[] {
	if (sources.length === 0) return [];
	return [...text.matchAll(MARK)].flatMap(({ 0: mark, 1: numbers = "", index }) =>
		numbers.split(",").flatMap((number) => {
			const source = sources[Number(number) - 1];
			if (source === undefined) return [];
			const { url, title } = source;
			return { type: "url_citation" as const, url, title, start_index: index, end_index: index + mark.length };
		}),
	);
}
