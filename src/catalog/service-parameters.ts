/**
 * `service_parameters`: options of this service beside OpenAI's, from the body or from the suffix of a model reference
 * (docs/chat.md).
 */

import Type, { type Static } from "typebox";
import { ApiError } from "../errors/index.ts";
import { named } from "../schema/named-schema.ts";

export const WEB_SEARCH_MODES = ["off", "on", "auto"] as const;

const flag = (fallback: boolean, description: string) => Type.Optional(Type.Boolean({ default: fallback, description }));

/** Unknown keys are ignored. */
export const ServiceParametersSchema = Type.Object({
	character_slug: Type.Optional(
		Type.String({ minLength: 1, maxLength: 200, description: "A character of GET /characters whose prompt leads the chat" }),
	),
	strip_thinking_response: flag(false, "Removes think blocks from the answer's content"),
	disable_thinking: flag(false, "Asks the model not to reason, and removes think blocks"),
	enable_e2ee: flag(true, "Encrypts the chat end to end if the request has the headers for it"),
	enable_web_search: Type.Optional(Type.Enum([...WEB_SEARCH_MODES], { default: "off" })),
	enable_web_scraping: flag(false, "Reads the URLs of the latest user message"),
	enable_web_citations: flag(false, "Asks the model to cite its web sources"),
	include_search_results_in_stream: flag(false, "Sends search results in the first chunk of a stream"),
	return_search_results_as_documents: flag(false, "Adds search results as a tool call"),
	include_service_system_prompt: flag(true, "Puts the service's own system prompt, if it has one, before the caller's"),
	enable_x_search: flag(false, "Provider-native web and social search"),
});

export type ServiceParameters = Static<typeof ServiceParametersSchema>;

/** Every option with its value; only the character may be absent. */
export type EffectiveServiceParameters = Readonly<Required<Omit<ServiceParameters, "character_slug">>> & {
	readonly character_slug?: string;
};

export const SERVICE_PARAMETER_DEFAULTS: EffectiveServiceParameters = Object.freeze({
	strip_thinking_response: false,
	disable_thinking: false,
	enable_e2ee: true,
	enable_web_search: "off",
	enable_web_scraping: false,
	enable_web_citations: false,
	include_search_results_in_stream: false,
	return_search_results_as_documents: false,
	include_service_system_prompt: true,
	enable_x_search: false,
});

/** Merges the options: the body overrides the suffix, the suffix overrides the defaults. Unknown keys have no effect. */
export function mergeServiceParameters(
	body: ServiceParameters | undefined,
	suffix: ServiceParameters,
): EffectiveServiceParameters {
	return { ...SERVICE_PARAMETER_DEFAULTS, ...suffix, ...body };
}

/** The web features that the service and the chosen model both support. */
export interface WebFeatures {
	readonly webSearch: boolean;
	readonly webScraping: boolean;
	readonly xSearch: boolean;
}

/**
 * Returns the options within the supported features: `enable_web_search: "auto"` becomes off; an explicitly requested feature
 * is refused (docs/chat.md).
 * @throws {ApiError} INVALID_REQUEST
 */
export function withinFeatures(options: EffectiveServiceParameters, features: WebFeatures): EffectiveServiceParameters {
	if (options.enable_x_search && !features.xSearch) throw missing("enable_x_search", "X search");
	if (options.enable_web_scraping && !features.webScraping) throw missing("enable_web_scraping", "reading web pages");
	if (features.webSearch || options.enable_web_search === "off") return options;
	if (options.enable_web_search === "on") throw missing("enable_web_search", "web search");
	return { ...options, enable_web_search: "off" };
}

function missing(option: keyof ServiceParameters, feature: string): ApiError {
	const message = `service_parameters.${option}: ${feature} is not available for this model here; leave the option out`;
	return new ApiError("INVALID_REQUEST", {
		message,
		param: `service_parameters.${option}`,
		issues: [{ path: ["service_parameters", option], code: "unsupported", message }],
	});
}

/** A source of the answer (docs/chat.md). */
const CitationSchema = named(
	"WebCitation",
	Type.Object({
		title: Type.String(),
		url: Type.String(),
		content: Type.Optional(Type.String()),
		date: Type.Optional(Type.String()),
	}),
);
export type Citation = Static<typeof CitationSchema>;

export const ServiceParametersEchoSchema = named(
	"ServiceParametersEcho",
	Type.Object({
		enable_e2ee: Type.Boolean(),
		enable_web_search: Type.Enum([...WEB_SEARCH_MODES]),
		enable_web_citations: Type.Boolean(),
		enable_web_scraping: Type.Boolean(),
		include_service_system_prompt: Type.Boolean(),
		include_search_results_in_stream: Type.Boolean(),
		return_search_results_as_documents: Type.Boolean(),
		strip_thinking_response: Type.Boolean(),
		disable_thinking: Type.Boolean(),
		character_slug: Type.Optional(Type.String()),
		web_search_citations: Type.Array(CitationSchema),
	}),
);
export type ServiceParametersEcho = Static<typeof ServiceParametersEchoSchema>;

/** Returns the `service_parameters` member of an answer. `enable_x_search` is not part of it. */
export function serviceParametersEcho(
	options: EffectiveServiceParameters,
	citations: readonly Citation[] = [],
): ServiceParametersEcho {
	return {
		enable_e2ee: options.enable_e2ee,
		enable_web_search: options.enable_web_search,
		enable_web_citations: options.enable_web_citations,
		enable_web_scraping: options.enable_web_scraping,
		include_service_system_prompt: options.include_service_system_prompt,
		include_search_results_in_stream: options.include_search_results_in_stream,
		return_search_results_as_documents: options.return_search_results_as_documents,
		strip_thinking_response: options.strip_thinking_response,
		disable_thinking: options.disable_thinking,
		...(options.character_slug !== undefined && { character_slug: options.character_slug }),
		web_search_citations: [...citations],
	};
}
