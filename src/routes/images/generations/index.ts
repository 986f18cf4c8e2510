/** POST /images/generations: /image/generate in OpenAI's form, at the model's base price. */
import { hasFreeModel, imageRateLimit, nearestRatio } from "../../../catalog/index.ts";
import type { PictureModel } from "../../../catalog/types.ts";
import { ApiError } from "../../../errors/index.ts";
import type { Call } from "../../../server/call.ts";
import { type Admission, type Endpoint, type Input, largeJson, metered } from "../../../server/endpoint.ts";
import type { ImageDeps } from "../deps.ts";
import { admitGenerate } from "../generate-picture.ts";
import { pictureModel } from "../model.ts";
import { OpenAiPicturesSchema, openAiPicture, pixelsOf } from "../openai-fields.ts";
import { type GenerationsBody, GenerationsBodySchema } from "./schema.ts";

const MAX_BODY_BYTES = 1_048_576;
const DEFAULT_SIZE = { width: 1_024, height: 1_024 };
const DEFAULT_TRAIT = "default";
/** The id to resolve if no served model has the trait. Its error says how to serve it. */
const DEFAULT_MODEL = "z-image-turbo";

/** Returns the route under its two paths. */
export function openAiImageGenerations(deps: ImageDeps): Endpoint[] {
	return [["/images/generations", "images-generations"] as const, ["/image/generations", "image-generations"] as const].map(
		([path, name]) =>
			metered({
				method: "POST",
				path,
				name,
				tag: "Images",
				summary: "Make a picture, in OpenAI's form",
				openAi: true,
				callers: ["key", "wallet"],
				body: { schema: GenerationsBodySchema, maxBytes: MAX_BODY_BYTES, misnamed: { safe_mode: "moderation" } },
				codes: ["CONTENT_POLICY_VIOLATION"],
				answer: { type: "application/json", schema: OpenAiPicturesSchema, description: "The picture" },
				mayBeFree: () => hasFreeModel(deps.catalog(), "image"),
				minuteWindow: ({ account }) => ({ subject: null, limit: imageRateLimit(account.tier, deps.config().limits) }),
				admit: (input, call) => admit({ ...input, body: input.body as GenerationsBody }, call, deps),
			}),
	);
}

function admit({ body }: Input<GenerationsBody, unknown>, call: Call, deps: ImageDeps): Promise<Admission> {
	const model = modelOf(body.model ?? DEFAULT_TRAIT, call, deps);
	const size = pixelsOf(body.size) ?? DEFAULT_SIZE;
	const { image: properties } = model;
	return admitGenerate(
		{
			model,
			prompt: body.prompt,
			sentPrompt: body.prompt,
			resolution: properties.defaultResolution,
			quality: properties.defaultQuality,
			aspectRatio: nearestRatio(properties.aspectRatios, size),
			size,
			finish: { format: body.output_format ?? "png", size, fit: "cover" },
			count: 1,
			safeMode: body.moderation !== "low",
			answer: (pictures) =>
				largeJson({
					created: Math.floor(call.admittedAtMs / 1_000),
					data: pictures.map((picture) => openAiPicture(picture, body.response_format)),
				}),
		},
		call,
		deps,
	);
}

/**
 * Returns the model. OpenAI's clients send names of OpenAI's models, so a name that is no picture model here means the
 * default one.
 */
function modelOf(ref: string, call: Call, deps: ImageDeps): PictureModel<"image"> {
	const resolve = (name: string) => pictureModel(name, "image", call, deps);
	const isUnknown = (error: unknown) => error instanceof ApiError && error.code === "MODEL_NOT_FOUND";
	for (const name of [ref, DEFAULT_TRAIT]) {
		try {
			return resolve(name);
		} catch (error) {
			if (!isUnknown(error)) throw error;
		}
	}
	return resolve(DEFAULT_MODEL);
}
