import { ownAddress, type ProviderName, providerDefinition } from "./providers.ts";
import type { Config, ConfigInput, UpstreamConfig } from "./schema.ts";

type UpstreamInput = ConfigInput["upstreams"][string];

/** An error in one upstream's entry, with its path and the expectation. */
export class UpstreamFault extends Error {
	override readonly name = "UpstreamFault";
	/** The path below `upstreams`. */
	readonly path: string;

	constructor(path: string, expected: string) {
		super(`expected ${expected}`);
		this.path = path;
	}
}

/**
 * Returns the configuration with every upstream's address; a provider's own if none is given.
 * @throws {UpstreamFault}
 */
export function withCompleteUpstreams(config: ConfigInput): Config {
	const upstreams = Object.entries(config.upstreams).map(([name, upstream]) => [name, completeUpstream(name, upstream)] as const);
	return { ...config, upstreams: Object.fromEntries(upstreams) };
}

function completeUpstream(name: string, upstream: UpstreamInput): UpstreamConfig {
	const { provider, url, options = {} } = upstream;
	if (provider === undefined) {
		if (url === undefined) throw new UpstreamFault(name, "a url, or the name of a provider");
		if (Object.keys(options).length > 0) throw new UpstreamFault(`${name}.options`, "a provider that takes them");
		return { ...upstream, url };
	}
	checkOptions(name, provider, upstream);
	// Providers list models in their own way, or not at all, so entries name the models to sell.
	return { ...upstream, url: url ?? ownAddress(provider, options), discover: false };
}

function checkOptions(name: string, provider: ProviderName, { key, url, options = {} }: UpstreamInput): void {
	const definition = providerDefinition(provider);
	const optionNames = Object.keys(definition.options);
	for (const option of Object.keys(options)) {
		if (optionNames.includes(option)) continue;
		throw new UpstreamFault(
			`${name}.options.${option}`,
			optionNames.length > 0 ? `one of ${optionNames.join(", ")}` : `no options: ${provider} takes none`,
		);
	}
	const presentOptions = new Set(Object.keys(options));
	if (key !== undefined) presentOptions.add("key");
	if (url !== undefined) presentOptions.add("url");
	if (definition.needs.some((set) => set.every((need) => presentOptions.has(need)))) return;
	const sets = definition.needs.map((set) =>
		set.map((need) => (need in definition.options ? `options.${need}` : need)).join(", "),
	);
	throw new UpstreamFault(name, `${sets.join("; or ")} for the provider ${provider}`);
}
