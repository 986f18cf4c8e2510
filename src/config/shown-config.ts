/** The configuration for the operator's eyes: without what must stand in no page, log or screenshot. */
import { PROVIDERS } from "./providers.ts";
import type { Config } from "./schema.ts";

export const HIDDEN = "(hidden)";

/** Whatever stands under such a name is a secret, in any section, also one that comes later. */
const SECRET_NAME = /(?:^|[a-z])(?:key|token|secret|password)$/i;
/** Not what `SECRET_NAME` takes them for: how many, and the name of the staked token. */
const PLAIN_PATHS = new Set(["staking.token"]);
/** Here every value is hidden, whatever its name. */
const SECRET_MAPS = new Set(["headers"]);
/** The path of an address is a part of what it says only here; elsewhere keys stand in paths. */
const PLAIN_ADDRESSES = /^(?:server\.publicUrl|upstreams\.[^.]+\.url)$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

const PLAIN_OPTIONS: ReadonlySet<string> = new Set(
	Object.values(PROVIDERS).flatMap(({ options }) =>
		Object.entries(options).flatMap(([name, kind]) => (kind === "plain" ? [name] : [])),
	),
);

/** A copy in which each secret is the text `(hidden)`, and addresses are without credentials, query and, where keys may stand in it, path. */
export function shownConfig(config: Config): Record<string, unknown> {
	return shownMembers(config, []);
}

function shownMembers(value: object, path: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(member, [...path, name])]));
}

function shown(value: unknown, path: readonly string[]): unknown {
	if (Array.isArray(value)) return value.map((item) => shown(item, path));
	if (typeof value === "object" && value !== null) return shownMembers(value, path);
	if (typeof value !== "string") return value;
	if (isSecret(path)) return HIDDEN;
	return ADDRESS.test(value) ? shownUrl(value, PLAIN_ADDRESSES.test(path.join("."))) : value;
}

function isSecret(path: readonly string[]): boolean {
	const [map, name] = [path.at(-2) ?? "", path.at(-1) ?? ""];
	if (PLAIN_PATHS.has(path.join("."))) return false;
	if (SECRET_MAPS.has(map)) return true;
	if (map === "options") return !PLAIN_OPTIONS.has(name);
	return SECRET_NAME.test(name);
}

/** An address without credentials, query and anchor; without its path too, unless `withPath`. */
export function shownUrl(address: string, withPath: boolean): string {
	if (!URL.canParse(address)) return HIDDEN;
	const { protocol, host, pathname } = new URL(address);
	const origin = `${protocol}//${host}`;
	if (withPath) return pathname === "/" ? origin : origin + pathname;
	return pathname === "/" || pathname === "" ? origin : `${origin}/...`;
}
