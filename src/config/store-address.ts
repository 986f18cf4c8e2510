/**
 * The address of a PostgreSQL store as libpq writes it: one host, or several that are tried in order
 * (https://www.postgresql.org/docs/current/libpq-connect.html, 34.1.1.3).
 */

/** The parameter that says which of several servers is meant. */
const SESSION_ATTRIBUTES = "target_session_attrs";
/** A store is always written to, so both values mean the same. */
const WRITING = ["read-write", "primary"];

interface AddressParts {
	readonly scheme: string;
	/** User and password with `@`, or empty. */
	readonly user: string;
	readonly hosts: readonly string[];
	/** The database with its slash, or empty. */
	readonly path: string;
	/** Parameters without `target_session_attrs`. */
	readonly parameters: readonly string[];
	readonly attributes: readonly string[];
}

/** Returns null for a text that is no such address. */
function partsOf(address: string): AddressParts | null {
	const [, scheme, authority, path = "", query = ""] =
		/^(postgres(?:ql)?:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/.exec(address) ?? [];
	if (scheme === undefined || authority === undefined) return null;
	const at = authority.lastIndexOf("@") + 1;
	const all = query === "" ? [] : query.split("&");
	const isAttribute = (parameter: string) => parameter.startsWith(`${SESSION_ATTRIBUTES}=`);
	return {
		scheme,
		user: authority.slice(0, at),
		hosts: authority.slice(at).split(","),
		path,
		parameters: all.filter((parameter) => !isAttribute(parameter)),
		attributes: all.filter(isAttribute).map((parameter) => parameter.slice(SESSION_ATTRIBUTES.length + 1)),
	};
}

/**
 * Returns an address for each host, in order. An address of one host comes back as it is, except for
 * `target_session_attrs`, which a server does not know.
 */
export function hostAddresses(address: string): readonly string[] {
	const parts = partsOf(address);
	if (parts === null || (parts.hosts.length === 1 && parts.attributes.length === 0)) return [address];
	const query = parts.parameters.length === 0 ? "" : `?${parts.parameters.join("&")}`;
	return parts.hosts.map((host) => `${parts.scheme}${parts.user}${host}${parts.path}${query}`);
}

/** Returns true for an address whose every host can be connected to, and that asks for a server that takes writes. */
export function isStoreAddress(address: string): boolean {
	const parts = partsOf(address);
	if (parts === null) return false;
	if (parts.attributes.some((value) => !WRITING.includes(value))) return false;
	const isList = parts.hosts.length > 1;
	return !isList || hostAddresses(address).every((one, index) => parts.hosts[index] !== "" && URL.canParse(one));
}

/** Returns an address without its password and its parameters; null where it cannot be read. */
export function withoutPassword(address: string): string | null {
	const parts = partsOf(address);
	if (parts === null || !hostAddresses(address).every((one) => URL.canParse(one))) return null;
	return `${parts.scheme}${parts.hosts.join(",")}${parts.path}`;
}
