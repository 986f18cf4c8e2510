import type { UpstreamConfig } from "../config/index.ts";
import { isRecord } from "../schema/is-record.ts";
import { listedKind } from "./listed-kind.ts";
import { capabilitiesOfProps, contextOfProps, propsPath, type RoutedModel, routedModels } from "./llama-router.ts";
import type { DiscoveredModel, TextCapabilities } from "./types.ts";

/** Why an upstream's list could not be read. */
export type DiscoveryFault = "unreachable" | "timeout" | "status" | "too-large" | "not-json" | "not-a-list";

/** An upstream did not answer GET /models with a list. The message contains no secrets. */
export class DiscoveryError extends Error {
	override readonly name = "DiscoveryError";
	readonly fault: DiscoveryFault;
	/** The HTTP status; null for other faults. */
	readonly status: number | null;

	constructor(fault: DiscoveryFault, message: string, cause?: unknown, status: number | null = null) {
		super(message, cause === undefined ? undefined : { cause });
		this.fault = fault;
		this.status = status;
	}
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface DiscoverOptions {
	readonly fetch?: Fetch;
	/** Limit for the list; all requests for context lengths together have the same limit again. Default 10 s. */
	readonly timeoutMs?: number;
	/** Limit for one answer. Default 8 MiB. */
	readonly maxBytes?: number;
	readonly signal?: AbortSignal;
}

const MAX_MODELS = 5_000;
const MAX_ID_LENGTH = 512;
/** The most models of a server for which details are requested one by one. */
const MAX_SHOWN = 200;
const SHOWN_AT_ONCE = 4;
/** In the year 2096: larger numbers are not a time in seconds. */
const LAST_SECOND = 4_000_000_000;
/** The list members with a model's context length in LM Studio, vLLM, OpenRouter and Groq. */
const CONTEXT_MEMBERS = [
	"loaded_context_length",
	"max_model_len",
	"context_length",
	"context_window",
	"max_context_length",
] as const;

/**
 * Returns the models that an upstream lists, with their context length if its dialect reports it (docs/models.md). Entries
 * without a usable id and duplicates are skipped.
 * @throws {DiscoveryError} if there is no list; a missing context length is no error
 */
export async function discoverModels(upstream: UpstreamConfig, options: DiscoverOptions = {}): Promise<DiscoveredModel[]> {
	const api = apiOf(upstream, options);
	const listUrl = api.url("/models");
	const list = await api.deadline((signal) => api.json(listUrl, {}, signal));
	const revealed = serverOf(list);
	const models = modelsOf(list, listUrl).map((model) => (revealed === null ? model : { ...model, server: revealed }));
	if (models.length === 0) return models;
	const server = revealed ?? upstream.dialect;
	const readDetails = async (signal: AbortSignal) => {
		const voiced = await withVoices(models, api, signal);
		return withContext({ server, list }, voiced, api, signal).catch(keepModels(voiced));
	};
	return api.deadline(readDetails).catch(keepModels(models));
}

/** Keeps the list if the server reports no details. */
function keepModels(models: DiscoveredModel[]): (error: unknown) => DiscoveredModel[] {
	return (error) => {
		if (error instanceof DiscoveryError) return models;
		throw error;
	};
}

interface UpstreamApi {
	/** Returns an address below the API's base (`/v1`). */
	url(path: string): string;
	/** Returns an address of the server itself. */
	rootUrl(path: string): string;
	/**
	 * Fetches and parses JSON.
	 * @throws {DiscoveryError}
	 */
	json(url: string, init: RequestInit, signal: AbortSignal): Promise<unknown>;
	/** Runs work that the time limit or the caller's signal aborts. */
	deadline<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

function apiOf(upstream: UpstreamConfig, options: DiscoverOptions): UpstreamApi {
	const { fetch: send = fetch, timeoutMs = 10_000, maxBytes = 8_388_608 } = options;
	const base = URL.parse(upstream.url);
	if (!base) throw new DiscoveryError("unreachable", "the upstream's url is not an address");
	const below = (path: string, add: string): string => {
		const url = new URL(base);
		const [addedPath = "", query = ""] = add.split("?", 2);
		url.pathname = path.replace(/\/+$/, "") + addedPath;
		if (query !== "") url.search = query;
		return url.href;
	};
	const headers = {
		accept: "application/json",
		...(upstream.key !== undefined && { authorization: `Bearer ${upstream.key}` }),
		...upstream.headers,
	};
	return {
		url: (path) => below(base.pathname, path),
		rootUrl: (path) => below(base.pathname.replace(/\/v1\/*$/, ""), path),
		json: async (url, init, signal) => {
			const call = `${init.method ?? "GET"} ${withoutSecrets(url)}`;
			try {
				const merged = { ...headers, ...(init.headers as Record<string, string> | undefined) };
				const response = await send(url, { ...init, headers: merged, redirect: "manual", signal });
				if (!response.ok) {
					await response.body?.cancel();
					throw new DiscoveryError("status", `${call} answered ${response.status}`, undefined, response.status);
				}
				return parseAnswer(await readText(response, maxBytes, call), call);
			} catch (error) {
				if (error instanceof DiscoveryError) throw error;
				if (signal.aborted) throw new DiscoveryError("timeout", `${call} took longer than ${timeoutMs} ms`, error);
				throw new DiscoveryError("unreachable", `${call} failed: ${codeOf(error)}`, error);
			}
		},
		deadline: async (work) => {
			const controller = new AbortController();
			const abort = () => controller.abort();
			const timer = setTimeout(abort, timeoutMs);
			timer.unref?.();
			options.signal?.addEventListener("abort", abort, { once: true });
			if (options.signal?.aborted) abort();
			try {
				return await work(controller.signal);
			} finally {
				clearTimeout(timer);
				options.signal?.removeEventListener("abort", abort);
			}
		},
	};
}

function withoutSecrets(url: string): string {
	const { origin, pathname } = new URL(url);
	return origin + pathname;
}

function codeOf(error: unknown): string {
	const { code, name } = error as { code?: unknown; name?: unknown };
	return String(code ?? name ?? "unknown fault");
}

async function readText(response: Response, maxBytes: number, call: string): Promise<string> {
	const tooLarge = () => new DiscoveryError("too-large", `${call} answered more than ${maxBytes} bytes`);
	if (Number(response.headers.get("content-length") ?? 0) > maxBytes) {
		await response.body?.cancel();
		throw tooLarge();
	}
	const decoder = new TextDecoder();
	let text = "";
	let bytes = 0;
	const reader = response.body?.getReader();
	for (;;) {
		const chunk = await reader?.read();
		if (!chunk || chunk.done) return text + decoder.decode();
		bytes += chunk.value.byteLength;
		if (bytes > maxBytes) {
			await reader?.cancel();
			throw tooLarge();
		}
		text += decoder.decode(chunk.value, { stream: true });
	}
}

function parseAnswer(text: string, call: string): unknown {
	try {
		return JSON.parse(text);
	} catch (cause) {
		const start = text.slice(0, 100).trimStart();
		throw new DiscoveryError(
			"not-json",
			`${call} answered ${start.startsWith("<") ? "HTML" : "something"} that is not JSON`,
			cause,
		);
	}
}

/** The `owned_by` that each kind of local server gives its models. Ollama's `library` is the owner in its registry. */
const OWNERS: Readonly<Record<string, UpstreamConfig["dialect"]>> = {
	llamacpp: "llama.cpp",
	vllm: "vllm",
	library: "ollama",
	organization_owner: "lmstudio",
	"organization-owner": "lmstudio",
};

/** Returns the kind of server that a list reveals, whatever its port and the configuration say; null if it is unknown. */
function serverOf(list: unknown): UpstreamConfig["dialect"] | null {
	const items = isRecord(list) && Array.isArray(list.data) ? (list.data as unknown[]) : [];
	for (const item of items) {
		const owner = isRecord(item) ? item.owned_by : undefined;
		if (typeof owner === "string" && Object.hasOwn(OWNERS, owner)) return OWNERS[owner] ?? null;
	}
	return null;
}

/** Reads `{data: [...]}` as of OpenAI; some servers answer `{models: [...]}` or the bare array. */
function modelsOf(body: unknown, url: string): DiscoveredModel[] {
	const items = Array.isArray(body) ? body : isRecord(body) ? ("data" in body ? body.data : body.models) : undefined;
	// Ollama without models answers `data: null`.
	if (items === null) return [];
	if (!Array.isArray(items))
		throw new DiscoveryError("not-a-list", `GET ${withoutSecrets(url)} answered JSON without a list of models`);
	const byId = new Map<string, DiscoveredModel>();
	for (const item of items) {
		if (byId.size >= MAX_MODELS) break;
		const model = isRecord(item) ? modelOf(item) : undefined;
		if (model && !byId.has(model.id)) byId.set(model.id, model);
	}
	return [...byId.values()];
}

function modelOf(item: Record<string, unknown>): DiscoveredModel | undefined {
	const { created, top_provider: provider, model_info: info } = item;
	const id = idOf(item);
	if (id === undefined) return undefined;
	const type = listedKind(id, item, isRecord(info) ? info : undefined);
	if (type === null) return undefined;
	const context = CONTEXT_MEMBERS.map((member) => positive(item[member])).find((tokens) => tokens !== null);
	const output = positive(item.max_completion_tokens) ?? (isRecord(provider) ? positive(provider.max_completion_tokens) : null);
	const seconds = positive(created);
	const capabilities = type === "text" ? inputsOf(item.architecture) : {};
	return {
		id,
		type,
		...(Object.keys(capabilities).length > 0 && { capabilities }),
		created: seconds !== null && seconds <= LAST_SECOND ? seconds : null,
		contextTokens: context ?? null,
		maxCompletionTokens: output,
	};
}

/** Returns what a model reads besides text, from the input modalities that OpenRouter and llama.cpp list. */
function inputsOf(architecture: unknown): Partial<TextCapabilities> {
	const reads = isRecord(architecture) ? architecture.input_modalities : undefined;
	if (!Array.isArray(reads) || !reads.includes("text")) return {};
	return {
		supportsVision: reads.includes("image"),
		supportsAudioInput: reads.includes("audio"),
		supportsVideoInput: reads.includes("video"),
	};
}

/** Returns a model's id. Some servers number their models, or give them no id, and take their names in requests. */
function idOf({ id, name, model }: Record<string, unknown>): string | undefined {
	const names = typeof id === "string" ? [id] : [name, model];
	return names.find((text) => typeof text === "string" && isUsableId(text)) as string | undefined;
}

/** Returns true for an id without control characters and within the length limit: ids appear in headers, logs and addresses. */
function isUsableId(id: string): boolean {
	if (id.trim() === "" || id.length > MAX_ID_LENGTH) return false;
	for (let index = 0; index < id.length; index++) {
		const code = id.charCodeAt(index);
		if (code < 0x20 || code === 0x7f) return false;
	}
	return true;
}

function positive(value: unknown): number | null {
	return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

async function withContext(
	{ server: dialect, list }: { readonly server: UpstreamConfig["dialect"]; readonly list: unknown },
	models: DiscoveredModel[],
	api: UpstreamApi,
	signal: AbortSignal,
): Promise<DiscoveredModel[]> {
	if (dialect === "llama.cpp") {
		const routed = routedModels(list);
		return routed === null ? withLlamaProps(models, api, signal) : withRoutedProps(models, routed, api, signal);
	}
	if (dialect === "lmstudio") return withStudioList(models, api, signal);
	if (dialect === "ollama") return withOllamaShow(models, api, signal);
	return models;
}

/** A longer list of voices of one server is not accepted. */
const MAX_VOICES = 1_000;

/** Adds the voices of GET /audio/voices to speech models, if the server has it (Kokoro-FastAPI, Speaches). */
async function withVoices(models: DiscoveredModel[], api: UpstreamApi, signal: AbortSignal): Promise<DiscoveredModel[]> {
	if (!models.some(({ type }) => type === "tts")) return models;
	const reported = await api.json(api.url("/audio/voices"), {}, signal).catch(() => undefined);
	const list = isRecord(reported) ? (reported.voices ?? reported.data) : reported;
	const names = (Array.isArray(list) ? (list as unknown[]) : []).slice(0, MAX_VOICES).flatMap((voice) => {
		const name = isRecord(voice) ? (voice.id ?? voice.voice_id ?? voice.name) : voice;
		return typeof name === "string" && isUsableId(name) ? [name] : [];
	});
	if (names.length === 0) return models;
	return models.map((model) => (model.type === "tts" ? { ...model, voices: names } : model));
}

/** Adds the context of one slot and the capabilities from llama.cpp's GET /props, for a server with one model. */
async function withLlamaProps(models: DiscoveredModel[], api: UpstreamApi, signal: AbortSignal): Promise<DiscoveredModel[]> {
	if (models.length !== 1) return models;
	const props = await api.json(api.rootUrl("/props"), {}, signal);
	return models.map((model) => withProps(model, props, null));
}

function withProps(model: DiscoveredModel, props: unknown, listedContext: number | null): DiscoveredModel {
	const capabilities = model.type === "text" ? { ...model.capabilities, ...capabilitiesOfProps(props) } : {};
	return {
		...model,
		...(Object.keys(capabilities).length > 0 && { capabilities }),
		contextTokens: contextOfProps(props) ?? listedContext ?? model.contextTokens,
	};
}

/**
 * Adds context and capabilities of each running model of llama.cpp in router mode; the others keep the list's values. No
 * request loads a model.
 */
async function withRoutedProps(
	models: DiscoveredModel[],
	routed: ReadonlyMap<string, RoutedModel>,
	api: UpstreamApi,
	signal: AbortSignal,
): Promise<DiscoveredModel[]> {
	return mapDetails(models, signal, async (model) => {
		const routedModel = routed.get(model.id);
		if (routedModel === undefined) return model;
		const props = routedModel.isRunning
			? await api.json(api.rootUrl(propsPath(model.id)), {}, signal).catch(() => undefined)
			: undefined;
		return withProps(model, props, routedModel.contextTokens);
	});
}

/** Requests details of the first models of a list, a few at a time; results before the time limit count. */
async function mapDetails(
	models: readonly DiscoveredModel[],
	signal: AbortSignal,
	ask: (model: DiscoveredModel) => Promise<DiscoveredModel>,
): Promise<DiscoveredModel[]> {
	const reported = [...models];
	const waiting = [...reported.entries()].slice(0, MAX_SHOWN);
	const work = async (): Promise<void> => {
		for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
			const [index, model] = next;
			reported[index] = await ask(model);
		}
	};
	await Promise.all(Array.from({ length: SHOWN_AT_ONCE }, work));
	return reported;
}

/** Adds kind and context from LM Studio's own list. */
async function withStudioList(models: DiscoveredModel[], api: UpstreamApi, signal: AbortSignal): Promise<DiscoveredModel[]> {
	const url = api.rootUrl("/api/v0/models");
	const reported = new Map(modelsOf(await api.json(url, {}, signal), url).map((model) => [model.id, model]));
	return models.map((model) => {
		const studioModel = reported.get(model.id);
		return studioModel
			? { ...model, type: studioModel.type, contextTokens: studioModel.contextTokens ?? model.contextTokens }
			: model;
	});
}

/** Adds details from Ollama's POST /api/show for each model. */
async function withOllamaShow(models: DiscoveredModel[], api: UpstreamApi, signal: AbortSignal): Promise<DiscoveredModel[]> {
	const loaded = await loadedByOllama(api, signal);
	return mapDetails(models, signal, async (model) => {
		const body = JSON.stringify({ model: model.id });
		const init = { method: "POST", headers: { "content-type": "application/json" }, body };
		const details = await api.json(api.rootUrl("/api/show"), init, signal).catch(() => undefined);
		return isRecord(details) ? withOllamaDetails(model, details, loaded.get(model.id)) : model;
	});
}

/** Returns the context of each loaded model from GET /api/ps. */
async function loadedByOllama(api: UpstreamApi, signal: AbortSignal): Promise<ReadonlyMap<unknown, unknown>> {
	const reported = await api.json(api.rootUrl("/api/ps"), {}, signal).catch(() => undefined);
	const running = isRecord(reported) && Array.isArray(reported.models) ? (reported.models as unknown[]) : [];
	return new Map(running.filter(isRecord).map(({ model, context_length: context }) => [model, context]));
}

/**
 * Ollama runs the model with the `num_ctx` of its file. Without it the server chooses the context when it loads the model;
 * until then this is the maximum of the weights.
 */
function withOllamaDetails(model: DiscoveredModel, details: Record<string, unknown>, loaded: unknown): DiscoveredModel {
	const { parameters, model_info: modelInfo, capabilities } = details;
	const configuredContext =
		typeof parameters === "string" ? /^num_ctx\s+(\d{1,12})\s*$/m.exec(parameters.slice(0, 100_000))?.[1] : undefined;
	const trained = isRecord(modelInfo)
		? Object.entries(modelInfo).find(([name]) => name.endsWith(".context_length"))?.[1]
		: undefined;
	const reported = Array.isArray(capabilities) ? (capabilities as unknown[]) : null;
	const type =
		reported === null ? model.type : reported.includes("embedding") && !reported.includes("completion") ? "embedding" : "text";
	return {
		...model,
		type,
		...(reported !== null && type === "text" && { capabilities: abilitiesOf(reported) }),
		contextTokens: positive(Number(configuredContext)) ?? positive(loaded) ?? positive(trained) ?? model.contextTokens,
	};
}

/** Ollama lists a model's capabilities; unlisted ones are absent. */
function abilitiesOf(reported: readonly unknown[]): Partial<TextCapabilities> {
	const thinks = reported.includes("thinking");
	return {
		supportsVision: reported.includes("vision"),
		supportsFunctionCalling: reported.includes("tools"),
		supportsReasoning: thinks,
		supportsReasoningEffort: thinks,
	};
}

export interface Listing {
	readonly upstream: string;
	readonly model: DiscoveredModel;
}
