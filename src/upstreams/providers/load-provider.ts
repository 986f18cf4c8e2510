import { ownAddress } from "../../config/index.ts";
import type { Fetch } from "../fetch.ts";
import { lowerCasedNames } from "../upstream-server.ts";
import { type ModelMakers, PACKAGES } from "./packages.ts";
import { providerFetch } from "./provider-fetch.ts";
import type { ProviderUpstream } from "./provider-upstream.ts";

/**
 * Loads the package of an upstream's provider at first use, with the entry's key, address and headers, and our fetch.
 * Nothing is read from the environment. Kinds of models that the provider lacks are absent.
 */
export async function loadProvider(config: ProviderUpstream, { fetch }: { readonly fetch: Fetch }): Promise<ModelMakers> {
	const { provider, url, key = "", headers = {}, options = {} } = config;
	const entry = PACKAGES[provider];
	const isOwn = url === ownAddress(provider, options);
	const move = isOwn || entry.fixed === undefined ? undefined : { from: entry.fixed, to: url };
	const settings = {
		apiKey: key,
		...(isOwn && entry.findsAddress ? {} : { baseURL: url.replace(/\/+$/, "") }),
		headers: lowerCasedNames(headers),
		fetch: providerFetch(fetch, move),
	};
	return entry.load(settings, options);
}
