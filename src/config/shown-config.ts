/** The configuration for the operator, without values that must not appear on a page, in a log or in a screenshot. */
import { PROVIDERS } from "./providers.ts";
import type { Config } from "./schema.ts";
import { hostAddresses } from "./store-address.ts";

export const HIDDEN = "(hidden)";

/** A value under such a name is a secret in any section. */
const SECRET_NAME = /(?:^|[a-z])(?:key|token|secret|password)$/i;
/** Exceptions to `SECRET_NAME`: the name of the staked token. */
const PLAIN_PATHS = new Set(["staking.token"]);
/** Every value in these maps is hidden, whatever its name. */
const SECRET_MAPS = new Set(["headers"]);
/** Only these addresses keep their path; in others it may contain a key. */
const PLAIN_ADDRESSES = /^(?:server\.publicUrl|upstreams\.[^.]+\.url)$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

const PLAIN_OPTIONS: ReadonlySet<string> = new Set(
	Object.values(PROVIDERS).flatMap(({ options }) =>
		Object.entries(options).flatMap(([name, kind]) => (kind === "plain" ? [name] : [])),
	),
);

/**
 * Returns a copy with each secret replaced by `(hidden)`. Addresses lose their credentials, query and, if it may contain keys,
 * path.
 */
export function shownConfig(config: Config): Record<string, unknown> {
	return shownMembers(config, []);
}

function shownMembers(value: object, path: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, showValue(member, [...path, name])]));
}

function showValue(value: unknown, path: readonly string[]): unknown {
	if (Array.isArray(value)) return value.map((item) => showValue(item, path));
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

/** Returns an address without credentials, query and fragment; also without its path, unless `withPath`. */
export function shownUrl(address: string, withPath: boolean): string {
	const hosts = hostAddresses(address);
	if (hosts.length > 1) return hosts.map((host) => shownUrl(host, withPath)).join(", ");
	if (!URL.canParse(address)) return HIDDEN;
	const { protocol, host, pathname } = new URL(address);
	const origin = `${protocol}//${host}`;
	if (withPath) return pathname === "/" ? origin : origin + pathname;
	return pathname === "/" || pathname === "" ? origin : `${origin}/...`;
}
