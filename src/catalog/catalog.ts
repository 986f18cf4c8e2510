import { ApiError } from "../errors/index.ts";
import { headerText } from "../wire/index.ts";
import { MAX_MODEL_REF, splitModelRef } from "./model-ref.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import type { NameMaps } from "./traits.ts";
import { MODEL_TYPES, type Model, type ModelOf, type ModelType } from "./types.ts";

/** A model reference and its model. */
export interface Resolution<T extends ModelType> {
	readonly model: ModelOf<T>;
	/** Options from the reference's suffix; options in the body override them. */
	readonly suffix: ServiceParameters;
	/** The retired id in the request, if its replacement answers. */
	readonly remappedFrom?: string;
}

export interface CatalogDeps {
	readonly models: readonly Model[];
	readonly traits: NameMaps;
	readonly mappings: NameMaps;
	/** Hidden models of the data files: id -> type. */
	readonly unlisted: ReadonlyMap<string, ModelType>;
	readonly warnings: readonly string[];
	readonly wallMs: () => number;
}

/** The most replacements that are followed from a retired model. */
const MAX_REPLACEMENTS = 8;
/** Removed from the front of a name that is unknown with it (docs/models.md). */
const NAME_PREFIX = "service-";
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The models of this service at one moment. It is immutable: a change of the configuration or of an upstream builds a new one.
 */
export class Catalog {
	/** Names in the configuration that do not exist now, for the log and `doctor`. */
	readonly warnings: readonly string[];
	readonly #byId: ReadonlyMap<string, Model>;
	readonly #byType: ReadonlyMap<ModelType | "all" | "code", readonly Model[]>;
	readonly #traits: NameMaps;
	readonly #mappings: NameMaps;
	readonly #unlisted: ReadonlyMap<string, ModelType>;
	readonly #notices: ReadonlyMap<string, DeprecationNotice>;
	readonly #wallMs: () => number;

	constructor(deps: CatalogDeps) {
		const sorted = [...deps.models].sort((a, b) => b.created - a.created || (a.id < b.id ? -1 : 1));
		this.warnings = deps.warnings;
		this.#byId = new Map(sorted.map((model) => [model.id, model]));
		this.#byType = new Map<ModelType | "all" | "code", readonly Model[]>([
			["all", sorted],
			["code", sorted.filter((model) => model.type === "text" && model.capabilities.optimizedForCode)],
			...MODEL_TYPES.map((type) => [type, sorted.filter((model) => model.type === type)] as const),
		]);
		this.#traits = deps.traits;
		this.#mappings = deps.mappings;
		this.#unlisted = deps.unlisted;
		this.#notices = new Map(sorted.flatMap((model) => (model.deprecation ? [[model.id, noticeOf(model)]] : [])));
		this.#wallMs = deps.wallMs;
	}

	/** Returns the models of a type, newest first, without removed ones. `all`: every type; `code`: text models made for code. */
	list(type: ModelType | "all" | "code"): readonly Model[] {
		const models = this.#byType.get(type) ?? [];
		return this.#notices.size === 0 ? models : models.filter((model) => !this.#isRemoved(model, this.#wallMs()));
	}

	/** Returns a model by its exact id; undefined if it is unknown or removed. */
	get(id: string): Model | undefined {
		const model = this.#byId.get(id);
		return model && !this.#isRemoved(model, this.#wallMs()) ? model : undefined;
	}

	/** Maps traits to model ids. The traits of a removed model pass to its replacement. */
	traits(type: ModelType): Record<string, string> {
		return this.#shownNames(this.#traits, type);
	}

	/** Maps compatibility names to model ids. */
	compatibilityMapping(type: ModelType): Record<string, string> {
		return this.#shownNames(this.#mappings, type);
	}

	/**
	 * Resolves a model reference and the options of its suffix (docs/models.md). The whole text is tried as id, trait and
	 * compatibility name before a suffix is split off. Costs a few map look-ups.
	 * @throws {ApiError} MODEL_NOT_FOUND, INVALID_MODEL (another type), INVALID_REQUEST (bad suffix), MODEL_REMOVED,
	 * MODEL_OFFLINE
	 */
	resolve<T extends ModelType>(ref: string, type: T, nowMs = this.#wallMs()): Resolution<T> {
		if (ref.length > MAX_MODEL_REF) throw unknownModel(ref, type);
		const exactModel = this.#find(ref, type, nowMs);
		if (exactModel) return this.#usable(exactModel, type, nowMs, {});
		const split = splitModelRef(ref);
		const suffixedModel = split && this.#find(split.name, type, nowMs);
		if (suffixedModel) return this.#usable(suffixedModel, type, nowMs, split.suffix);
		this.#refuseOtherType(ref, split?.name ?? ref, type);
		if (ref.startsWith(NAME_PREFIX)) {
			const rest = ref.slice(NAME_PREFIX.length);
			const unprefixedModel = this.#find(rest, type, nowMs);
			if (unprefixedModel) return this.#usable(unprefixedModel, type, nowMs, {});
			const typedModel = split && this.#find(split.name.slice(NAME_PREFIX.length), type, nowMs);
			if (typedModel) return this.#usable(typedModel, type, nowMs, split.suffix);
		}
		throw unknownModel(split?.name ?? ref, type);
	}

	/** Returns true for a known model that is hidden because nothing serves it. */
	isUnlisted(id: string, type: ModelType): boolean {
		return this.#unlisted.get(id) === type;
	}

	/**
	 * Returns, by its id, a model that belongs to a route.
	 * @throws {ApiError} MODEL_OFFLINE, also if the model is hidden
	 */
	own<T extends ModelType>(id: string, type: T, nowMs = this.#wallMs()): ModelOf<T> {
		if (!this.#byId.has(id)) throw offline(id, bringUnlisted(id));
		return this.resolve(id, type, nowMs).model;
	}

	/**
	 * Returns headers that warn of a model's end, from `startsAt` on; empty for other models (docs/api.md). If `remappedFrom`
	 * names a retired model, the headers report its end.
	 */
	deprecationHeaders(model: Model, nowMs = this.#wallMs(), remappedFrom?: string): Readonly<Record<string, string>> {
		if (this.#notices.size === 0) return NO_HEADERS;
		const notice = this.#notices.get(remappedFrom ?? model.id);
		if (!notice || nowMs < notice.startsAtMs) return NO_HEADERS;
		return nowMs < notice.removesAtMs ? notice.headers : notice.headersAfter;
	}

	/** Looks a name up in this order: id (not removed), trait, compatibility name, removed id. */
	#find<T extends ModelType>(name: string, type: T, nowMs: number): ModelOf<T> | undefined {
		const exact = this.#typed(name, type);
		if (exact && !this.#isRemoved(exact, nowMs)) return exact;
		const id = this.#traits.get(type)?.get(name) ?? this.#mappings.get(type)?.get(name);
		const typedModel = id === undefined ? undefined : this.#typed(id, type);
		if (id !== undefined && !typedModel && this.#unlisted.has(id)) throw offline(id, bringUnlisted(id));
		return typedModel ?? exact;
	}

	#typed<T extends ModelType>(id: string, type: T): ModelOf<T> | undefined {
		const model = this.#byId.get(id);
		return model && model.type === type ? (model as ModelOf<T>) : undefined;
	}

	#usable<T extends ModelType>(requested: ModelOf<T>, type: T, nowMs: number, suffix: ServiceParameters): Resolution<T> {
		const model = this.#live(requested, type, nowMs);
		if (!model) {
			throw new ApiError("MODEL_REMOVED", {
				message: `The model ${shortQuote(requested.id)} was retired on ${requested.deprecation?.removesAt}; GET /api/v1/models?type=${type} lists what is available`,
				param: "model",
			});
		}
		if (model.offline) throw offline(model.id, model.offlineReason);
		return model === requested ? { model, suffix } : { model, suffix, remappedFrom: requested.id };
	}

	/** Returns the model, or its replacement after its removal; undefined if there is none. */
	#live<T extends ModelType>(model: ModelOf<T>, type: T, nowMs: number): ModelOf<T> | undefined {
		let current: ModelOf<T> | undefined = model;
		for (let hops = 0; current && hops <= MAX_REPLACEMENTS; hops++) {
			if (!this.#isRemoved(current, nowMs)) return current;
			const next: string | undefined = current.deprecation?.autoRemap ? current.deprecation.replacementModelId : undefined;
			if (next === undefined) return undefined;
			current = this.#typed(next, type) ?? this.#typed(this.#traits.get(type)?.get(next) ?? "", type);
		}
		return undefined;
	}

	#refuseOtherType(ref: string, name: string, type: ModelType): void {
		const otherTypeModel = this.#byId.get(ref) ?? this.#byId.get(name);
		if (!otherTypeModel || otherTypeModel.type === type) return;
		throw new ApiError("INVALID_MODEL", {
			message: `The model ${shortQuote(otherTypeModel.id)} is of type ${otherTypeModel.type} and cannot be used here; GET /api/v1/models?type=${type} lists those that can`,
			param: "model",
		});
	}

	#isRemoved(model: Model, nowMs: number): boolean {
		if (!model.deprecation) return false;
		const notice = this.#notices.get(model.id);
		return notice !== undefined && nowMs >= notice.removesAtMs;
	}

	#shownNames(maps: NameMaps, type: ModelType): Record<string, string> {
		const nowMs = this.#wallMs();
		const shown: [string, string][] = [];
		for (const [name, id] of maps.get(type) ?? []) {
			const model = this.#typed(id, type);
			const live = model ? this.#live(model, type, nowMs)?.id : this.#unlisted.has(id) ? id : undefined;
			if (live !== undefined) shown.push([name, live]);
		}
		return Object.fromEntries(shown);
	}
}

interface DeprecationNotice {
	readonly startsAtMs: number;
	readonly removesAtMs: number;
	readonly headers: Readonly<Record<string, string>>;
	/** The headers from the removal on. */
	readonly headersAfter: Readonly<Record<string, string>>;
}

function noticeOf({ id, deprecation }: Model): DeprecationNotice {
	const { startsAt, removesAt = "", date = "", replacementModelId } = deprecation ?? {};
	const instead = replacementModelId === undefined ? "choose another model" : `use ${replacementModelId}`;
	const headers = (verb: string) =>
		Object.freeze({
			"X-Service-Model-Deprecation-Warning": headerText(`The model ${id} ${verb} removed at ${removesAt}; ${instead}`),
			"X-Service-Model-Deprecation-Date": date,
		});
	return {
		startsAtMs: startsAt === undefined ? Number.NEGATIVE_INFINITY : Date.parse(startsAt),
		removesAtMs: Date.parse(removesAt),
		headers: headers("is"),
		headersAfter: headers("was"),
	};
}

function offline(id: string, reason = ""): ApiError {
	return new ApiError("MODEL_OFFLINE", {
		message: `The model ${shortQuote(id)} is offline. ${reason}`.trimEnd(),
		param: "model",
	});
}

function bringUnlisted(id: string): string {
	return `Nothing here serves it: to bring it, name one of your upstreams under models.entries["${id}"].upstreams in turnpike.yaml.`;
}

function unknownModel(name: string, type: ModelType): ApiError {
	const message = `Unknown model ${shortQuote(name)}; GET /api/v1/models?type=${type} lists what is available`;
	return new ApiError("MODEL_NOT_FOUND", { message, param: "model" });
}

/** Shortens a caller's text for a message or log line. */
function shortQuote(text: string): string {
	return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}
