/**
 * POST /image/generate: pictures in the requested size and format. The price is by the number of requested pictures,
 * and known before. A failure costs nothing.
 */
import { hasFreeModel, type ImageSize, imageRateLimit, ratioOf, tierSize } from "../../../catalog/index.ts";
import type { ImageProperties } from "../../../catalog/types.ts";
import type { Picture } from "../../../engines/images/port.ts";
import { invalidField, invalidRequest } from "../../../schema/index.ts";
import { filesOf } from "../../../server/binary-answer.ts";
import type { Call } from "../../../server/call.ts";
import { type Admission, type Answer, type Endpoint, type Input, largeJson, metered } from "../../../server/endpoint.ts";
import { chooseTiers, finishOptions, notOffered } from "../choices.ts";
import type { ImageDeps } from "../deps.ts";
import { bareAnswer } from "../edit-picture.ts";
import { admitGenerate } from "../generate-picture.ts";
import { PICTURE_TYPES } from "../limits.ts";
import { pictureModel } from "../model.ts";
import { STYLES } from "../style-names.ts";
import { GenerateAnswerSchema, type GenerateBody, GenerateBodySchema } from "./schema.ts";

const MAX_BODY_BYTES = 1_048_576;
const DEFAULT_SIDE = 1_024;

export function imageGenerate(deps: ImageDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/image/generate",
		name: "image-generate",
		tag: "Images",
		summary: "Make pictures from a prompt",
		description: "Returns JSON, or with `return_binary: true` the picture itself.",
		openAi: false,
		callers: ["key", "wallet"],
		body: { schema: GenerateBodySchema, maxBytes: MAX_BODY_BYTES, misnamed: { n: "variants", size: "width and height" } },
		codes: ["CONTENT_POLICY_VIOLATION"],
		answer: {
			type: "application/json",
			schema: GenerateAnswerSchema,
			description: "The pictures; with return_binary the picture itself",
			others: filesOf(PICTURE_TYPES),
		},
		mayBeFree: () => hasFreeModel(deps.catalog(), "image"),
		minuteWindow: ({ account }) => ({ subject: null, limit: imageRateLimit(account.tier, deps.config().limits) }),
		admit: (input, call) => admit({ ...input, body: input.body as GenerateBody }, call, deps),
	});
}

function admit({ body }: Input<GenerateBody, unknown>, call: Call, deps: ImageDeps): Promise<Admission> {
	const model = pictureModel(body.model, "image", call, deps);
	const variants = body.variants ?? 1;
	if (variants > 1 && body.return_binary === true)
		throw invalidField(["variants"], "must be 1 with return_binary: true", "too_big");
	checkOptions(body, model.image);
	const style = body.style_preset;
	const { size, ...shape } = shapeOf(body, model.image);
	return admitGenerate(
		{
			...shape,
			size,
			model,
			prompt: body.prompt,
			sentPrompt: style === undefined ? body.prompt : `${body.prompt}, in the style: ${style}`,
			negativePrompt: body.negative_prompt,
			count: variants,
			seed: body.seed,
			steps: body.steps,
			guidance: body.cfg_scale,
			safeMode: body.safe_mode,
			answer: (pictures, workMs) =>
				body.return_binary === true && pictures[0] !== undefined
					? bareAnswer(pictures[0])
					: jsonAnswer(pictures, workMs, { body, call }),
		},
		call,
		deps,
	);
}

function checkOptions(
	{ steps, style_preset: style, enable_web_search: search }: GenerateBody,
	{ maxSteps }: ImageProperties,
): void {
	if (steps !== undefined && maxSteps !== null && steps > maxSteps)
		throw invalidRequest([
			{
				path: ["steps"],
				code: "too_big",
				message: `must be at most ${maxSteps} with this model`,
				maximum: maxSteps,
				type: "number",
				inclusive: true,
			},
		]);
	if (style !== undefined && !STYLES.includes(style))
		throw invalidField(["style_preset"], "is no style; GET /api/v1/image/styles lists them", "enum");
	if (search === true) throw invalidField(["enable_web_search"], "must be false: no upstream here searches", "unsupported");
}

/** Sizes in pixels and by ratio are two families: a field of the other one is a mistake. */
function shapeOf(body: GenerateBody, properties: ImageProperties) {
	const { width, height, aspect_ratio: ratio, resolution } = body;
	const format = body.format ?? "webp";
	if (properties.aspectRatios.length === 0) {
		if (ratio !== undefined) throw invalidField(["aspect_ratio"], "is not for this model: it takes width and height");
		if (resolution !== undefined) throw invalidField(["resolution"], "is not for this model: it takes width and height");
		const size = { width: width ?? DEFAULT_SIDE, height: height ?? DEFAULT_SIDE };
		checkDivisor(size, properties.sizeDivisor);
		const { quality } = chooseTiers({ quality: body.quality }, properties);
		return { resolution: properties.defaultResolution, quality, aspectRatio: null, size, finish: { format, size } };
	}
	if (width !== undefined) throw invalidField(["width"], "is not for this model: it takes aspect_ratio");
	if (height !== undefined) throw invalidField(["height"], "is not for this model: it takes aspect_ratio");
	if (ratio === "auto" && !properties.aspectRatios.includes("auto"))
		throw notOffered("aspect_ratio", ratio, properties.aspectRatios);
	const choices = { ...chooseTiers({ aspect_ratio: ratio, resolution, quality: body.quality }, properties), format };
	// Without a source picture `auto` has nothing to follow.
	const named = choices.ratio === "auto" ? (properties.aspectRatios.find((name) => name !== "auto") ?? "1:1") : choices.ratio;
	const parts = ratioOf(named) ?? { width: 1, height: 1 };
	return {
		resolution: choices.resolution,
		quality: choices.quality,
		aspectRatio: named,
		size: tierSize(choices.resolution, parts),
		finish: finishOptions(properties, choices, parts),
	};
}

function checkDivisor({ width, height }: ImageSize, divisor: number): void {
	for (const [name, side] of [
		["width", width],
		["height", height],
	] as const)
		if (side % divisor !== 0) throw invalidField([name], `must be a multiple of ${divisor} with this model`, "not_multiple_of");
}

interface GenerateCall {
	readonly body: GenerateBody;
	readonly call: Call;
}

function jsonAnswer(pictures: readonly Picture[], workMs: number, { body, call }: GenerateCall): Promise<Answer> {
	const inferenceDuration = Math.round(workMs);
	const total = Math.max(inferenceDuration, Math.round(Date.now() - call.admittedAtMs));
	return largeJson({
		id: `generate-image-${call.requestId}`,
		images: pictures.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")),
		request: body,
		timing: {
			inferenceDuration,
			inferencePreprocessingTime: total - inferenceDuration,
			inferenceQueueTime: 0,
			total,
		},
	});
}
