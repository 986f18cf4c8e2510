import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { Value } from "typebox/value";
import type { Issue } from "../errors/index.ts";
import { checker, pathText } from "../schema/index.ts";
import { UpstreamFault, withCompleteUpstreams } from "./complete-upstreams.ts";
import { dialectOf } from "./dialect-of.ts";
import { type Config, ConfigSchema, type GivenConfig, type ModelEntry } from "./schema.ts";
import { HTTP_ADDRESS, LEAST_KEYWORD, PATTERN_WORDS } from "./schema-parts.ts";
import { type Environment, fileState, SecretFault, withSecrets } from "./secrets.ts";

export type { Environment } from "./secrets.ts";

/** What stops a start with exit 78: the file, the path in it and what is expected. */
export class ConfigError extends Error {
	override readonly name = "ConfigError";
}

/** Settings given on the command line; they win over the environment, which wins over the file. */
export interface ConfigFlags {
	readonly config?: string | undefined;
	readonly port?: string | undefined;
	readonly host?: string | undefined;
	readonly data?: string | undefined;
}

export interface LoadedConfig {
	readonly config: Config;
	/** The file that was read, absolute; null where there is none. */
	readonly file: string | null;
	/** TURNPIKE_ADMIN_KEY, checked. */
	readonly adminKey: string | null;
	/** Files that secrets were read from, absolute, each with the state (`fileState`) that it had before it was read. */
	readonly secretFiles: ReadonlyMap<string, string>;
}

/** Deeper than any setting lies; an alias to what it stands in has no end. */
const MAX_DEPTH = 32;
const DEFAULT_FILE = "turnpike.yaml";
const ADMIN_KEY = /^[A-Za-z0-9._~+/=-]{20,200}$/;
const configChecker = checker(ConfigSchema);

/** Reads flags, environment and file into one checked configuration. Throws `ConfigError`. */
export function loadConfig(flags: ConfigFlags, env: Environment, cwd = process.cwd()): LoadedConfig {
	const named = flags.config ?? given(env, "TURNPIKE_CONFIG");
	const path = resolve(cwd, named ?? DEFAULT_FILE);
	const text = readFile(path, named !== undefined);
	const place = text === null ? "environment" : path;
	const secretFiles = new Map<string, string>();
	const onFile = (file: string) => {
		// Where it is read for several settings and changes meanwhile, the first state has it read again.
		if (!secretFiles.has(file)) secretFiles.set(file, fileState(file));
	};
	const tree = text === null ? {} : parseFile(path, text, { env, onFile });
	const sources = applyEnvironment(tree, flags, env);
	checkNames(ConfigSchema as NamedSchema, tree, [], place);
	const filled = Value.Default(ConfigSchema, tree);
	if (!configChecker.check(filled)) throw faultOf(place, configChecker.issues(filled), sources);
	checkPrices(ConfigSchema as NamedSchema, filled, [], place);
	const config = complete(filled as GivenConfig, place, sources);
	checkReferences(config, place, sources);
	const adminKey = given(env, "TURNPIKE_ADMIN_KEY") ?? null;
	if (adminKey !== null && !ADMIN_KEY.test(adminKey))
		throw new ConfigError("TURNPIKE_ADMIN_KEY: expected 20 to 200 characters of [A-Za-z0-9._~+/=-]");
	const file = text === null ? null : path;
	return { config: { ...config, data: resolve(cwd, config.data) }, file, adminKey, secretFiles };
}

function readFile(path: string, required: boolean): string | null {
	let bytes: Uint8Array;
	try {
		bytes = readFileSync(path);
	} catch (cause) {
		const code = (cause as NodeJS.ErrnoException).code;
		if (code === "ENOENT" && !required) return null;
		throw new ConfigError(`${path}: cannot be read (${code ?? String(cause)})`);
	}
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw new ConfigError(`${path}: expected text in UTF-8`);
	}
}

/** The parser costs some megabytes: it is loaded where there is a file to parse. */
function yaml(): typeof import("yaml") {
	return createRequire(import.meta.url)("yaml");
}

interface SecretSources {
	readonly env: Environment;
	readonly onFile: (path: string) => void;
}

function parseFile(path: string, text: string, sources: SecretSources): Record<string, unknown> {
	const tree = parseYaml(path, text) ?? {};
	if (typeof tree !== "object" || Array.isArray(tree)) throw new ConfigError(`${path}: expected a mapping of sections`);
	return resolved(tree, path, [], sources) as Record<string, unknown>;
}

function parseYaml(path: string, text: string): unknown {
	const { LineCounter, parseDocument } = yaml();
	const lines = new LineCounter();
	try {
		const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
		const fault = document.errors[0];
		if (fault === undefined) return document.toJS({ maxAliasCount: 100 });
		const at = lines.linePos(fault.pos[0]);
		throw new ConfigError(`${path}:${at.line}:${at.col}: ${fault.message.split("\n")[0]}`);
	} catch (error) {
		if (error instanceof ConfigError) throw error;
		// An alias without its anchor, aliases that multiply, nesting that is deeper than the stack.
		throw new ConfigError(`${path}: ${(error as Error).message}`);
	}
}

/** The tree with all secrets in it. Throws `ConfigError`. */
function resolved(value: unknown, file: string, at: (string | number)[], sources: SecretSources): unknown {
	if (typeof value === "string") {
		try {
			return withSecrets(value, sources.env, sources.onFile);
		} catch (error) {
			if (error instanceof SecretFault) throw new ConfigError(`${file}: ${shownPath(at)}: ${error.message}`);
			throw error;
		}
	}
	if (typeof value !== "object" || value === null) return value;
	if (at.length > MAX_DEPTH) throw new ConfigError(`${file}: ${shownPath(at)}: is nested deeper than any setting`);
	if (Array.isArray(value)) return value.map((item, index) => resolved(item, file, [...at, index], sources));
	return Object.fromEntries(
		Object.entries(value).map(([key, item]) => {
			// Parts of the runtime take this name for the object's prototype and would drop the setting without a word.
			if (key === "__proto__") throw new ConfigError(`${file}: ${shownPath([...at, key])}: is not a name that can be used`);
			return [key, resolved(item, file, [...at, key], sources)];
		}),
	);
}

/** A schema with the names that its records take; `names` tells them in words. */
interface NamedSchema {
	readonly properties?: Readonly<Record<string, NamedSchema>>;
	readonly patternProperties?: Readonly<Record<string, NamedSchema>>;
	readonly names?: string;
	readonly [LEAST_KEYWORD]?: number;
}

/** Refuses a name that an operator gave where the schema's record does not take it. */
function checkNames(schema: NamedSchema, value: unknown, at: readonly string[], file: string): void {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return;
	const [pattern, ofRecord] = Object.entries(schema.patternProperties ?? {})[0] ?? [];
	for (const [key, item] of Object.entries(value)) {
		const inner = [...at, key];
		if (pattern !== undefined && !new RegExp(pattern).test(key))
			throw new ConfigError(`${file}: ${shownPath(inner)}: expected ${schema.names ?? `a name that matches ${pattern}`}`);
		const next = ofRecord ?? (Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined);
		if (next !== undefined) checkNames(next, item, inner, file);
	}
}

/** Refuses a price that is so small that it would be charged as nothing. */
function checkPrices(schema: NamedSchema, value: unknown, at: readonly string[], file: string): void {
	const least = schema[LEAST_KEYWORD];
	if (least !== undefined && typeof value === "number" && value > 0 && value < least) {
		const decimal = least.toFixed(9).replace(/0+$/, "");
		throw new ConfigError(`${file}: ${shownPath(at)}: expected 0, or at least ${decimal}: less is charged as nothing`);
	}
	if (typeof value !== "object" || value === null || Array.isArray(value)) return;
	const ofRecord = Object.values(schema.patternProperties ?? {})[0];
	for (const [key, item] of Object.entries(value)) {
		const next = ofRecord ?? (Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined);
		if (next !== undefined) checkPrices(next, item, [...at, key], file);
	}
}

/** A path in one line, whatever stands in its names. */
function shownPath(path: readonly (string | number)[]): string {
	return pathText(path)
		.slice(0, 300)
		.replace(/[\p{Cc}\u2028\u2029]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A variable that is set to nothing counts as not set: `VARIABLE= npm start`, and files of variables, write it so. */
function given(env: Environment, name: string): string | undefined {
	return env[name] === "" ? undefined : env[name];
}

type Tree = Record<string, unknown>;

function sectionOf(tree: Tree, name: string): Tree {
	const found = tree[name];
	if (typeof found === "object" && found !== null) return found as Tree;
	const made: Tree = {};
	if (found === undefined || found === null) tree[name] = made;
	return made;
}

/** Where settings came from that do not stand in the file: path -> flag or variable. */
type Sources = ReadonlyMap<string, string>;

/** Puts flags and variables over what the file says. */
function applyEnvironment(tree: Tree, flags: ConfigFlags, env: Environment): Sources {
	for (const [name, value] of Object.entries(tree)) if (value === null) tree[name] = {};
	const sources = new Map<string, string>();
	const take = (path: string, name: string, flag?: "port" | "host" | "data"): string | undefined => {
		const typed = flag === undefined ? undefined : flags[flag];
		const value = typed ?? given(env, name);
		if (value !== undefined) sources.set(path, typed === undefined ? name : `--${flag}`);
		return value;
	};
	const port = take("server.port", "TURNPIKE_PORT", "port");
	if (port !== undefined) {
		if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
			throw new ConfigError(`${sources.get("server.port")}: expected a number from 0 to 65535`);
		sectionOf(tree, "server").port = Number(port);
	}
	const host = take("server.host", "TURNPIKE_HOST", "host");
	if (host !== undefined) sectionOf(tree, "server").host = host;
	const data = take("data", "TURNPIKE_DATA", "data");
	if (data !== undefined) tree.data = data;
	const store = take("store", "TURNPIKE_STORE");
	if (store !== undefined) tree.store = store;
	const publicUrl = take("server.publicUrl", "TURNPIKE_PUBLIC_URL");
	if (publicUrl !== undefined) sectionOf(tree, "server").publicUrl = publicUrl;
	const url = take("upstreams.openai.url", "TURNPIKE_OPENAI_UPSTREAM");
	if (url !== undefined) {
		const key = take("upstreams.openai.key", "TURNPIKE_OPENAI_KEY");
		sectionOf(tree, "upstreams").openai = { url: url.replace(/\/+$/, ""), dialect: dialectOf(url), ...(key ? { key } : {}) };
	}
	applyRpcEnvironment(tree, env, take);
	applyX402Environment(tree, take);
	return sources;
}

/** `TURNPIKE_RPC_ETHEREUM_MAINNET` is the one upstream of ethereum-mainnet. */
const RPC_VARIABLE = /^TURNPIKE_RPC_([A-Z0-9]+(?:_[A-Z0-9]+)*)$/;

function applyRpcEnvironment(tree: Tree, env: Environment, take: (path: string, name: string) => string | undefined): void {
	const open = take("rpc.public", "TURNPIKE_PUBLIC_RPC");
	if (open !== undefined) {
		if (open !== "0" && open !== "1") throw new ConfigError("TURNPIKE_PUBLIC_RPC: expected 1 or 0");
		sectionOf(tree, "rpc").public = open === "1";
	}
	for (const name of Object.keys(env)) {
		const slug = RPC_VARIABLE.exec(name)?.[1]?.toLowerCase().replaceAll("_", "-");
		if (slug === undefined) continue;
		const url = take(`rpc.networks.${slug}.upstreams[0].url`, name);
		if (url !== undefined) sectionOf(sectionOf(sectionOf(tree, "rpc"), "networks"), slug).upstreams = [{ url }];
	}
}

function applyX402Environment(tree: Tree, take: (path: string, name: string) => string | undefined): void {
	const x402 = () => sectionOf(tree, "x402");
	const payTo = take("x402.payTo", "TURNPIKE_X402_PAY_TO");
	if (payTo !== undefined) x402().payTo = payTo;
	const rpcUrl = take("x402.rpcUrl", "TURNPIKE_X402_RPC");
	if (rpcUrl !== undefined) x402().rpcUrl = rpcUrl;
	const url = take("x402.facilitator.url", "TURNPIKE_X402_FACILITATOR");
	const key = take("x402.facilitator.key", "TURNPIKE_X402_KEY");
	if (url !== undefined || key !== undefined)
		x402().facilitator = { ...(url === undefined ? {} : { url }), ...(key === undefined ? {} : { key }) };
	const solana = () => sectionOf(x402(), "solana");
	const solanaPayTo = take("x402.solana.payTo", "TURNPIKE_X402_SOLANA_PAY_TO");
	if (solanaPayTo !== undefined) solana().payTo = solanaPayTo;
	const solanaRpc = take("x402.solana.rpcUrl", "TURNPIKE_X402_SOLANA_RPC");
	if (solanaRpc !== undefined) solana().rpcUrl = solanaRpc;
	const solanaUrl = take("x402.solana.facilitator.url", "TURNPIKE_X402_SOLANA_FACILITATOR");
	if (solanaUrl !== undefined) sectionOf(solana(), "facilitator").url = solanaUrl;
}

function checkReferences(config: Config, file: string, sources: Sources): void {
	for (const [index, entry] of config.server.trustedProxies.entries()) {
		const [address = "", prefix = "0", ...rest] = entry.split("/");
		const bits = isIP(address) === 6 ? 128 : 32;
		if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits)
			throw new ConfigError(`${file}: server.trustedProxies[${index}]: expected an address or a CIDR range, not ${entry}`);
	}
	checkServer(config, file, sources);
	for (const [name, upstream] of Object.entries(config.upstreams)) {
		const path = `upstreams.${name}.url`;
		if (!URL.canParse(upstream.url))
			throw new ConfigError(`${placeOf(path, file, sources)}: expected ${PATTERN_WORDS[HTTP_ADDRESS]}`);
	}
	for (const [path, url] of [
		["server.publicUrl", config.server.publicUrl],
		["siwx.rpcUrl", config.siwx.rpcUrl],
	] as const) {
		if (url !== undefined && !URL.canParse(url))
			throw new ConfigError(`${placeOf(path, file, sources)}: expected ${PATTERN_WORDS[HTTP_ADDRESS]}`);
	}
	checkRpc(config, file, sources);
	checkX402(config, file, sources);
	const { staking } = config;
	if ((staking.chain.rpcUrl === undefined) !== (staking.contract === undefined))
		throw new ConfigError(`${file}: staking: expected chain.rpcUrl and contract together, or none of them`);
	if (Number(staking.diemPerToken) === 0) throw new ConfigError(`${file}: staking.diemPerToken: expected more than 0`);
	const known = new Set([...Object.keys(config.upstreams), "embedded"]);
	for (const [id, entry] of Object.entries(config.models.entries)) {
		checkCost(id, entry, file, sources);
		for (const [index, target] of (entry.upstreams ?? []).entries()) {
			if (!known.has(target.upstream))
				throw new ConfigError(
					`${file}: models.entries.${id}.upstreams[${index}].upstream: expected one of ${[...known].join(", ")}, not ${target.upstream}`,
				);
			if (target.protocol === "comfyui" && target.workflow === undefined)
				throw new ConfigError(
					`${file}: models.entries.${id}.upstreams[${index}].workflow: expected a file with protocol comfyui`,
				);
		}
		if (entry.tier !== undefined && !Object.hasOwn(config.limits.tiers, entry.tier))
			throw new ConfigError(`${file}: models.entries.${id}.tier: expected one of ${Object.keys(config.limits.tiers).join(", ")}`);
	}
}

/** As browsers send it (RFC 6454, 6.1): without a path. */
const ORIGIN = /^(\*|null|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)$/;
/** The runtime looks at silent connections every 4 s. */
const IDLE_GRAIN_MS = 5_000;

const COST_OF_TEXT = "input and output";
const COST_OF_VECTORS = "input";
const COST_OF_OTHERS = "each";

/** The cost of a text model is also its price where it has none: half a cost would be half a price. */
function checkCost(id: string, { type, cost }: ModelEntry, file: string, sources: Sources): void {
	if (cost === undefined) return;
	const expected =
		type === undefined
			? [COST_OF_TEXT, COST_OF_VECTORS, COST_OF_OTHERS]
			: [type === "text" ? COST_OF_TEXT : type === "embedding" ? COST_OF_VECTORS : COST_OF_OTHERS];
	const given = Object.keys(cost).sort().join(" and ");
	if (expected.includes(given)) return;
	const words = `${expected.join(", or ")}${type === undefined ? "" : ` for a model of type ${type}`}`;
	throw new ConfigError(`${placeOf(`models.entries.${id}.cost`, file, sources)}: expected ${words}, not ${given || "nothing"}`);
}

function checkServer({ server, traces, upstreams }: Config, file: string, sources: Sources): void {
	const { corsOrigins, idleTimeoutSeconds, uploadSilenceMs } = server;
	for (const [index, origin] of corsOrigins.entries())
		if (!ORIGIN.test(origin))
			throw new ConfigError(
				`${file}: server.corsOrigins[${index}]: expected * or an origin like https://app.example.com, not ${origin}`,
			);
	if (idleTimeoutSeconds !== 0 && idleTimeoutSeconds * 1_000 < uploadSilenceMs + IDLE_GRAIN_MS)
		throw new ConfigError(
			`${placeOf("server.idleTimeoutSeconds", file, sources)}: expected 0, or 5 s more than server.uploadSilenceMs, which is ${uploadSilenceMs / 1_000} s`,
		);
	for (const [index, name] of traces.passTo.entries())
		if (!Object.hasOwn(upstreams, name))
			throw new ConfigError(
				`${file}: traces.passTo[${index}]: expected one of the upstreams ${Object.keys(upstreams).join(", ") || "(there is none)"}, not ${name}`,
			);
}

function checkRpc({ rpc }: Config, file: string, sources: Sources): void {
	const nano = rpc.pricePerCreditUsd * 1e9;
	if (Math.abs(nano - Math.round(nano)) > 1e-6)
		throw new ConfigError(`${file}: rpc.pricePerCreditUsd: expected whole billionths of a USD, not ${rpc.pricePerCreditUsd}`);
	for (const [slug, { upstreams }] of Object.entries(rpc.networks)) {
		const names = new Set<string>();
		for (const [index, { url, name }] of upstreams.entries()) {
			const path = `rpc.networks.${slug}.upstreams[${index}]`;
			if (!URL.canParse(url))
				throw new ConfigError(`${placeOf(`${path}.url`, file, sources)}: expected ${PATTERN_WORDS[HTTP_ADDRESS]}`);
			if (name !== undefined && names.has(name))
				throw new ConfigError(`${file}: ${path}.name: expected a name that no other upstream of ${slug} has, not ${name}`);
			if (name !== undefined) names.add(name);
		}
	}
}

function checkX402({ x402 }: Config, file: string, sources: Sources): void {
	const { facilitator, minimumTopUpUsd: least, suggestedTopUpUsd: suggested, maximumTopUpUsd: most } = x402;
	const urls: (readonly [string, string | undefined])[] = [
		["x402.rpcUrl", x402.rpcUrl],
		["x402.facilitator.url", facilitator.url],
		["x402.solana.rpcUrl", x402.solana.rpcUrl],
		["x402.solana.facilitator.url", x402.solana.facilitator.url],
		...Object.entries(x402.networks).map(([name, { rpcUrl }]) => [`x402.networks.${name}.rpcUrl`, rpcUrl] as const),
	];
	for (const [path, url] of urls) {
		if (url !== undefined && !URL.canParse(url))
			throw new ConfigError(`${placeOf(path, file, sources)}: expected ${PATTERN_WORDS[HTTP_ADDRESS]}`);
	}
	if (facilitator.url !== undefined && facilitator.key !== undefined)
		throw new ConfigError(`${placeOf("x402.facilitator.key", file, sources)}: expected a facilitator's url or a key, not both`);
	if (Object.keys(x402.networks).length === 0) throw new ConfigError(`${file}: x402.networks: expected one network at least`);
	if (least > suggested || suggested > most)
		throw new ConfigError(`${file}: x402: expected minimumTopUpUsd, suggestedTopUpUsd, maximumTopUpUsd in rising order`);
}

function faultOf(file: string, issues: readonly Issue[], sources: Sources): ConfigError {
	const lines = issues.map(({ path, message }) => `${placeOf(shownPath(path) || "(top)", file, sources)}: ${message}`);
	return new ConfigError(lines.join("\n"));
}

/** The flag or variable that a setting came from, else the file and the path in it. */
function placeOf(path: string, file: string, sources: Sources): string {
	return sources.get(path) ?? `${file}: ${path}`;
}

function complete(given: GivenConfig, file: string, sources: Sources): Config {
	try {
		return withCompleteUpstreams(given);
	} catch (error) {
		if (!(error instanceof UpstreamFault)) throw error;
		throw new ConfigError(`${placeOf(`upstreams.${error.path}`, file, sources)}: ${error.message}`);
	}
}
