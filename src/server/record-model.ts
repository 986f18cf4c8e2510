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
