import type { Config, ModelEntry } from "../config/index.ts";
import type { PicoPrice } from "../ledger/nano.ts";
import type { Catalog } from "./catalog.ts";
import { EMBEDDED } from "./drafts.ts";
import { isPrivateAddress } from "./private-host.ts";
import type { ImagePrices, Model, ModelType } from "./types.ts";

/** An upstream whose models are given away. */
export interface FreeUpstream {
	readonly upstream: string;
	/** The number of models at price 0 that it may serve. */
	readonly models: number;
	/** True if it may charge the operator: it needs a key, or is beyond the private network. */
	readonly billed: boolean;
	/** One of the models. */
	readonly example: Pick<Model, "id" | "type">;
}

/** Returns upstreams with callable models at price 0. */
export function freeUpstreams(catalog: Catalog, config: Config): FreeUpstream[] {
	return freeModels(catalog.list("text"), config);
}

/** Returns upstreams with callable models of any type that are free although no setting says so. */
export function unpricedUpstreams(catalog: Catalog, config: Config): FreeUpstream[] {
	const { entries } = config.models;
	const unpriced = catalog.list("all").filter(({ id }) => !Object.hasOwn(entries, id) || !hasPrice(entries[id] ?? {}));
	return freeModels(unpriced, config).filter(({ upstream }) => upstream !== EMBEDDED);
}

function freeModels(models: readonly Model[], config: Config): FreeUpstream[] {
	const modelsByUpstream = new Map<string, Model[]>();
	for (const model of models) {
		if (model.offline || !isFree(model)) continue;
		for (const upstream of new Set(model.targets.map((target) => target.upstream)))
			modelsByUpstream.set(upstream, [...(modelsByUpstream.get(upstream) ?? []), model]);
	}
	return [...modelsByUpstream].flatMap(([upstream, models]) => {
		const [first] = models;
		if (first === undefined) return [];
		const settings = Object.hasOwn(config.upstreams, upstream) ? config.upstreams[upstream] : undefined;
		const billed = settings !== undefined && (settings.key !== undefined || !isPrivateAddress(settings.url));
		return [{ upstream, models: models.length, billed, example: { id: first.id, type: first.type } }];
	});
}

/** Returns true if an entry sets a price, even 0. */
function hasPrice({ price, speech, transcription, embedding, image }: Partial<ModelEntry>): boolean {
	const prices = [price, speech?.perMillionCharacters, transcription?.perAudioSecond, embedding?.perMillionTokens];
	return [...prices, image?.usd, image?.byResolution, image?.byQuality, image?.upscale].some((each) => each !== undefined);
}

/** Returns true if a callable model of the type has a free request. */
export function hasFreeModel(catalog: Catalog, type: ModelType): boolean {
	return catalog.list(type).some((model) => !model.offline && isFree(model));
}

function isFree(model: Model): boolean {
	switch (model.type) {
		case "text":
			return model.prices.input === 0 && model.prices.output === 0;
		case "embedding":
			return model.embedding.tokenPrice === 0;
		case "tts":
			return model.speech?.characterPrice === 0;
		case "asr":
			return model.transcription.millisecondPrice === 0;
		case "upscale":
			return model.upscale.x2 === 0 || model.upscale.x4 === 0;
		case "inpaint":
		case "image":
			return pictureMayBeFree(model.image.prices);
		default:
			return false;
	}
}

function pictureMayBeFree({ base, byResolution, byQuality }: ImagePrices): boolean {
	const tiers = [...Object.values(byResolution), ...Object.values(byQuality).flatMap((prices) => Object.values(prices))];
	return tiers.length === 0 ? base === 0 : tiers.includes(0 as PicoPrice);
}
