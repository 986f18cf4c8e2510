import { CatalogError } from "../catalog/index.ts";
import { ConfigError, SettingError, type SettingPlaces } from "../config/index.ts";

/** Returns the configuration error with the file and line of the setting; null for any other error. */
export function configFaultText(error: unknown, places: SettingPlaces): string | null {
	if (error instanceof SettingError) return `${places.of(error.path)}: ${error.problem}`;
	if (error instanceof CatalogError && error.source === "config") return `${places.of(error.path)}: ${error.problem}`;
	return error instanceof ConfigError || error instanceof CatalogError ? error.message : null;
}

/** Puts the place of a setting before a text that begins with the setting's path, like `x402.payTo: ...`. */
export function placedText(text: string, places: SettingPlaces): string {
	const [path] = /^[a-z0-9]+(\.[A-Za-z0-9_-]+)+(?=: )/.exec(text) ?? [];
	return path === undefined ? text : `${places.of(path)}${text.slice(path.length)}`;
}
