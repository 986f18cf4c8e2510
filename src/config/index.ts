/**
 * The configuration: one schema, its defaults, one loader. Precedence: command line, environment, file, defaults. Secrets are
 * never logged; an unknown key or a wrong value is a ConfigError with its place.
 */

export { withCompleteUpstreams } from "./complete-upstreams.ts";
export { ConfigError, SettingError } from "./config-error.ts";
export { dialectOf } from "./dialect-of.ts";
export { type ConfigFlags, type Environment, type LoadedConfig, loadConfig } from "./load.ts";
export { LOG_LEVELS, type LogLevel } from "./observability-schema.ts";
export { type Offer, ownAddress, PROVIDER_NAMES, type ProviderName, providerDefinition } from "./providers.ts";
export {
	type Config,
	ConfigSchema,
	type ModelEntry,
	type RpcConfig,
	type RpcUpstreamConfig,
	type StakingConfig,
	type TierConfig,
	type UpstreamConfig,
	type X402Config,
} from "./schema.ts";
export { fileState } from "./secrets.ts";
export type { SettingPlaces } from "./setting-places.ts";
export { HIDDEN, shownConfig, shownUrl } from "./shown-config.ts";
export { hostAddresses } from "./store-address.ts";
export { BUILD, VERSION } from "./version.ts";
export { SOLANA_NETWORKS, X402_NETWORKS } from "./x402-schema.ts";
