import { fileURLToPath } from "node:url";
import Value from "typebox/value";
import { type Config, ConfigSchema, withCompleteUpstreams } from "../../config/index.ts";
import type { CatalogSources } from "../drafts.ts";
import { loadCatalogData } from "../load-data.ts";
import type { DiscoveredModel } from "../types.ts";

/** The real data files. */
export const DATA_DIR = fileURLToPath(new URL("../../../catalog", import.meta.url));
export const data = loadCatalogData(DATA_DIR);

/** A configuration as the loader would give it: checked, defaults filled in. */
export function configOf(written: Record<string, unknown> = {}): Config {
	return withCompleteUpstreams(Value.Parse(ConfigSchema, Value.Default(ConfigSchema, written)));
}

/** What an upstream lists that tells nothing but ids. */
export function listed(...ids: string[]): DiscoveredModel[] {
	return ids.map((id) => ({ id, type: "text", created: null, contextTokens: null, maxCompletionTokens: null }));
}

/** Inputs of a catalog with the real data files and a running built-in engine. */
export function inputsOf(
	written: Record<string, unknown> = {},
	discovered: Record<string, DiscoveredModel[]> = {},
	more: Partial<CatalogSources> = {},
): CatalogSources {
	return { data, config: configOf(written), discovered: new Map(Object.entries(discovered)), embeddedAvailable: true, ...more };
}
