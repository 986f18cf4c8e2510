/**
 * POST /image/multi-edit: /image/edit with layers. The base picture, layers and masks are sent in the caller's order.
 */
import { hasFreeModel, imageRateLimit } from "../../../catalog/index.ts";
import { invalidRequest } from "../../../schema/index.ts";
import { binaryAnswer } from "../../../server/binary-answer.ts";
import type { Call } from "../../../server/call.ts";
import { type Admission, type Endpoint, type Input, metered } from "../../../server/endpoint.ts";
import { chooseTiers } from "../choices.ts";
import type { ImageDeps } from "../deps.ts";
import { listedEditModel } from "../edit-model.ts";
import { admitEdit, bareAnswer } from "../edit-picture.ts";
import { MISNAMED_EDIT_FIELDS } from "../fields.ts";
import { MAX_FILE_BYTES, MAX_PICTURES, PICTURE_TYPES, THREE_PICTURES_BODY_BYTES } from "../limits.ts";
import { type PictureSource, sourceOfBytes, sourceOfText } from "../source.ts";
import { type MultiEditBody, MultiEditBodySchema } from "./schema.ts";

export function imageMultiEdit(deps: ImageDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/image/multi-edit",
		name: "image-multi-edit",
		tag: "Images",
		summary: "Edit a picture with layers or masks",
		description: "Takes JSON, or a form with 1 to 3 files named `images`. Returns the picture.",
		openAi: false,
		callers: ["key", "wallet"],
		body: {
			schema: MultiEditBodySchema,
			maxBytes: THREE_PICTURES_BODY_BYTES,
			misnamed: { ...MISNAMED_EDIT_FIELDS, model: "modelId", image: "images" },
			form: { file: "images", maxFileBytes: MAX_FILE_BYTES, most: MAX_PICTURES, orJson: true, lenient: true },
		},
		codes: ["CORRUPTED_IMAGE", "IMAGE_TOO_SMALL", "IMAGE_TOO_LARGE", "CONTENT_POLICY_VIOLATION", "IMAGE_EDIT_ERROR"],
		answer: binaryAnswer("The picture, with the Content-Type of its format", ...PICTURE_TYPES),
		mayBeFree: () => hasFreeModel(deps.catalog(), "inpaint"),
		minuteWindow: ({ account }) => ({ subject: null, limit: imageRateLimit(account.tier, deps.config().limits) }),
		admit: (input, call) => admit({ ...input, body: input.body as MultiEditBody }, call, deps),
	});
}

async function admit(input: Input<MultiEditBody, unknown>, call: Call, deps: ImageDeps): Promise<Admission> {
	const { body } = input;
	const model = listedEditModel(body.modelId, call, deps);
	const choices = chooseTiers(body, model.image);
	const { prompt, safe_mode: safeMode } = body;
	const sources = await sourcesOf(input);
	return admitEdit(
		{ model, prompt, sources, choices, exactSize: null, safeMode, param: "images", answer: bareAnswer },
		call,
		deps,
	);
}

async function sourcesOf({ body, files, long }: Input<MultiEditBody, unknown>): Promise<PictureSource[]> {
	const texts = body.images ?? [];
	const count = files.length + texts.length;
	if (count === 0)
		throw invalidRequest([
			{
				path: ["images"],
				code: "too_small",
				minimum: 1,
				type: "array",
				inclusive: true,
				message: "must have at least 1 picture",
			},
		]);
	if (count > MAX_PICTURES) {
		const message = `must have at most ${MAX_PICTURES} pictures`;
		throw invalidRequest([{ path: ["images"], code: "too_big", message, maximum: MAX_PICTURES, type: "array", inclusive: true }]);
	}
	const sources = files.map(({ bytes }, index) => sourceOfBytes(bytes, ["images", index]));
	for (const [index, text] of texts.entries()) sources.push(await sourceOfText(text, long, ["images", index]));
	return sources;
}
