import type { Config, ModelEntry } from "../config/index.ts";
import { speechProperties, transcriptionProperties } from "./audio-model.ts";
import { Catalog } from "./catalog.ts";
import { CatalogError } from "./catalog-error.ts";
import { type CatalogSources, configError, type Draft, draftModels, EMBEDDED, TEXT_ONLY } from "./drafts.ts";
import { embeddingProperties, ownEmbeddingSpec } from "./embedding-model.ts";
import { imageProperties, ownImageSpec, ownUpscaleSpec, upscaleProperties } from "./image-model.ts";
import { mediaSpec, ownSpeechSpec, ownTranscriptionSpec } from "./media-model.ts";
import { MAX_MODEL_REF } from "./model-ref.ts";
import { isPrivateAddress } from "./private-host.ts";
import { type ServedFeatures, textCapabilities, textPrices, textSpec } from "./text-model.ts";
import { assignMappings, assignTraits, type NameMaps } from "./traits.ts";
import type { Deprecation, Model } from "./types.ts";

/** The default temperature of OpenAI-compatible servers. */
const PROTOCOL_TEMPERATURE = 1;
const PROTOCOL_TOP_P = 1;
/** Unix seconds: `created` of a model without a known date. It does not change when the catalog is rebuilt. */
const STARTED_AT = Math.floor(performance.timeOrigin / 1000);

/**
 * Builds the catalog from the configuration, the data files and the upstreams' lists, in this precedence. It runs at each
 * change: some hundred models take a few milliseconds.
 * @throws {CatalogError} if the configuration contradicts itself or the data files
 */
export function buildCatalog(inputs: CatalogSources): Catalog {
	const { config, data, wallMs = Date.now } = inputs;
	if (Object.hasOwn(config.upstreams, EMBEDDED))
		throw new CatalogError("config", `upstreams.${EMBEDDED}`, "this name belongs to the built-in engine; choose another");
	const warnings: string[] = [];
	const drafts = draftModels(inputs);
	for (const draft of drafts) if (draft.entry) checkEntry(draft, draft.entry, config);
	const traits = assignTraits(drafts, config, warnings);
	const mappings = assignMappings(drafts, traits, data, config, warnings);
	const isPrivate = privateUpstreams(config);
	const models = drafts.map((draft) => modelOf(draft, traitsOf(draft, traits), config, isPrivate));
	const withSpec = new Set(models.map(({ id }) => id));
	for (const { id, deprecation } of models) {
		const replacement = deprecation?.replacementModelId;
		if (replacement !== undefined && !withSpec.has(replacement) && !traits.get("text")?.has(replacement))
			warnings.push(`models.entries.${id}.deprecation.replacementModelId: there is no model "${replacement}" now`);
	}
	const isHidden = (id: string) => Object.hasOwn(config.models.entries, id) && config.models.entries[id]?.hidden;
	const dataModels = [...data.textModels, ...data.mediaModels];
	const unlisted = new Map(dataModels.flatMap(({ id, type }) => (withSpec.has(id) || isHidden(id) ? [] : [[id, type]])));
	return new Catalog({ models, traits, mappings, unlisted, warnings, wallMs });
}

function checkEntry(draft: Draft, entry: ModelEntry, config: Config): void {
	if (draft.id.length > MAX_MODEL_REF / 4) throw new CatalogError("config", "models.entries", "an id has at most 512 characters");
	if (draft.type !== "text") {
		for (const member of TEXT_ONLY)
			if (entry[member] !== undefined) throw configError(draft.id, member, `belongs to text models; this one is ${draft.type}`);
	}
	if (entry.speech !== undefined && draft.type !== "tts")
		throw configError(draft.id, "speech", `belongs to models of type tts; this one is ${draft.type}`);
	if (entry.transcription !== undefined && draft.type !== "asr")
		throw configError(draft.id, "transcription", `belongs to models of type asr; this one is ${draft.type}`);
	if (entry.embedding !== undefined && draft.type !== "embedding")
		throw configError(draft.id, "embedding", `belongs to models of type embedding; this one is ${draft.type}`);
	if (entry.image !== undefined) checkImage(draft, entry.image);
	const speech = draft.type === "tts" ? speechProperties(entry, draft.data, draft.listings) : null;
	if (speech !== null && !speech.voices.includes(speech.defaultVoice))
		throw configError(draft.id, "speech.defaultVoice", "is none of the model's voices");
	if (entry.tier !== undefined && !Object.hasOwn(config.limits.tiers, entry.tier))
		throw configError(draft.id, "tier", `there is no tier "${entry.tier}" under limits.tiers`);
	for (const member of ["date", "removesAt", "startsAt"] as const) {
		const instant = entry.deprecation?.[member];
		if (instant !== undefined && Number.isNaN(Date.parse(instant)))
			throw configError(draft.id, `deprecation.${member}`, `there is no instant ${instant}`);
	}
}

function checkImage({ id, type }: Draft, image: NonNullable<ModelEntry["image"]>): void {
	if (type !== "inpaint" && type !== "image" && type !== "upscale")
		throw configError(id, "image", `belongs to models of type inpaint, image and upscale; this one is ${type}`);
	const { resolutions, defaultResolution, qualities, defaultQuality } = image;
	if (defaultResolution !== undefined && resolutions !== undefined && !resolutions.includes(defaultResolution))
		throw configError(id, "image.defaultResolution", "is none of the model's resolutions");
	if (defaultQuality !== undefined && qualities !== undefined && !qualities.includes(defaultQuality))
		throw configError(id, "image.defaultQuality", "is none of the model's qualities");
}

/** Returns the traits of a model, including those that it claims while another claimant holds them. */
function traitsOf(draft: Draft, maps: NameMaps): string[] {
	const map = maps.get(draft.type) ?? new Map<string, string>();
	const heldTraits = [...map].flatMap(([trait, id]) => (id === draft.id ? [trait] : []));
	return [...new Set([...heldTraits, ...(draft.entry?.traits ?? [])])];
}

/** Returns the highest multiplier of the upstreams that may serve, so that the price covers each of them. */
function priceMultiplier(targets: Draft["targets"], config: Config): number {
	const multipliers = targets.map(({ upstream }) => config.upstreams[upstream]?.priceMultiplier ?? 1);
	return multipliers.length === 0 ? 1 : Math.max(...multipliers);
}

function modelOf(draft: Draft, traits: readonly string[], config: Config, isPrivate: ReadonlySet<string>): Model {
	const { id, type, entry, data, listings, targets, offlineReason } = draft;
	const created = entry?.created ?? data?.created ?? listings[0]?.model.created ?? STARTED_AT;
	const name = entry?.name ?? data?.name ?? id;
	const deprecation: Deprecation | undefined = entry?.deprecation;
	const tier = entry?.tier ?? (data?.type === "text" ? data.tier : undefined);
	const base = {
		id,
		name,
		created,
		traits,
		targets,
		offline: offlineReason !== undefined,
		...(tier !== undefined && { tier }),
		...(offlineReason !== undefined && { offlineReason }),
		...(deprecation && { deprecation }),
	};
	const spec = {
		name,
		description: entry?.description ?? data?.description ?? "",
		modelSource: entry?.modelSource ?? data?.source ?? "",
		offline: base.offline,
		// Beyond the operator's network, prompts are sent without the caller's identity: `user` is never forwarded.
		privacy:
			entry?.privacy ?? data?.privacy ?? (targets.every(({ upstream }) => isPrivate.has(upstream)) ? "private" : "anonymized"),
		betaModel: data?.beta ?? false,
		traits,
		...(deprecation && { deprecation }),
	};
	const head = { id, object: "model", type, created, owned_by: "service" };
	if (draft.type !== "text") {
		const own = draft.data ? mediaSpec(draft.data) : {};
		const withSpec = (more: object) => ({ ...head, model_spec: { ...spec, ...own, ...more } });
		if (draft.type === "tts") {
			const speech = speechProperties(entry, draft.data, listings);
			return frozen({ ...base, type: draft.type, speech, public: withSpec(speech === null ? {} : ownSpeechSpec(speech)) });
		}
		if (draft.type === "asr") {
			const transcription = transcriptionProperties(id, entry, draft.data);
			return frozen({ ...base, type: draft.type, transcription, public: withSpec(ownTranscriptionSpec(transcription)) });
		}
		if (draft.type === "embedding") {
			const embedding = embeddingProperties(entry, draft.data);
			return frozen({ ...base, type: draft.type, embedding, public: withSpec(ownEmbeddingSpec(embedding)) });
		}
		const isChanged = entry?.image !== undefined || draft.data === undefined;
		if (draft.type === "inpaint" || draft.type === "image") {
			const image = imageProperties(draft.type, entry, draft.data);
			return frozen({ ...base, type: draft.type, image, public: withSpec(isChanged ? ownImageSpec(draft.type, image) : {}) });
		}
		if (draft.type === "upscale") {
			const upscale = upscaleProperties(entry, draft.data);
			return frozen({ ...base, type: draft.type, upscale, public: withSpec(isChanged ? ownUpscaleSpec(upscale) : {}) });
		}
		return frozen({ ...base, type: draft.type, public: withSpec({}) });
	}
	const properties = {
		contextTokens: contextTokens(draft, config),
		maxCompletionTokens: entry?.maxCompletionTokens ?? draft.data?.maxCompletionTokens ?? smallest(draft, "maxCompletionTokens"),
		capabilities: textCapabilities(
			entry,
			draft.data,
			servedFeatures(targets, config),
			draft.listings.find(({ model }) => model.capabilities)?.model.capabilities,
		),
		prices: textPrices(entry, draft.data, priceMultiplier(targets, config)),
		temperature: entry?.temperature ?? draft.data?.temperature ?? PROTOCOL_TEMPERATURE,
		topP: entry?.topP ?? draft.data?.topP ?? PROTOCOL_TOP_P,
	};
	const { contextTokens: context, maxCompletionTokens, capabilities, prices } = properties;
	const thinkBlocks = entry?.thinkBlocks ?? draft.data?.thinkBlocks;
	const repairsFormat = (entry?.responseFormat ?? draft.data?.responseFormat) === "repair";
	const readsFiles = entry?.files === "native";
	return frozen({
		...base,
		type: draft.type,
		capabilities,
		prices,
		contextTokens: context,
		maxCompletionTokens,
		...(thinkBlocks && { thinkBlocks }),
		...(repairsFormat && { repairsFormat }),
		...(readsFiles && { readsFiles }),
		public: {
			...head,
			...(context !== null && { context_length: context }),
			model_spec: { ...spec, ...textSpec(properties) },
		},
	});
}

function servedFeatures(targets: Draft["targets"], { web, upstreams }: Config): ServedFeatures {
	const all = (holds: (upstream: string) => boolean) => targets.length > 0 && targets.every(({ upstream }) => holds(upstream));
	// Providers' packages receive no attestation keys.
	const attestation = (name: string) => (upstreams[name]?.provider === undefined ? upstreams[name]?.attestation : undefined);
	return {
		webSearch: web.search.order.some((name) => web.search[name] !== undefined),
		xSearch: all((name) => upstreams[name]?.provider === "xai"),
		attestation: all((name) => name === EMBEDDED || attestation(name) !== undefined),
		sealed: all((name) => name === EMBEDDED || attestation(name)?.sealed === true),
	};
}

/**
 * Returns the context that every target accepts. The built-in engine accepts no more than its setting, whatever the weights
 * allow.
 */
function contextTokens(
	{ entry, data, listings, targets, ...draft }: Extract<Draft, { type: "text" }>,
	config: Config,
): number | null {
	const listed = entry?.contextTokens ?? data?.contextTokens ?? smallest({ listings, ...draft }, "contextTokens");
	if (!targets.some(({ upstream }) => upstream === EMBEDDED)) return listed;
	const engine = config.chat.embedded.contextTokens;
	return listed === null ? engine : Math.min(listed, engine);
}

function smallest({ listings }: Pick<Draft, "listings">, member: "contextTokens" | "maxCompletionTokens"): number | null {
	const listed = listings.flatMap(({ model }) => model[member] ?? []);
	return listed.length > 0 ? Math.min(...listed) : null;
}

/** Returns the upstreams on this machine or on a private network, whose prompts stay with the operator. */
function privateUpstreams(config: Config): Set<string> {
	const own = Object.entries(config.upstreams).filter(([, { url }]) => isPrivateAddress(url));
	return new Set([EMBEDDED, ...own.map(([name]) => name)]);
}

function frozen<T>(value: T): T {
	if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
	Object.freeze(value);
	for (const member of Object.values(value)) frozen(member);
	return value;
}
