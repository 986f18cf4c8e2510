import { ownAddress } from "../../config/index.ts";
import type { Fetch } from "../fetch.ts";
import { lowerCasedNames } from "../node.ts";
import { type ModelMakers, PACKAGES } from "./packages.ts";
import { providerFetch } from "./provider-fetch.ts";
import type { ProviderUpstream } from "./provider-upstream.ts";

/**
 * The provider of an upstream's entry: its package, loaded at first use, with the entry's key, address and headers,
 * and our own fetch in it. Nothing is taken from the environment. Makers of what it does not offer are absent.
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
