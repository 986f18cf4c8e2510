/**
 * The first half of building a catalog: which models exist, and which upstreams serve each. Precedence: configuration, then
 * data files, then upstreams' lists (docs/models.md).
 */

import type { Config, ModelEntry } from "../config/index.ts";
import { speechProperties } from "./audio-model.ts";
import { CatalogError } from "./catalog-error.ts";
import type { MediaModelData, ModelData, TextModelData } from "./data-schema.ts";
import type { Listing } from "./discover-models.ts";
import type { CatalogData } from "./load-data.ts";
import type { DiscoveredModel, ModelTarget, ModelType } from "./types.ts";

/** The name of the built-in engines as an upstream. */
export const EMBEDDED = "embedded";

export interface CatalogSources {
	readonly data: CatalogData;
	readonly config: Config;
	/** Upstream name -> its list. An upstream without an entry never answered: its list is unknown. */
	readonly discovered: ReadonlyMap<string, readonly DiscoveredModel[]>;
	/** True if the built-in chat engine can run on this machine. */
	readonly embeddedAvailable: boolean;
	/** True if the built-in speech engine can run on this machine. Default: false. */
	readonly speechAvailable?: boolean;
	/** True if images can be edited and enlarged on this machine. Default: false. */
	readonly imagesAvailable?: boolean;
	/** True if the built-in embedding engine can run on this machine. Default: false. */
	readonly embeddingsAvailable?: boolean;
	/** Types for which this version has routes; models of other types are offline. Default: all but music and video. */
	readonly servedTypes?: ReadonlySet<ModelType>;
	/** Milliseconds; default `Date.now`. */
	readonly wallMs?: () => number;
}

interface DraftBase {
	readonly id: string;
	readonly entry: ModelEntry | undefined;
	readonly listings: readonly Listing[];
	readonly targets: readonly ModelTarget[];
	readonly offlineReason: string | undefined;
}

/** A model before its traits are assigned. */
export type Draft =
	| (DraftBase & { readonly type: "text"; readonly data: TextModelData | undefined })
	| (DraftBase & { readonly type: Exclude<ModelType, "text">; readonly data: MediaModelData | undefined });

const DEFAULT_SERVED: ReadonlySet<ModelType> = new Set<ModelType>([
	"text",
	"tts",
	"asr",
	"embedding",
	"inpaint",
	"image",
	"upscale",
]);

/** Returns the models to show: configured ones, then those of the data files, then those that upstreams list. */
export function draftModels(inputs: CatalogSources): Draft[] {
	const { config, data } = inputs;
	const dataById = new Map<string, ModelData>([...data.textModels, ...data.mediaModels].map((model) => [model.id, model]));
	const listings = listingsById(inputs);
	const ids = new Set<string>(Object.keys(config.models.entries));
	for (const model of dataById.values())
		if (model.listed && !(isEmbedded(model) && !config.chat.embedded.enabled)) ids.add(model.id);
	// An upstream's model with the name of a media model may be of another kind, so only the configuration maps such names.
	const isChat = (id: string) => (dataById.get(id)?.type ?? "text") === "text";
	for (const id of listings.keys()) if (isChat(id)) ids.add(id);
	const drafts: Draft[] = [];
	for (const id of ids) {
		const entry = Object.hasOwn(config.models.entries, id) ? config.models.entries[id] : undefined;
		if (entry?.hidden) continue;
		const catalogData = dataById.get(id);
		const modelListings = entry?.upstreams
			? mappedListings(inputs, id, entry.upstreams)
			: entry || isChat(id)
				? (listings.get(id) ?? [])
				: [];
		drafts.push(
			draftOf(inputs, { id, type: typeOf(entry, catalogData, modelListings), entry, data: catalogData, listings: modelListings }),
		);
	}
	return drafts;
}

/** The sources for one model, before its upstreams are chosen. */
interface Candidate {
	readonly id: string;
	readonly type: ModelType;
	readonly entry: ModelEntry | undefined;
	readonly data: ModelData | undefined;
	readonly listings: readonly Listing[];
}

function draftOf(inputs: CatalogSources, candidate: Candidate): Draft {
	const { id, type, entry, data, listings } = candidate;
	if (entry?.type && entry.type !== type) throw configError(id, "type", `"${id}" is known as a model of type ${type}`);
	const targets = targetsOf(inputs, candidate);
	const base = { id, entry, listings, targets, offlineReason: offlineReason(inputs, candidate, targets) };
	if (type === "text") return { ...base, type, data: data?.type === "text" ? data : undefined };
	return { ...base, type, data: data && data.type !== "text" ? data : undefined };
}

/** Returns a model's type. The data files come first, so that an entry that contradicts them is found. */
function typeOf(entry: ModelEntry | undefined, data: ModelData | undefined, listings: readonly Listing[]): ModelType {
	return data?.type ?? entry?.type ?? (hasTextMembers(entry) ? "text" : listings[0]?.model.type) ?? "text";
}

/** The members of a configured model that only text models have. */
export const TEXT_ONLY = [
	"price",
	"contextTokens",
	"maxCompletionTokens",
	"tier",
	"capabilities",
	"temperature",
	"topP",
	"thinkBlocks",
	"responseFormat",
	"files",
] as const;

function hasTextMembers(entry: ModelEntry | undefined): boolean {
	return entry?.cost?.output !== undefined || TEXT_ONLY.some((member) => entry?.[member] !== undefined);
}

/** Returns an error in `models.entries` of the configuration. */
export function configError(id: string, member: string, problem: string): CatalogError {
	return new CatalogError("config", `models.entries.${id}.${member}`, problem);
}

/**
 * Returns each upstream's listing by id. Names that a configured entry maps are left out: they are sold only under the entry's
 * name and price.
 */
function listingsById({ config, discovered }: CatalogSources): Map<string, Listing[]> {
	const renamed = new Set<string>();
	for (const [id, entry] of Object.entries(config.models.entries)) {
		for (const { upstream, model } of entry.upstreams ?? []) {
			if (model !== undefined && model !== id) renamed.add(`${upstream}\n${model}`);
		}
	}
	const byId = new Map<string, Listing[]>();
	for (const [upstream, { discover }] of Object.entries(config.upstreams)) {
		for (const model of (discover && discovered.get(upstream)) || []) {
			if (renamed.has(`${upstream}\n${model.id}`)) continue;
			const listings = byId.get(model.id) ?? [];
			byId.set(model.id, listings);
			if (!listings.some((other) => other.upstream === upstream)) listings.push({ upstream, model });
		}
	}
	return byId;
}

/** Returns the listings of the models that an entry maps, under the upstreams' names for them. */
function mappedListings(
	{ config, discovered }: CatalogSources,
	id: string,
	targets: NonNullable<ModelEntry["upstreams"]>,
): Listing[] {
	return targets.flatMap(({ upstream, model: name = id }) => {
		const listed = config.upstreams[upstream]?.discover === true ? (discovered.get(upstream) ?? []) : [];
		const model = listed.find((one) => one.id === name);
		return model === undefined ? [] : [{ upstream, model }];
	});
}

function targetsOf(inputs: CatalogSources, { id, type, entry, data, listings }: Candidate): ModelTarget[] {
	const builtIn = type === "text" ? inputs.data.textModels.find(isEmbedded) : inputs.data.mediaModels.find(runsHere(type));
	const embeddedId = builtIn?.id;
	if (entry?.upstreams) {
		return entry.upstreams.map((target, index): ModelTarget => {
			if (target.upstream === EMBEDDED) {
				if (embeddedId === undefined)
					throw configError(id, `upstreams[${index}].upstream`, `the built-in engine runs no model of type ${type}`);
				return { ...target, model: embeddedId };
			}
			if (!Object.hasOwn(inputs.config.upstreams, target.upstream))
				throw configError(id, `upstreams[${index}].upstream`, `there is no upstream "${target.upstream}" under upstreams`);
			return { ...target, model: target.model ?? id, ...revealedDialect(inputs, target.upstream) };
		});
	}
	const targets: ModelTarget[] = listings.map(({ upstream }) => {
		return { upstream, model: id, weight: 1, order: 0, ...revealedDialect(inputs, upstream) };
	});
	const engineRuns = inputs.config.chat.embedded.enabled && inputs.embeddedAvailable;
	if (data && isEmbedded(data) && (engineRuns || targets.length === 0))
		targets.push({ upstream: EMBEDDED, model: id, weight: 1, order: targets.length > 0 ? 1 : 0 });
	const speechRuns = inputs.config.speech.embedded.enabled && inputs.speechAvailable === true;
	const embeddingsRun = inputs.config.embeddings.embedded.enabled && inputs.embeddingsAvailable === true;
	const mediaRuns = type === "tts" ? speechRuns : type === "embedding" ? embeddingsRun : inputs.imagesAvailable === true;
	if (data && runsHere(type)(data) && (mediaRuns || targets.length === 0))
		targets.push({ upstream: EMBEDDED, model: id, weight: 1, order: targets.length > 0 ? 1 : 0 });
	const only = onlyUnlistedUpstream(inputs);
	if (targets.length === 0 && entry && only !== undefined && type === "text")
		targets.push({ upstream: only, model: id, weight: 1, order: 0 });
	return targets;
}

/** Returns the kind of server that an upstream's list reveals, if the configuration names none. */
function revealedDialect({ config, discovered }: CatalogSources, upstream: string): Pick<ModelTarget, "dialect"> {
	if (config.upstreams[upstream]?.dialect !== "generic") return {};
	const dialect = discovered.get(upstream)?.find(({ server }) => server !== undefined)?.server;
	return dialect === undefined ? {} : { dialect };
}

/**
 * Returns the only upstream whose list is unknown (down so far, or not queried): a configured model without another upstream
 * must belong to it.
 */
function onlyUnlistedUpstream({ config, discovered }: CatalogSources): string | undefined {
	const [only, ...others] = Object.entries(config.upstreams);
	if (!only || others.length > 0) return undefined;
	const [name, { discover }] = only;
	return discover && discovered.has(name) ? undefined : name;
}

function isEmbedded(model: ModelData): boolean {
	return model.type === "text" && model.engine === "embedded";
}

/** Returns a test for models of a type other than text that run on this machine. */
function runsHere(type: ModelType): (model: ModelData) => boolean {
	return (model) => model.type === type && model.type !== "text" && "engine" in model && model.engine === "embedded";
}

function offlineReason(
	inputs: CatalogSources,
	{ id, type, entry, data, listings }: Candidate,
	targets: readonly ModelTarget[],
): string | undefined {
	const { config, embeddedAvailable, servedTypes = DEFAULT_SERVED } = inputs;
	const bring = `name one of your upstreams under models.entries["${id}"].upstreams in turnpike.yaml`;
	if (entry?.offline) return `The operator has switched it off (models.entries["${id}"].offline in turnpike.yaml).`;
	if (type === "tts" && speechProperties(entry, data?.type === "text" ? undefined : data, listings) === null)
		return `Its voices are not known: set models.entries["${id}"].speech.voices.`;
	if (targets.some(({ upstream }) => upstream !== EMBEDDED)) {
		return servedTypes.has(type) ? undefined : `This version serves no models of type ${type} yet.`;
	}
	if (type === "tts" && targets.length > 0) {
		if (!config.speech.embedded.enabled) return `The built-in voices are off: set speech.embedded.enabled, or ${bring}.`;
		if (inputs.speechAvailable !== true)
			return `The built-in voices cannot run on this machine (turnpike doctor says why): ${bring}.`;
		return undefined;
	}
	if (type === "embedding" && targets.length > 0) {
		if (!config.embeddings.embedded.enabled)
			return `The built-in embeddings are off: set embeddings.embedded.enabled, or ${bring}.`;
		if (inputs.embeddingsAvailable !== true)
			return `The built-in embeddings cannot run on this machine (turnpike doctor says why): ${bring}.`;
		return undefined;
	}
	if (targets.length > 0 && type !== "text")
		return inputs.imagesAvailable === true
			? undefined
			: `Pictures cannot be edited on this machine (turnpike doctor says why): ${bring}.`;
	if (targets.length > 0 || (data && isEmbedded(data))) {
		if (!config.chat.embedded.enabled) return `The built-in engine is off: set chat.embedded.enabled, or ${bring}.`;
		if (!embeddedAvailable) return `The built-in engine cannot run on this machine (turnpike doctor says why): ${bring}.`;
		return undefined;
	}
	const local = inputs.imagesAvailable === true && type === "inpaint" ? inputs.data.mediaModels.find(runsHere(type)) : undefined;
	const instead = local === undefined ? "" : ` Without one, "${local.id}" does what can be done on this machine.`;
	if (entry) return `No upstream lists it: ${bring}.${instead}`;
	return `Nothing here serves it: to bring it, ${bring}.${instead}`;
}
