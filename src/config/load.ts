import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Value } from "typebox/value";
import type { Issue } from "../errors/index.ts";
import { checker } from "../schema/index.ts";
import { checkReferences } from "./check-references.ts";
import { checkNames, checkValues, type NamedSchema } from "./check-values.ts";
import { UpstreamFault, withCompleteUpstreams } from "./complete-upstreams.ts";
import { ConfigError } from "./config-error.ts";
import { dialectOf } from "./dialect-of.ts";
import { type Config, type ConfigInput, ConfigSchema } from "./schema.ts";
import { type Environment, fileState, SecretFault, withSecrets } from "./secrets.ts";
import { SettingPlaces, shownPath, yaml } from "./setting-places.ts";

export type { Environment } from "./secrets.ts";

/** Settings given on the command line; they override the environment, which overrides the file. */
export interface ConfigFlags {
	readonly config?: string | undefined;
	readonly port?: string | undefined;
	readonly host?: string | undefined;
	readonly data?: string | undefined;
}

export interface LoadedConfig {
	readonly config: Config;
	/** The absolute path of the file; null if there is none. */
	readonly file: string | null;
	/** TURNPIKE_ADMIN_KEY, validated. */
	readonly adminKey: string | null;
	/** Absolute paths of files with secrets, each with the state (`fileState`) that it had before it was read. */
	readonly secretFiles: ReadonlyMap<string, string>;
	/** Locates settings in their file, for errors that are found later. */
	readonly places: SettingPlaces;
}

/** Deeper than any setting; an alias to its own parent never ends. */
const MAX_DEPTH = 32;
const DEFAULT_FILE = "turnpike.yaml";
const ADMIN_KEY = /^[A-Za-z0-9._~+/=-]{20,200}$/;
const configChecker = checker(ConfigSchema);

/**
 * Reads flags, environment and file into one validated configuration.
 * @throws {ConfigError}
 */
export function loadConfig(flags: ConfigFlags, env: Environment, cwd = process.cwd()): LoadedConfig {
	const namedFile = flags.config ?? variableOf(env, "TURNPIKE_CONFIG");
	const path = resolve(cwd, namedFile ?? DEFAULT_FILE);
	const text = readFile(path, namedFile !== undefined);
	const inFile = text === null ? null : { path, text };
	const secretFiles = new Map<string, string>();
	const onFile = (file: string) => {
		// If a file is read for several settings and changes in between, the first state makes the watcher reload it.
		if (!secretFiles.has(file)) secretFiles.set(file, fileState(file));
	};
	const tree = text === null ? {} : parseFile(path, text, { env, onFile });
	const places = new SettingPlaces({ file: inFile, sources: applyEnvironment(tree, flags, env) });
	checkNames(ConfigSchema as NamedSchema, tree, [], places);
	const filled = Value.Default(ConfigSchema, tree);
	if (!configChecker.check(filled)) throw faultOf(configChecker.issues(filled), places);
	checkValues(ConfigSchema as NamedSchema, filled, [], places);
	const config = complete(filled as ConfigInput, places);
	checkReferences(config, places);
	const adminKey = variableOf(env, "TURNPIKE_ADMIN_KEY") ?? null;
	if (adminKey !== null && !ADMIN_KEY.test(adminKey))
		throw new ConfigError("TURNPIKE_ADMIN_KEY: expected 20 to 200 characters of [A-Za-z0-9._~+/=-]");
	const file = text === null ? null : path;
	return { config: { ...config, data: resolve(cwd, config.data) }, file, adminKey, secretFiles, places };
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

interface SecretSources {
	readonly env: Environment;
	readonly onFile: (path: string) => void;
}

function parseFile(path: string, text: string, sources: SecretSources): Record<string, unknown> {
	const tree = parseYaml(path, text) ?? {};
	if (typeof tree !== "object" || Array.isArray(tree)) throw new ConfigError(`${path}: expected a mapping of sections`);
	const places = new SettingPlaces({ file: { path, text } });
	return resolveSecrets(tree, places, [], sources) as Record<string, unknown>;
}

function parseYaml(path: string, text: string): unknown {
	const { LineCounter, parseDocument, visit } = yaml();
	const lines = new LineCounter();
	const faultAt = (offset: number, problem: string) => {
		const { line, col } = lines.linePos(offset);
		return new ConfigError(`${path}:${line}:${col}: ${problem}`);
	};
	try {
		const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
		const fault = document.errors[0];
		if (fault !== undefined)
			throw faultAt(fault.pos[0], (fault.message.split("\n")[0] ?? fault.code).replace(/ at line \d+, column \d+:$/, ""));
		visit(document, {
			Alias(_key, alias) {
				const known = alias.resolve(document) !== undefined;
				if (!known) throw faultAt(alias.range?.[0] ?? 0, `there is no anchor &${alias.source} before this alias`);
			},
		});
		return document.toJS({ maxAliasCount: 100 });
	} catch (error) {
		if (error instanceof ConfigError) throw error;
		// Multiplying aliases, or nesting deeper than the stack.
		throw new ConfigError(`${path}: ${(error as Error).message}`);
	}
}

/**
 * Returns the tree with all secrets in it.
 * @throws {ConfigError}
 */
function resolveSecrets(value: unknown, places: SettingPlaces, at: (string | number)[], sources: SecretSources): unknown {
	if (typeof value === "string") {
		try {
			return withSecrets(value, sources.env, sources.onFile);
		} catch (error) {
			if (error instanceof SecretFault) throw new ConfigError(`${places.of(shownPath(at))}: ${error.message}`);
			throw error;
		}
	}
	if (typeof value !== "object" || value === null) return value;
	if (at.length > MAX_DEPTH) throw new ConfigError(`${places.of(shownPath(at))}: is nested deeper than any setting`);
	if (Array.isArray(value)) return value.map((item, index) => resolveSecrets(item, places, [...at, index], sources));
	return Object.fromEntries(
		Object.entries(value).map(([key, item]) => {
			// Parts of the runtime use this name for the object's prototype and would drop the setting silently.
			if (key === "__proto__") throw new ConfigError(`${places.of(shownPath([...at, key]))}: is not a name that can be used`);
			return [key, resolveSecrets(item, places, [...at, key], sources)];
		}),
	);
}

/**
 * Returns a variable. One that is set to the empty text counts as unset: `VARIABLE= npm start` and variable files write it so.
 */
function variableOf(env: Environment, name: string): string | undefined {
	return env[name] === "" ? undefined : env[name];
}

type Tree = Record<string, unknown>;

function sectionOf(tree: Tree, name: string): Tree {
	const value = tree[name];
	if (typeof value === "object" && value !== null) return value as Tree;
	const created: Tree = {};
	if (value === undefined || value === null) tree[name] = created;
	return created;
}

/** The origin of settings that are not in the file: path -> flag or variable. */
type Sources = ReadonlyMap<string, string>;

/** Overrides the file's settings with flags and variables. */
function applyEnvironment(tree: Tree, flags: ConfigFlags, env: Environment): Sources {
	for (const [name, value] of Object.entries(tree)) if (value === null) tree[name] = {};
	const sources = new Map<string, string>();
	const take = (path: string, name: string, flag?: "port" | "host" | "data"): string | undefined => {
		const typed = flag === undefined ? undefined : flags[flag];
		const value = typed ?? variableOf(env, name);
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

/** `TURNPIKE_RPC_ETHEREUM_MAINNET` is the only upstream of ethereum-mainnet. */
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

function faultOf(issues: readonly Issue[], places: SettingPlaces): ConfigError {
	const lines = issues.map(({ path, message }) => `${places.of(shownPath(path) || "(top)")}: ${message}`);
	return new ConfigError(lines.join("\n"));
}

function complete(input: ConfigInput, places: SettingPlaces): Config {
	try {
		return withCompleteUpstreams(input);
	} catch (error) {
		if (!(error instanceof UpstreamFault)) throw error;
		throw new ConfigError(`${places.of(`upstreams.${error.path}`)}: ${error.message}`);
	}
}
