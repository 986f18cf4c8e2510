/**
 * Fetches, verifies and stores weights and helper programs. A returned path holds the whole file with the listed sha256; one
 * fetch of an asset runs at a time, across processes; each failed source leaves its reason. This module never runs what it
 * fetched and never names a registry's host, which is its client's business.
 */
export { checkAssets } from "./check.ts";
export { AssetError, type AssetErrorCode } from "./errors.ts";
export {
	type Asset,
	type AssetManifest,
	currentPlatform,
	loadManifest,
	type PackageSource,
	parseManifest,
	type UrlSource,
} from "./manifest.ts";
export { type ProgressDisplay, showProgress } from "./progress-bar.ts";
export { type AssetStatus, AssetStore, type AssetStoreOptions, type EnsureOptions } from "./store.ts";
