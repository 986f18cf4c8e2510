import { headerText } from "../wire/index.ts";
import type { Call } from "./call.ts";

/** Headers that name the model that answers, and tell of its end where it has one (`Catalog.deprecationHeaders`). */
export function recordModel(
	call: Call,
	{ id, name }: { readonly id: string; readonly name: string },
	deprecation: Readonly<Record<string, string>>,
): void {
	Object.assign(call.headers, deprecation);
	call.headers["x-service-model-id"] = headerText(id);
	call.headers["x-service-model-name"] = headerText(name);
}
