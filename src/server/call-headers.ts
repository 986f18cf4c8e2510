import { headerText } from "../wire/index.ts";
import type { Call } from "./call.ts";

/**
 * Sets the headers that name the answering model, and its deprecation where it has one (`Catalog.deprecationHeaders`).
 */
export function recordModel(
	call: Call,
	{ id, name }: { readonly id: string; readonly name: string },
	deprecation: Readonly<Record<string, string>>,
): void {
	Object.assign(call.headers, deprecation);
	call.headers["x-service-model-id"] = headerText(id);
	call.headers["x-service-model-name"] = headerText(name);
}

/** Names at most this many ignored parts; the rest is only counted. */
const MAX_NAMES = 20;
/** Bounds the header, since the caller chooses the names in it. */
const MAX_CHARS = 1_000;

/** Sets a header that names the ignored parts of a request, like `tools[3] (image_generation)`. */
export function reportIgnored(call: Call, ignored: readonly string[]): void {
	if (ignored.length === 0) return;
	const names = ignored.slice(0, MAX_NAMES);
	if (ignored.length > names.length) names.push(`and ${ignored.length - names.length} more`);
	call.headers["x-service-ignored"] = headerText(names.join(", ").slice(0, MAX_CHARS));
}
