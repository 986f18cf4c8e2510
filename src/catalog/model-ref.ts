/** The suffix of a model reference: `name:key=value&key=value` or `name:web` (docs/models.md). */
import { ApiError } from "../errors/index.ts";
import { type ServiceParameters, WEB_SEARCH_MODES } from "./service-parameters.ts";

/** Longer references are invalid: ids are far shorter, and a suffix has eleven short options. */
export const MAX_MODEL_REF = 2048;

export interface SplitModelRef {
	readonly name: string;
	readonly suffix: ServiceParameters;
}

type Reader = (value: string) => ServiceParameters | undefined;

const asFlag =
	(key: keyof ServiceParameters): Reader =>
	(value) =>
		value === "true" || value === "false" ? { [key]: value === "true" } : undefined;

const READERS: ReadonlyMap<string, { readonly read: Reader; readonly expected: string }> = new Map([
	...(
		[
			"strip_thinking_response",
			"disable_thinking",
			"enable_e2ee",
			"enable_web_scraping",
			"enable_web_citations",
			"include_search_results_in_stream",
			"return_search_results_as_documents",
			"include_service_system_prompt",
			"enable_x_search",
		] as const
	).map((key) => [key, { read: asFlag(key), expected: "true or false" }] as const),
	["enable_web_search", { read: readSearchMode, expected: WEB_SEARCH_MODES.join(", ") }] as const,
	["character_slug", { read: readSlug, expected: "the slug of a character" }] as const,
]);

/**
 * Splits at the last `:` that is followed by `web` or at least one pair with a known key.
 * @returns undefined if there is no such suffix: the whole text is a name
 * @throws {ApiError} INVALID_REQUEST for a bad value, and for an unknown key beside a known one
 */
export function splitModelRef(ref: string): SplitModelRef | undefined {
	const colon = ref.lastIndexOf(":");
	if (colon <= 0) return undefined;
	const name = ref.slice(0, colon);
	const tail = ref.slice(colon + 1);
	if (tail === "web") return { name, suffix: { enable_web_search: "on" } };
	const pairs = tail.split("&").map(splitPair);
	if (!pairs.some(({ key, value }) => value !== undefined && READERS.has(key))) return undefined;
	const suffix: ServiceParameters = {};
	for (const { key, value } of pairs) Object.assign(suffix, readPair(key, value));
	return { name, suffix };
}

function splitPair(pair: string): { key: string; value: string | undefined } {
	const equals = pair.indexOf("=");
	return equals < 0 ? { key: pair, value: undefined } : { key: pair.slice(0, equals), value: pair.slice(equals + 1) };
}

function readPair(key: string, value: string | undefined): ServiceParameters {
	const reader = READERS.get(key);
	if (!reader) throw badSuffix(`unknown option "${key.slice(0, 60)}" in the suffix`);
	const decoded = value === undefined ? undefined : percentDecoded(value);
	const option = decoded === undefined ? undefined : reader.read(decoded);
	if (!option) throw badSuffix(`${key} must be ${reader.expected}`);
	return option;
}

function percentDecoded(value: string): string | undefined {
	try {
		return decodeURIComponent(value);
	} catch {
		return undefined;
	}
}

function readSearchMode(value: string): ServiceParameters | undefined {
	const mode = WEB_SEARCH_MODES.find((known) => known === value);
	return mode && { enable_web_search: mode };
}

function readSlug(value: string): ServiceParameters | undefined {
	return value.length > 0 && value.length <= 200 ? { character_slug: value } : undefined;
}

function badSuffix(problem: string): ApiError {
	return new ApiError("INVALID_REQUEST", {
		message: `model: ${problem}`,
		param: "model",
		issues: [{ path: ["model"], code: "invalid_suffix", message: problem }],
	});
}
