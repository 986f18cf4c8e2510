import type { Config } from "../config/index.ts";
import { CatalogError } from "./catalog-error.ts";
import type { Draft } from "./drafts.ts";
import type { CatalogData } from "./load-data.ts";
import { MODEL_TYPES, type ModelType } from "./types.ts";

/** Per type: trait (or compatibility name) -> model id. */
export type NameMaps = ReadonlyMap<ModelType, ReadonlyMap<string, string>>;

/**
 * Assigns one model to each trait. The configuration's `models.traits` comes first, then `traits` of configured models in their
 * order, then the data files. `default` of type text stays with the built-in model while that can run; otherwise it goes to the
 * first configured model that is online, then to the first that an upstream lists. A configured trait whose model is missing is
 * reported in `warnings` and left out.
 */
export function assignTraits(drafts: readonly Draft[], config: Config, warnings: string[]): NameMaps {
	const byId = new Map(drafts.map((draft) => [draft.id, draft]));
	const maps = new Map<ModelType, Map<string, string>>(MODEL_TYPES.map((type) => [type, new Map()]));
	for (const [type, traits] of configuredMaps(config.models.traits, "models.traits")) {
		for (const [trait, id] of traits) {
			if (fits(byId.get(id), type, id, `models.traits.${type}.${trait}`, warnings)) maps.get(type)?.set(trait, id);
		}
	}
	const claim = (draft: Draft, traits: readonly string[] = []): void => {
		const map = maps.get(draft.type);
		for (const trait of traits) if (map && !map.has(trait)) map.set(trait, draft.id);
	};
	for (const draft of drafts) claim(draft, draft.entry?.traits);
	const online = drafts.filter(({ offlineReason }) => offlineReason === undefined);
	for (const draft of online) claim(draft, draft.data?.traits);
	const fallback = online.find(({ type, entry }) => type === "text" && entry) ?? online.find(({ type }) => type === "text");
	if (fallback) claim(fallback, ["default"]);
	for (const draft of drafts) claim(draft, draft.data?.traits);
	return maps;
}

/**
 * Assigns compatibility names: the data files', overridden by `models.mappings`. A target may be a model or a trait of the
 * type.
 */
export function assignMappings(
	drafts: readonly Draft[],
	traits: NameMaps,
	data: CatalogData,
	config: Config,
	warnings: string[],
): NameMaps {
	const byId = new Map(drafts.map((draft) => [draft.id, draft]));
	const maps = new Map<ModelType, Map<string, string>>(
		MODEL_TYPES.map((type) => [type, new Map(Object.entries(data.mappings[type] ?? {}))]),
	);
	for (const [type, names] of configuredMaps(config.models.mappings, "models.mappings")) {
		for (const [name, target] of names) {
			const id = byId.has(target) ? target : (traits.get(type)?.get(target) ?? target);
			if (fits(byId.get(id), type, target, `models.mappings.${type}.${name}`, warnings)) maps.get(type)?.set(name, id);
		}
	}
	return maps;
}

function configuredMaps(
	section: Readonly<Record<string, Readonly<Record<string, string>>>>,
	path: string,
): [ModelType, [string, string][]][] {
	return Object.entries(section).map(([name, map]) => {
		const type = MODEL_TYPES.find((known) => known === name);
		if (!type)
			throw new CatalogError("config", `${path}.${name}`, `is not a model type; expected one of ${MODEL_TYPES.join(", ")}`);
		return [type, Object.entries(map)];
	});
}

/**
 * Checks the type of a name's target. A wrong type in the configuration or the data files is an error; in an upstream's list,
 * which may change at any time, it is a warning.
 */
function fits(draft: Draft | undefined, expected: ModelType, id: string, path: string, warnings: string[]): boolean {
	if (draft?.type === expected) return true;
	const problem = draft ? `"${id}" is a model of type ${draft.type}` : `there is no model "${id}" now`;
	if (draft?.data || draft?.entry?.type) throw new CatalogError("config", path, problem);
	warnings.push(`${path}: ${problem}; the name is left out`);
	return false;
}
