/**
 * POST /image/edit: an edited picture in the requested format and size. The price is known before. A failure costs
 * nothing. Prompts and pictures are never logged.
 */
import { hasFreeModel, imageRateLimit } from "../../../catalog/index.ts";
import { invalidField } from "../../../schema/index.ts";
import { binaryAnswer } from "../../../server/binary-answer.ts";
import type { Call } from "../../../server/call.ts";
import { type Admission, type Endpoint, type Input, metered } from "../../../server/endpoint.ts";
import { chooseTiers } from "../choices.ts";
import type { ImageDeps } from "../deps.ts";
import { editModel, listedEditModel } from "../edit-model.ts";
import { admitEdit, bareAnswer } from "../edit-picture.ts";
import { MISNAMED_EDIT_FIELDS } from "../fields.ts";
import { MAX_FILE_BYTES, ONE_PICTURE_BODY_BYTES, PICTURE_TYPES } from "../limits.ts";
import { sourceOfBytes, sourceOfText } from "../source.ts";
import { type EditBody, EditBodySchema } from "./schema.ts";

export function imageEdit(deps: ImageDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/image/edit",
		name: "image-edit",
		tag: "Images",
		summary: "Edit a picture",
		description: "Takes JSON, or a form with the picture as a file. Returns the picture.",
		openAi: false,
		callers: ["key", "wallet"],
		body: {
			schema: EditBodySchema,
			maxBytes: ONE_PICTURE_BODY_BYTES,
			misnamed: { ...MISNAMED_EDIT_FIELDS, images: "image", image_url: "image" },
			form: { file: "image", maxFileBytes: MAX_FILE_BYTES, orText: true, orJson: true },
		},
		codes: ["CORRUPTED_IMAGE", "IMAGE_TOO_SMALL", "IMAGE_TOO_LARGE", "CONTENT_POLICY_VIOLATION", "IMAGE_EDIT_ERROR"],
		answer: binaryAnswer("The picture, with the Content-Type of its format", ...PICTURE_TYPES),
		mayBeFree: () => hasFreeModel(deps.catalog(), "inpaint"),
		minuteWindow: ({ account }) => ({ subject: null, limit: imageRateLimit(account.tier, deps.config().limits) }),
		admit: (input, call) => admit({ ...input, body: input.body as EditBody }, call, deps),
	});
}

async function admit({ body, file, long }: Input<EditBody, unknown>, call: Call, deps: ImageDeps): Promise<Admission> {
	const { model: ref, modelId, image, prompt, safe_mode: safeMode } = body;
	if (ref !== undefined && modelId !== undefined && ref !== modelId)
		throw invalidField(["modelId"], "must be the same as model; send model alone");
	const model = ref === undefined && modelId !== undefined ? listedEditModel(modelId, call, deps) : editModel(ref, call, deps);
	const choices = chooseTiers(body, model.image);
	const source =
		file !== null
			? sourceOfBytes(file.bytes, ["image"])
			: image !== undefined
				? await sourceOfText(image, long, ["image"])
				: null;
	if (source === null) throw invalidField(["image"], "is required", "required");
	const order = { model, prompt, sources: [source], choices, exactSize: null, safeMode, param: "image", answer: bareAnswer };
	return admitEdit(order, call, deps);
}
