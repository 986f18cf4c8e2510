import {
	buildCatalog,
	type Catalog,
	CatalogError,
	type DiscoveredModel,
	DiscoveryError,
	discoverModels,
	loadCatalogData,
	loadCharacterData,
	unpricedUpstreams,
} from "../../catalog/index.ts";
import type { Config, SettingPlaces, UpstreamConfig } from "../../config/index.ts";
import { nativeChatEngine } from "../../engines/chat/index.ts";
import { nativeEmbeddingEngine } from "../../engines/embeddings/index.ts";
import { nativeSpeechEngine } from "../../engines/speech/index.ts";
import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import { CATALOG_DIR } from "../paths.ts";
import { priceLine, soldBelowCost, unreadWorkflows } from "./entries.ts";

type Lists = Map<string, readonly DiscoveredModel[]>;

/** Checks each upstream of models, then the models that the configuration defines. */
export async function checkModels(config: Config, places: SettingPlaces): Promise<Finding[]> {
	const lists: Lists = new Map();
	const upstreams = await Promise.all(
		Object.entries(config.upstreams).map(([name, settings]) => checkUpstream(config, name, settings, lists)),
	);
	const { entries } = config.models;
	return [...upstreams, ...checkCatalog(config, lists, places), ...(await unreadWorkflows(entries)), ...soldBelowCost(entries)];
}

async function checkUpstream(config: Config, upstream: string, settings: UpstreamConfig, lists: Lists): Promise<Finding> {
	const name = `upstream ${upstream}`;
	if (settings.provider !== undefined) return checkProvider(config, upstream, settings);
	try {
		const models = await discoverModels(settings);
		lists.set(upstream, models);
		const text = `${settings.url} lists ${models.length} models`;
		return models.length > 0 ? ok(name, text) : notice(name, text, "load a model there; with Ollama: ollama pull NAME");
	} catch (error) {
		if (!(error instanceof DiscoveryError)) throw error;
		// Image and speech servers often have no list; it is missed only if `discover` is on.
		if (error.status === 404 && !settings.discover) return ok(name, `${settings.url} answers, without a list of models`);
		return fault(name, error.message, mendOf(upstream, settings, error));
	}
}

function mendOf(upstream: string, { url }: UpstreamConfig, { fault: kind, status }: DiscoveryError): string {
	const setting = `upstreams.${upstream}`;
	if (kind === "unreachable" || kind === "timeout") return `start the server at ${url}, or set ${setting}.url to its address`;
	if (status === 401 || status === 403) return `set ${setting}.key: the server refuses the current key, or requires one`;
	if (status === 404) return `set ${setting}.url to the address above /models, usually with /v1; or ${setting}.discover: false`;
	if (kind === "status") return `run curl -i ${url}/models, and read that server's log`;
	return `set ${setting}.url to the address of an OpenAI-compatible API, above /models`;
}

/** Checks a provider's settings only, because a call would cost money. */
function checkProvider(config: Config, upstream: string, { provider, url }: UpstreamConfig): Finding {
	const name = `upstream ${upstream}`;
	const entries = Object.values(config.models.entries).filter(({ upstreams }) =>
		upstreams?.some((target) => target.upstream === upstream),
	);
	if (entries.length > 0) return ok(name, `${provider} at ${url}: ${entries.length} models are sold from it`);
	const mend = `models: {entries: {NAME: {price: {input: 1, output: 2}, upstreams: [{upstream: ${upstream}, model: ITS_NAME}]}}}`;
	return fault(name, `${provider} at ${url}: no entry under models.entries uses it`, mend);
}

function checkCatalog(config: Config, lists: Lists, places: SettingPlaces): Finding[] {
	const name = "models";
	try {
		const catalog = buildCatalog({
			data: loadCatalogData(CATALOG_DIR),
			config,
			discovered: lists,
			embeddedAvailable: nativeChatEngine().ok,
			speechAvailable: nativeSpeechEngine().ok,
			embeddingsAvailable: nativeEmbeddingEngine().ok,
			imagesAvailable: true,
		});
		if (config.characters !== undefined) loadCharacterData(config.characters);
		const online = catalog.list("all").filter(({ offline }) => !offline).length;
		const findings = [...offlineEntries(catalog, config), ...unlistedTargets(config, lists), ...unpricedModels(catalog, config)];
		const warnings = catalog.warnings.map((text) =>
			notice(name, text, "provide that model, or name another one in turnpike.yaml"),
		);
		return [ok(name, `${online} can be called`), ...findings, ...warnings];
	} catch (error) {
		if (!(error instanceof CatalogError)) throw error;
		return [fault(name, `${error.message}: a start exits with 78`, catalogMend(error, places))];
	}
}

function catalogMend({ source, path }: CatalogError, places: SettingPlaces): string {
	if (source === "config") return `correct ${places.of(path)}`;
	return path === "" ? `set characters to a readable file of characters, not ${source}` : `correct ${path} in ${source}`;
}

/** Finds configured models that no upstream serves. */
function offlineEntries(catalog: Catalog, config: Config): Finding[] {
	return Object.entries(config.models.entries).flatMap(([id, entry]) => {
		const model = catalog.get(id);
		if (model?.offline !== true || entry.offline === true) return [];
		const mend = `models.entries["${id}"].upstreams: [{upstream: NAME, model: ITS_NAME_THERE}]`;
		return [fault(`model ${id}`, `is offline. ${model.offlineReason ?? ""}`.trim(), mend)];
	});
}

/** Finds target names that the server does not list. Some servers accept names that they do not list, so this is no fault. */
function unlistedTargets(config: Config, lists: Lists): Finding[] {
	return Object.entries(config.models.entries).flatMap(([id, { upstreams = [] }]) =>
		upstreams.flatMap(({ upstream, model = id, protocol }) => {
			// A workflow names its models itself.
			if (protocol === "comfyui") return [];
			const listed = lists.get(upstream)?.map((model) => model.id) ?? [];
			if (listed.length === 0 || listed.includes(model)) return [];
			const names = `${listed.slice(0, 5).join(", ")}${listed.length > 5 ? ", ..." : ""}`;
			const mend = `models.entries["${id}"].upstreams: name one that it lists (${names})`;
			return [notice(`model ${id}`, `upstream ${upstream} does not list "${model}"`, mend)];
		}),
	);
}

/** Finds models at price 0. This is a fault only if the upstream charges for them. */
function unpricedModels(catalog: Catalog, config: Config): Finding[] {
	return unpricedUpstreams(catalog, config).map(({ upstream, models, billed, example }) => {
		const text = `${models === 1 ? "1 model of upstream" : `${models} models of upstream`} ${upstream} without a price: free for every account`;
		const mend = `${priceLine(example.id, example.type)}, or upstreams.${upstream}.discover: false`;
		return billed ? fault("prices", text, mend) : notice("prices", text, mend);
	});
}
