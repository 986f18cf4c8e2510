import type { PackageFetch } from "./provider-fetch.ts";

/** The settings of every package. */
export interface PackageSettings {
	readonly apiKey: string;
	/** Absent if the package knows only one address, or finds it by itself. */
	readonly baseURL?: string;
	readonly headers: Record<string, string>;
	readonly fetch: PackageFetch;
}
