/** POST /image/background-remove: a transparent PNG in the picture's size. It needs a server with such a model. */

import type { HoldContext } from "../../../budgets/port.ts";
import { hasFreeModel, imagePrice, imageRateLimit, linesNano } from "../../../catalog/index.ts";
import { ApiError } from "../../../errors/index.ts";
import { invalidField } from "../../../schema/index.ts";
import { binaryAnswer } from "../../../server/binary-answer.ts";
import type { Call } from "../../../server/call.ts";
import { recordModel } from "../../../server/call-headers.ts";
import { type Admission, type Endpoint, type Input, metered } from "../../../server/endpoint.ts";
import type { ImageDeps } from "../deps.ts";
import { bareAnswer } from "../edit-picture.ts";
import { finishPicture } from "../finish.ts";
import { gather, readPictures } from "../inputs.ts";
import { MAX_FILE_BYTES, ONE_PICTURE_BODY_BYTES } from "../limits.ts";
import { engineOf } from "../safe-picture.ts";
import { inlineSource, type PictureSource, sourceOfBytes, sourceOfText } from "../source.ts";
import { ImageWork, type ImageWorkResult } from "../work.ts";
import { type BackgroundRemoveBody, BackgroundRemoveBodySchema } from "./schema.ts";

const MODEL = "bria-bg-remover";

export function imageBackgroundRemove(deps: ImageDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/image/background-remove",
		name: "image-background-remove",
		tag: "Images",
		summary: "Remove the background of a picture",
		description: "Takes JSON, or a form with a file. Returns a PNG that is transparent where the background was.",
		openAi: false,
		callers: ["key", "wallet"],
		body: {
			schema: BackgroundRemoveBodySchema,
			maxBytes: ONE_PICTURE_BODY_BYTES,
			form: { file: "image", maxFileBytes: MAX_FILE_BYTES, optional: true, orText: true, orJson: true },
		},
		codes: ["CORRUPTED_IMAGE", "IMAGE_TOO_SMALL", "IMAGE_TOO_LARGE", "IMAGE_EDIT_ERROR"],
		answer: binaryAnswer("The picture", "image/png"),
		mayBeFree: () => hasFreeModel(deps.catalog(), "image"),
		minuteWindow: ({ account }) => ({ subject: null, limit: imageRateLimit(account.tier, deps.config().limits) }),
		admit: (input, call) => admit({ ...input, body: input.body as BackgroundRemoveBody }, call, deps),
	});
}

async function admit(input: Input<BackgroundRemoveBody, unknown>, call: Call, deps: ImageDeps): Promise<Admission> {
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const source = await sourceOf(input);
	const model = deps.catalog().own(MODEL, "image", call.admittedAtMs);
	engineOf(deps);
	recordModel(call, model, deps.catalog().deprecationHeaders(model, call.admittedAtMs));
	const { prices, defaultResolution, defaultQuality } = model.image;
	const picoPrice = imagePrice(prices, defaultResolution, defaultQuality);
	const lines = [{ sku: `${model.id}-image-unit`, units: 1, picoPrice }];
	return {
		model: model.id,
		rate: { subject: model.id, limit: imageRateLimit(caller.account.tier, deps.config().limits), promptTokens: 0 },
		hold: (context: HoldContext) => deps.budgets.hold(caller, context, linesNano(lines)),
		work(settlement) {
			const work = new ImageWork({ call, settlement, lines, failure: "IMAGE_EDIT_ERROR", places: [source.path] });
			return work.answer(async (): Promise<ImageWorkResult> => {
				const { signal, requestId, tenant } = call;
				const pictures = await readPictures([source], await gather([source], deps, call), deps, call);
				const [picture] = pictures;
				if (picture === undefined) throw new ApiError("UNKNOWN_ERROR");
				const size = { width: picture.width, height: picture.height };
				const imageAnswer = await deps.upstreams.make({
					requestId,
					tenant,
					targets: model.targets,
					kind: "background-remove",
					prompt: "",
					pictures,
					size,
					aspectRatio: null,
					resolution: "1K",
					quality: null,
					count: 1,
					signal,
					onSent: work.sent,
				});
				const result = await finishPicture(imageAnswer.pictures[0], { format: "png", size, fit: "fill" }, deps, call);
				return { answer: bareAnswer(result), upstream: imageAnswer.upstream, retries: imageAnswer.retries };
			});
		},
	};
}

async function sourceOf({ body, file, long }: Input<BackgroundRemoveBody, unknown>): Promise<PictureSource> {
	const { image, image_url: url } = body;
	if (file !== null) return sourceOfBytes(file.bytes, ["image"]);
	if (image !== undefined) return inlineSource(image, long, ["image"]);
	if (url === undefined) throw invalidField(["image"], "is required, or image_url", "required");
	if (!/^https?:\/\//i.test(url)) throw invalidField(["image_url"], "must begin with http:// or https://");
	return sourceOfText(url, long, ["image_url"]);
}
