/**
 * POST /image/upscale: a PNG with two or four times the sides, or less if that would be too large. The price is that of
 * the requested factor. Lanczos resampling on this machine, unless a server is configured.
 */

import type { HoldContext } from "../../../budgets/port.ts";
import { EMBEDDED, hasFreeModel, imageRateLimit, linesNano } from "../../../catalog/index.ts";
import { type ImageEngine, ImageFault, MAX_UPSCALED_PIXELS, type Picture } from "../../../engines/images/port.ts";
import { ApiError } from "../../../errors/index.ts";
import type { Requester } from "../../../fairness/index.ts";
import { invalidField } from "../../../schema/index.ts";
import { binaryAnswer } from "../../../server/binary-answer.ts";
import type { Call } from "../../../server/call.ts";
import { recordModel } from "../../../server/call-headers.ts";
import { type Admission, type Endpoint, type Input, metered } from "../../../server/endpoint.ts";
import type { ImageDeps } from "../deps.ts";
import { bareAnswer } from "../edit-picture.ts";
import { finishPicture } from "../finish.ts";
import { MAX_FILE_BYTES, ONE_PICTURE_BODY_BYTES } from "../limits.ts";
import { byMakers, makersOf } from "../model.ts";
import { engineOf } from "../safe-picture.ts";
import { inlineSource, sourceOfBytes } from "../source.ts";
import { ImageWork, type ImageWorkResult } from "../work.ts";
import { type UpscaleBody, UpscaleBodySchema } from "./schema.ts";

const MODEL = "upscaler";

export function imageUpscale(deps: ImageDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/image/upscale",
		name: "image-upscale",
		tag: "Images",
		summary: "Enlarge a picture",
		description:
			"Takes JSON with base64, or a form with a file. Uses Lanczos resampling, which adds no detail, unless the operator has configured a server.",
		openAi: false,
		callers: ["key", "wallet"],
		body: {
			schema: UpscaleBodySchema,
			maxBytes: ONE_PICTURE_BODY_BYTES,
			form: { file: "image", maxFileBytes: MAX_FILE_BYTES, orText: true, orJson: true },
		},
		codes: ["CORRUPTED_IMAGE", "IMAGE_TOO_SMALL", "IMAGE_TOO_LARGE", "UPSCALE_FAILED"],
		answer: binaryAnswer("The picture", "image/png"),
		mayBeFree: () => hasFreeModel(deps.catalog(), "upscale"),
		minuteWindow: ({ account }) => ({ subject: null, limit: imageRateLimit(account.tier, deps.config().limits) }),
		admit: (input, call) => admit({ ...input, body: input.body as UpscaleBody }, call, deps),
	});
}

async function admit({ body, file, long }: Input<UpscaleBody, unknown>, call: Call, deps: ImageDeps): Promise<Admission> {
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const model = deps.catalog().own(MODEL, "upscale", call.admittedAtMs);
	const { image } = body;
	const scale = Number(body.scale ?? 2);
	const source =
		file !== null
			? sourceOfBytes(file.bytes, ["image"])
			: image !== undefined
				? await inlineSource(image, long, ["image"])
				: null;
	if (source === null || !("bytes" in source.from)) throw invalidField(["image"], "is required", "required");
	const { bytes } = source.from;
	const engine = engineOf(deps);
	recordModel(call, model, deps.catalog().deprecationHeaders(model, call.admittedAtMs));
	const picoPrice = scale === 4 ? model.upscale.x4 : model.upscale.x2;
	const lines = [{ sku: `${model.id}-image-unit`, units: 1, picoPrice }];
	return {
		model: model.id,
		rate: { subject: model.id, limit: imageRateLimit(caller.account.tier, deps.config().limits), promptTokens: 0 },
		hold: (context: HoldContext) => deps.budgets.hold(caller, context, linesNano(lines)),
		work(settlement) {
			const work = new ImageWork({ call, settlement, lines, failure: "UPSCALE_FAILED", places: [["image"]] });
			const makers = makersOf(model.targets);
			const here = () => upscaledHere(engine, bytes, scale, call);
			const there = () => upscaledThere(bytes, scale, { call, deps, work, servers: makers.servers });
			return work.answer(() => byMakers(makers, call.signal, here, there));
		},
	};
}

async function upscaledHere(
	engine: ImageEngine,
	bytes: Uint8Array,
	scale: number,
	requester: Requester,
): Promise<ImageWorkResult> {
	const picture = await engine.upscale(bytes, { factor: scale }, { format: "png" }, requester);
	return { answer: bareAnswer(picture), upstream: EMBEDDED, retries: 0 };
}

interface There {
	readonly call: Call;
	readonly deps: ImageDeps;
	readonly work: ImageWork;
	readonly servers: ReturnType<typeof makersOf>["servers"];
}

async function upscaledThere(bytes: Uint8Array, scale: number, { call, deps, work, servers }: There): Promise<ImageWorkResult> {
	const { signal, requestId, tenant } = call;
	const picture = await engineOf(deps).normalise(bytes, call);
	const size = enlargedSize(picture, scale);
	const imageAnswer = await deps.upstreams.make({
		requestId,
		tenant,
		targets: servers,
		kind: "upscale",
		prompt: "",
		pictures: [{ bytes: picture.bytes, mediaType: picture.mediaType, role: "picture" }],
		size,
		aspectRatio: null,
		resolution: "1K",
		quality: null,
		count: 1,
		factor: scale,
		signal,
		onSent: work.sent,
	});
	const result = await finishPicture(imageAnswer.pictures[0], { format: "png", size, fit: "fill" }, deps, call);
	return { answer: bareAnswer(result), upstream: imageAnswer.upstream, retries: imageAnswer.retries };
}

/** Returns the enlarged size. Throws ImageFault if there is nothing left to enlarge. */
function enlargedSize({ width, height }: Picture, scale: number): { width: number; height: number } {
	const factor = Math.min(scale, Math.sqrt(MAX_UPSCALED_PIXELS / (width * height)));
	if (factor < 1)
		throw new ImageFault(
			"too-many-pixels",
			`The picture has more than ${MAX_UPSCALED_PIXELS} pixels already: it is not enlarged`,
		);
	return { width: Math.floor(width * factor), height: Math.floor(height * factor) };
}
