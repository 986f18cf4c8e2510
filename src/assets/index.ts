/**
 * Weights and helper programs: fetched, checked and kept. Promises: a path that is handed out holds the whole
 * file with the listed sha256; one fetch of an asset at a time, across processes; a source that fails leaves
 * its reason. Never runs what it fetched, never names a registry's host: that is its client's business.
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
