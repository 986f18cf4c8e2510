import type { PictureModel } from "../../catalog/types.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import type { ImageDeps } from "./deps.ts";
import { pictureModel } from "./model.ts";

const DEFAULT_MODEL = "firered-image-edit";

/**
 * Returns the model of any name.
 * @throws ApiError MODEL_NOT_FOUND, INVALID_MODEL, MODEL_REMOVED, MODEL_OFFLINE
 */
export function editModel(ref: string | undefined, call: Call, deps: ImageDeps): PictureModel<"inpaint"> {
	return pictureModel(ref ?? DEFAULT_MODEL, "inpaint", call, deps);
}

/**
 * Returns the model of a field with a list of allowed ids.
 * @throws ApiError INVALID_REQUEST that names them, MODEL_OFFLINE
 */
export function listedEditModel(id: string | undefined, call: Call, deps: ImageDeps): PictureModel<"inpaint"> {
	const listed = deps.catalog().list("inpaint");
	if (id !== undefined && !listed.some((model) => model.id === id))
		throw invalidField(["modelId"], `must be one of ${listed.map((model) => model.id).join(", ")}`, "enum");
	return editModel(id, call, deps);
}
