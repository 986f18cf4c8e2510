import {
	callPrice,
	type EffectiveServiceParameters,
	type ServiceParameters,
	serviceParametersEcho,
	type TextModel,
} from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { MessageContents } from "./check-messages.ts";
import type { FilePart } from "./files/file-parts.ts";
import type { SourcePrice } from "./meter.ts";
import type { ChatBody } from "./schema.ts";
import type { WebSource } from "./web/web-sources.ts";

/** What has to be read or searched before the model is asked. */
export interface PreparationSettings {
	readonly files: readonly FilePart[];
	readonly search: EffectiveServiceParameters["enable_web_search"];
	readonly scraping: boolean;
	readonly cites: boolean;
}

/** Returns what must be read or searched; null if nothing must. */
export function preparationSettings({ files }: MessageContents, options: EffectiveServiceParameters): PreparationSettings | null {
	// The upstream's own search replaces ours.
	const search = options.enable_x_search ? "off" : options.enable_web_search;
	const scraping = options.enable_web_scraping;
	if (files.length === 0 && search === "off" && !scraping) return null;
	return { files, search, scraping, cites: options.enable_web_citations };
}

/** Maximum number of results of a search of X that are held for and charged. */
const MAX_X_RESULTS = 20;

/** Returns the price of a result that the model's provider finds on X. */
export function xResultPrice({ pricePerXResultUsd }: Pick<Config["web"], "pricePerXResultUsd">): SourcePrice {
	return { sku: "chat-x-search-result", picoPrice: callPrice(pricePerXResultUsd), atMost: MAX_X_RESULTS };
}

/**
 * Returns the options that the hosted tools of a request stand for. A tool that the model lacks is refused elsewhere.
 */
export function hostedOptions(tools: ChatBody["tools"], { capabilities }: Pick<TextModel, "capabilities">): ServiceParameters {
	const types = new Set((tools ?? []).flatMap((tool) => ("function" in tool ? [] : tool.type)));
	return {
		...(types.has("web_search") && { enable_web_search: "auto" as const }),
		...(types.has("x_search") && capabilities.supportsXSearch && { enable_x_search: true }),
	};
}

/**
 * Returns the echo in the first chunk of a stream, where something was read or searched, or the caller wants results
 * there. It has the content of sources only if the caller asked for it.
 */
export function streamEcho(
	options: EffectiveServiceParameters,
	web: { readonly sources: readonly WebSource[] } | null,
): ReturnType<typeof serviceParametersEcho> | null {
	const includesResults = options.include_search_results_in_stream;
	if (web === null) return includesResults ? serviceParametersEcho(options) : null;
	return serviceParametersEcho(
		options,
		includesResults ? web.sources : web.sources.map(({ title, url, date }) => ({ title, url, date })),
	);
}
