import { type ProviderName, providerDefinition } from "../../config/providers.ts";
import type { UpstreamConfig } from "../../config/schema.ts";

/** An upstream's entry with a provider. */
export type ProviderUpstream = UpstreamConfig & { provider: ProviderName };

export function isProviderUpstream(config: UpstreamConfig): config is ProviderUpstream {
	return config.provider !== undefined;
}

/** Returns the options of an entry that must not appear in errors or logs. */
export function providerSecrets({ provider, options = {} }: UpstreamConfig): string[] {
	if (provider === undefined) return [];
	const kinds = providerDefinition(provider).options;
	return Object.entries(options).flatMap(([name, value]) => (kinds[name] === "secret" ? [value] : []));
}
