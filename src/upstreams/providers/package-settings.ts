import type { PackageFetch } from "./provider-fetch.ts";

/** What every package takes. */
export interface PackageSettings {
	readonly apiKey: string;
	/** Absent where the package knows one address only, or finds it by itself. */
	readonly baseURL?: string;
	readonly headers: Record<string, string>;
	readonly fetch: PackageFetch;
}
