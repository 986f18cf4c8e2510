import { plainDate } from "../../wire/plain-date.ts";
import type { SearchResult } from "./port.ts";

const MAX_TITLE = 500;
const MAX_CONTENT = 8_000;

/** Returns the results of a provider's answer. Throws if the list is missing, unless `mayBeMissing` allows that. */
export function resultList(answer: unknown, value: unknown, mayBeMissing = false): ReturnType<typeof list> {
	const isObject = typeof answer === "object" && answer !== null && !Array.isArray(answer);
	if (isObject && (Array.isArray(value) || (mayBeMissing && (value === undefined || value === null)))) return list(value);
	throw new Error("its answer has no list of results");
}

/** Returns the objects of an array; empty if the value is no array. */
export function list(value: unknown): readonly Readonly<Record<string, unknown>>[] {
	if (!Array.isArray(value)) return [];
	return value.filter((item): item is Record<string, unknown> => typeof item === "object" && item !== null);
}

export function member(value: unknown, name: string): unknown {
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Returns a complete result in a list; an empty list if its address is no http(s) URL. */
export function searchResult(title: unknown, url: unknown, content: unknown, date: unknown): SearchResult[] {
	if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return [];
	const name = textOf(title, MAX_TITLE).replaceAll(/<[^>]*>/g, "");
	return [{ title: name || new URL(url).host, url, content: textOf(content, MAX_CONTENT), date: plainDate(textOf(date, 100)) }];
}

const textOf = (value: unknown, most: number): string =>
	typeof value === "string" ? value.slice(0, most).toWellFormed().trim() : "";
