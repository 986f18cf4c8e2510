/** POST /images/edits: /image/edit in OpenAI's form, on the same models. The answer is JSON. */
import { hasFreeModel, imageRateLimit } from "../../../catalog/index.ts";
import type { Picture } from "../../../engines/images/port.ts";
import { invalidField, invalidRequest } from "../../../schema/index.ts";
import type { Call } from "../../../server/call.ts";
import { type Admission, type Endpoint, type Input, largeJson, metered } from "../../../server/endpoint.ts";
import type { FieldFile } from "../../../server/parse-form.ts";
import { chooseTiers } from "../choices.ts";
import type { ImageDeps } from "../deps.ts";
import { editModel } from "../edit-model.ts";
import { admitEdit } from "../edit-picture.ts";
import { MAX_FILE_BYTES, MAX_PICTURES, THREE_PICTURES_BODY_BYTES } from "../limits.ts";
import { OpenAiPicturesSchema, openAiPicture, pixelsOf, qualityOf } from "../openai-fields.ts";
import { type PictureSource, sourceOfBytes } from "../source.ts";
import { type OpenAiEditBody, OpenAiEditBodySchema } from "./schema.ts";

export function openAiImageEdits(deps: ImageDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/images/edits",
		name: "images-edits",
		tag: "Images",
		summary: "Edit a picture, in OpenAI's form",
		description: "Takes a form with `image`, or several of `image[]`, and `mask`: 3 files at most. The mask is the second layer.",
		openAi: true,
		callers: ["key", "wallet"],
		body: {
			schema: OpenAiEditBodySchema,
			maxBytes: THREE_PICTURES_BODY_BYTES,
			form: {
				file: "image",
				maxFileBytes: MAX_FILE_BYTES,
				most: MAX_PICTURES,
				optional: true,
				others: { "image[]": MAX_PICTURES, mask: 1 },
			},
		},
		codes: ["CORRUPTED_IMAGE", "IMAGE_TOO_SMALL", "IMAGE_TOO_LARGE", "CONTENT_POLICY_VIOLATION", "IMAGE_EDIT_ERROR"],
		answer: { type: "application/json", schema: OpenAiPicturesSchema, description: "The picture" },
		mayBeFree: () => hasFreeModel(deps.catalog(), "inpaint"),
		minuteWindow: ({ account }) => ({ subject: null, limit: imageRateLimit(account.tier, deps.config().limits) }),
		admit: (input, call) => admit({ ...input, body: input.body as OpenAiEditBody }, call, deps),
	});
}

function admit({ body, files }: Input<OpenAiEditBody, unknown>, call: Call, deps: ImageDeps): Promise<Admission> {
	if (body.stream === true) throw invalidField(["stream"], "must be false: pictures are not streamed here");
	const model = editModel(body.model, call, deps);
	const quality = qualityOf(body.quality);
	const choices = chooseTiers({ quality, output_format: body.output_format ?? "png" }, model.image);
	const order = {
		model,
		prompt: body.prompt,
		sources: sourcesOf(files),
		choices,
		exactSize: pixelsOf(body.size),
		safeMode: body.moderation !== "low",
		param: "image",
		answer: (picture: Picture) =>
			largeJson({ created: Math.floor(call.admittedAtMs / 1_000), data: [openAiPicture(picture, body.response_format)] }),
	};
	return admitEdit(order, call, deps);
}

/** Returns the base picture, the mask if there is one, and the other pictures. */
function sourcesOf(files: readonly FieldFile[]): PictureSource[] {
	const [base, ...others] = files.filter(({ field }) => field !== "mask");
	const mask = files.find(({ field }) => field === "mask");
	if (base === undefined) throw invalidField(["image"], "is required: a file, or several of image[]", "required");
	if (files.length > MAX_PICTURES) {
		const message = `must have at most ${MAX_PICTURES} files, the mask included`;
		throw invalidRequest([{ path: ["image"], code: "too_big", message, maximum: MAX_PICTURES, type: "array", inclusive: true }]);
	}
	return [
		sourceOfBytes(base.bytes, ["image"]),
		...(mask === undefined ? [] : [sourceOfBytes(mask.bytes, ["mask"], "mask")]),
		...others.map(({ bytes }) => sourceOfBytes(bytes, ["image"])),
	];
}
