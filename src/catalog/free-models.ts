import type { Config, ModelEntry } from "../config/index.ts";
import type { PicoPrice } from "../ledger/nano.ts";
import type { Catalog } from "./catalog.ts";
import { EMBEDDED } from "./drafts.ts";
import { isPrivateAddress } from "./private-host.ts";
import type { ImagePrices, Model, ModelType } from "./types.ts";

/** An upstream whose work is given away. */
export interface FreeUpstream {
	readonly upstream: string;
	/** Models that are offered at price 0 and may be answered by it. */
	readonly models: number;
	/** True where it may send the operator a bill: it wants a key, or is beyond the private network. */
	readonly billed: boolean;
	/** One of the models. */
	readonly example: Pick<Model, "id" | "type">;
}

/** Upstreams with models at price 0 that can be called now. */
export function freeUpstreams(catalog: Catalog, config: Config): FreeUpstream[] {
	return freeModels(catalog.list("text"), config);
}

/** Upstreams with models of any type that can be called now, cost nothing, and of which nobody said so. */
export function unpricedUpstreams(catalog: Catalog, config: Config): FreeUpstream[] {
	const { entries } = config.models;
	const unpriced = catalog.list("all").filter(({ id }) => !Object.hasOwn(entries, id) || !hasPrice(entries[id] ?? {}));
	return freeModels(unpriced, config).filter(({ upstream }) => upstream !== EMBEDDED);
}

function freeModels(models: readonly Model[], config: Config): FreeUpstream[] {
	const given = new Map<string, Model[]>();
	for (const model of models) {
		if (model.offline || !isFree(model)) continue;
		for (const upstream of new Set(model.targets.map((target) => target.upstream)))
			given.set(upstream, [...(given.get(upstream) ?? []), model]);
	}
	return [...given].flatMap(([upstream, models]) => {
		const [first] = models;
		if (first === undefined) return [];
		const settings = Object.hasOwn(config.upstreams, upstream) ? config.upstreams[upstream] : undefined;
		const billed = settings !== undefined && (settings.key !== undefined || !isPrivateAddress(settings.url));
		return [{ upstream, models: models.length, billed, example: { id: first.id, type: first.type } }];
	});
}

/** True where an entry names a price, be it 0. */
function hasPrice({ price, speech, transcription, embedding, image }: Partial<ModelEntry>): boolean {
	const named = [price, speech?.perMillionCharacters, transcription?.perAudioSecond, embedding?.perMillionTokens];
	return [...named, image?.usd, image?.byResolution, image?.byQuality, image?.upscale].some((each) => each !== undefined);
}

/** True where a model of the type that can be called now has a request that costs nothing. */
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
