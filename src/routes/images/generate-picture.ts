/** Makes pictures from a prompt for any route. */

import type { HoldContext } from "../../budgets/port.ts";
import { type ImageSize, imagePrice, imageRateLimit, linesNano } from "../../catalog/index.ts";
import type { ImageQuality, PictureModel } from "../../catalog/types.ts";
import type { FinishOptions, Picture } from "../../engines/images/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import { recordModel } from "../../server/call-headers.ts";
import type { Admission, Answer } from "../../server/endpoint.ts";
import { checkPrompt } from "./check-prompt.ts";
import type { ImageDeps } from "./deps.ts";
import { finishPicture } from "./finish.ts";
import { engineOf, isChecked, safePicture, safetyHeaders } from "./safe-picture.ts";
import { ImageWork, type ImageWorkResult } from "./work.ts";

export interface GenerateOrder {
	readonly model: PictureModel<"image">;
	/** The prompt as the caller wrote it. */
	readonly prompt: string;
	/** The prompt sent upstream, with the style, if any. */
	readonly sentPrompt: string;
	readonly negativePrompt?: string | undefined;
	readonly resolution: string;
	readonly quality: ImageQuality | null;
	readonly aspectRatio: string | null;
	/** The size requested from the upstream. */
	readonly size: ImageSize;
	readonly finish: FinishOptions;
	readonly count: number;
	readonly seed?: number | undefined;
	readonly steps?: number | undefined;
	readonly guidance?: number | undefined;
	readonly safeMode: boolean | undefined;
	/**
	 * Returns the answer with the pictures.
	 * @param workMs how long making them took
	 */
	answer(pictures: readonly Picture[], workMs: number): Answer | Promise<Answer>;
}

/** Runs the last checks and returns the admission. Throws the errors of docs/images.md. */
export async function admitGenerate(order: GenerateOrder, call: Call, deps: ImageDeps): Promise<Admission> {
	const { model, resolution, quality, count } = order;
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	checkPrompt(order.prompt, model.image.promptCharacterLimit);
	if (order.negativePrompt !== undefined) checkPrompt(order.negativePrompt, model.image.promptCharacterLimit, "negative_prompt");
	engineOf(deps);
	const mustCheck = await isChecked(order.safeMode, deps);
	recordModel(call, model, deps.catalog().deprecationHeaders(model, call.admittedAtMs));
	const lines = [{ sku: `${model.id}-image-unit`, units: count, picoPrice: imagePrice(model.image.prices, resolution, quality) }];
	return {
		model: model.id,
		rate: { subject: model.id, limit: imageRateLimit(caller.account.tier, deps.config().limits), promptTokens: 0 },
		hold: (context: HoldContext) => deps.budgets.hold(caller, context, linesNano(lines)),
		work(settlement) {
			const work = new ImageWork({ call, settlement, lines, failure: "INFERENCE_FAILED", places: [] });
			return work.answer(() => generatePictures(order, call, deps, { work, mustCheck }));
		},
	};
}

async function generatePictures(
	order: GenerateOrder,
	call: Call,
	deps: ImageDeps,
	{ work, mustCheck }: { readonly work: ImageWork; readonly mustCheck: boolean },
): Promise<ImageWorkResult> {
	const startedMs = performance.now();
	const { signal, requestId, tenant } = call;
	const { model, sentPrompt, finish, ...request } = order;
	const imageAnswer = await deps.upstreams.make({
		requestId,
		tenant,
		targets: model.targets,
		kind: "generate",
		prompt: sentPrompt,
		pictures: [],
		size: request.size,
		aspectRatio: request.aspectRatio,
		resolution: request.resolution,
		quality: request.quality,
		count: request.count,
		negativePrompt: request.negativePrompt,
		seed: request.seed,
		steps: request.steps,
		guidance: request.guidance,
		signal,
		onSent: work.sent,
	});
	const pictures: Picture[] = [];
	let isBlurred = false;
	for (const bytes of imageAnswer.pictures) {
		const safe = await safePicture(await finishPicture(bytes, finish, deps, call), mustCheck, deps, call);
		pictures.push(safe.picture);
		isBlurred ||= safe.isBlurred;
	}
	Object.assign(call.headers, safetyHeaders(isBlurred));
	const answer = await order.answer(pictures, performance.now() - startedMs);
	return { answer, upstream: imageAnswer.upstream, retries: imageAnswer.retries };
}
