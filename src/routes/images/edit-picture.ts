/** Runs one edit for any route: reads the pictures, edits them here or on a server, finishes and checks the result. */

import type { ChargeLine, HoldContext } from "../../budgets/port.ts";
import { EMBEDDED, type ImageSize, imagePrice, imageRateLimit, linesNano, tierSize } from "../../catalog/index.ts";
import type { PictureModel } from "../../catalog/types.ts";
import type { FinishOptions, Picture } from "../../engines/images/port.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { recordModel } from "../../server/call-headers.ts";
import type { Admission, Answer } from "../../server/endpoint.ts";
import { checkPrompt } from "./check-prompt.ts";
import { type ChosenTiers, finishOptions, resolvedRatio } from "./choices.ts";
import type { ImageDeps } from "./deps.ts";
import { finishPicture } from "./finish.ts";
import { gather, readPictures } from "./inputs.ts";
import { byMakers, makersOf } from "./model.ts";
import { engineOf, isChecked, safePicture, safetyHeaders } from "./safe-picture.ts";
import type { PictureSource } from "./source.ts";
import { ImageWork, type ImageWorkResult } from "./work.ts";

export interface EditOrder {
	readonly model: PictureModel<"inpaint">;
	readonly prompt: string;
	readonly sources: readonly PictureSource[];
	readonly choices: ChosenTiers;
	/** The exact size of the result, if the caller gave pixels; null: by tiers and ratio. */
	readonly exactSize: ImageSize | null;
	readonly safeMode: boolean | undefined;
	/** The field of the pictures, for faults. */
	readonly param: string;
	/** Returns the answer with the picture. */
	answer(picture: Picture): Answer | Promise<Answer>;
}

/** Returns the picture itself as the answer. */
export function bareAnswer(picture: Picture): Answer {
	return { status: 200, type: picture.mediaType, body: picture.bytes };
}

/**
 * Runs an edit's last checks and returns its admission. No picture is decoded yet. Throws the errors of docs/images.md.
 */
export async function admitEdit(order: EditOrder, call: Call, deps: ImageDeps): Promise<Admission> {
	const { model, prompt, sources, choices } = order;
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const properties = model.image;
	checkPrompt(prompt, properties.promptCharacterLimit);
	if (sources.length > 1 && !properties.combinesImages)
		throw invalidField([order.param], `"${model.id}" takes one picture`, "too_big");
	const mustCheck = await isChecked(order.safeMode, deps);
	recordModel(call, model, deps.catalog().deprecationHeaders(model, call.admittedAtMs));
	const lines = editLines(model, choices, sources.length);
	return {
		model: model.id,
		rate: { subject: model.id, limit: imageRateLimit(caller.account.tier, deps.config().limits), promptTokens: 0 },
		hold: (context: HoldContext) => deps.budgets.hold(caller, context, linesNano(lines)),
		work(settlement) {
			const work = new ImageWork({
				call,
				settlement,
				lines,
				failure: "IMAGE_EDIT_ERROR",
				places: sources.map(({ path }) => path),
			});
			return work.answer(() => new Edit(order, call, deps, work).result(mustCheck));
		},
	};
}

function editLines({ id, image }: PictureModel, { resolution, quality }: ChosenTiers, pictures: number): ChargeLine[] {
	const lines = [{ sku: `${id}-image-unit`, units: 1, picoPrice: imagePrice(image.prices, resolution, quality) }];
	const { extraImage } = image.prices;
	const extra = extraImage === null ? 0 : Math.max(0, pictures - extraImage.included);
	if (extraImage !== null && extra > 0) lines.push({ sku: `${id}-input-image-unit`, units: extra, picoPrice: extraImage.each });
	return lines;
}

interface Edited {
	readonly picture: Picture;
	readonly upstream: string;
	readonly retries: number;
}

class Edit {
	readonly #order: EditOrder;
	readonly #call: Call;
	readonly #deps: ImageDeps;
	readonly #work: ImageWork;

	constructor(order: EditOrder, call: Call, deps: ImageDeps, work: ImageWork) {
		this.#order = order;
		this.#call = call;
		this.#deps = deps;
		this.#work = work;
	}

	async result(mustCheck: boolean): Promise<ImageWorkResult> {
		const { sources, model, answer } = this.#order;
		const { signal } = this.#call;
		const bytes = await gather(sources, this.#deps, this.#call);
		const { picture, ...by } = await byMakers(
			makersOf(model.targets),
			signal,
			() => this.#here(bytes),
			() => this.#there(bytes),
		);
		const safe = await safePicture(picture, mustCheck, this.#deps, this.#call);
		Object.assign(this.#call.headers, safetyHeaders(safe.isBlurred));
		return { answer: await answer(safe.picture), ...by };
	}

	async #here(images: readonly Uint8Array[]): Promise<Edited> {
		const { prompt, choices, exactSize } = this.#order;
		const engine = engineOf(this.#deps);
		const { format } = choices;
		const edited = await engine.localEdit({ prompt, images, output: { format } }, this.#call);
		const picture = exactSize === null ? edited : await engine.finish(edited.bytes, { format, size: exactSize }, this.#call);
		return { picture, upstream: EMBEDDED, retries: 0 };
	}

	async #there(bytes: readonly Uint8Array[]): Promise<Edited> {
		const { model, prompt, sources, choices, exactSize } = this.#order;
		const { signal, requestId, tenant } = this.#call;
		const pictures = await readPictures(sources, bytes, this.#deps, this.#call);
		const [base] = pictures;
		if (base === undefined) throw invalidField([this.#order.param], "is required");
		const properties = model.image;
		const ratio = resolvedRatio(choices.ratio, properties, exactSize ?? base);
		const finish: FinishOptions =
			exactSize === null ? finishOptions(properties, choices, ratio.size) : { format: choices.format, size: exactSize };
		const answer = await this.#deps.upstreams.make({
			requestId,
			tenant,
			targets: makersOf(model.targets).servers,
			kind: "edit",
			prompt,
			pictures,
			size: exactSize ?? tierSize(choices.resolution, ratio.size),
			aspectRatio: ratio.name,
			resolution: choices.resolution,
			quality: choices.quality,
			count: 1,
			signal,
			onSent: this.#work.sent,
		});
		const picture = await finishPicture(answer.pictures[0], finish, this.#deps, this.#call);
		return { picture, upstream: answer.upstream, retries: answer.retries };
	}
}
