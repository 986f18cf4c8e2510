import type { ProviderName } from "../../config/providers.ts";
import type { UpstreamConfig } from "../../config/schema.ts";

/** An upstream's entry with a provider. */
export type ProviderUpstream = UpstreamConfig & { provider: ProviderName };

export function isProviderUpstream(config: UpstreamConfig): config is ProviderUpstream {
	return config.provider !== undefined;
}
