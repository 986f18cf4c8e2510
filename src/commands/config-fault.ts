import { CatalogError } from "../catalog/index.ts";
import { ConfigError, SettingError, type SettingPlaces } from "../config/index.ts";

/** What is wrong with the configuration, with the file and the line where a setting is at fault; null for another error. */
export function configFaultText(error: unknown, places: SettingPlaces): string | null {
	if (error instanceof SettingError) return `${places.of(error.path)}: ${error.problem}`;
	if (error instanceof CatalogError && error.source === "config") return `${places.of(error.path)}: ${error.problem}`;
	return error instanceof ConfigError || error instanceof CatalogError ? error.message : null;
}

/** A text that begins with the setting it speaks of, as `x402.payTo: ...`, with the place of that setting before it. */
export function placedText(text: string, places: SettingPlaces): string {
	const [path] = /^[a-z0-9]+(\.[A-Za-z0-9_-]+)+(?=: )/.exec(text) ?? [];
	return path === undefined ? text : `${places.of(path)}${text.slice(path.length)}`;
}
