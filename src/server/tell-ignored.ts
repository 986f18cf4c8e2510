import { headerText } from "../wire/index.ts";
import type { Call } from "./call.ts";

/** Of more parts than this, the rest is only counted. */
const MAX_TOLD = 20;
/** The names in it are the caller's. */
const MAX_CHARS = 1_000;

/** A header that names what a request had and nothing was done with: `tools[3] (image_generation)`. */
export function reportIgnored(call: Call, ignored: readonly string[]): void {
	if (ignored.length === 0) return;
	const told = ignored.slice(0, MAX_TOLD);
	if (ignored.length > told.length) told.push(`and ${ignored.length - told.length} more`);
	call.headers["x-service-ignored"] = headerText(told.join(", ").slice(0, MAX_CHARS));
}
