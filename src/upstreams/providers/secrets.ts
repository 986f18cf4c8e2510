import { providerDefinition } from "../../config/providers.ts";
import type { UpstreamConfig } from "../../config/schema.ts";

/** What of an entry's options never stands in an error or a log. */
export function providerSecrets({ provider, options = {} }: UpstreamConfig): string[] {
	if (provider === undefined) return [];
	const kinds = providerDefinition(provider).options;
	return Object.entries(options).flatMap(([name, value]) => (kinds[name] === "secret" ? [value] : []));
}
