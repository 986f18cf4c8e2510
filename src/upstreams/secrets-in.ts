/** Finds secrets in settings beside keys. */

/** Shorter values of headers and queries are ordinary words. */
const LEAST_SECRET = 8;

/** Returns the values of headers, and their words. */
export function headerSecrets(headers: Readonly<Record<string, string>> = {}): string[] {
	const values = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
	return values.filter(({ length }) => length >= LEAST_SECRET);
}

/**
 * Returns the password of an address, alone and as basic authentication sends it (RFC 7617); without one the name is
 * the key.
 */
export function credentialsIn(address: string): string[] {
	if (!URL.canParse(address)) return [];
	const { username, password } = new URL(address);
	const secret = password === "" ? username : password;
	if (secret === "" || (password === "" && username.length < LEAST_SECRET)) return [];
	const pair = `${decodePart(username)}:${decodePart(password)}`;
	return [secret, decodePart(secret), pair, Buffer.from(pair).toString("base64")];
}

/** Returns the values of an address's query, encoded and decoded. */
export function querySecrets(address: string): string[] {
	if (!URL.canParse(address)) return [];
	const { search, searchParams } = new URL(address);
	const written = search.slice(1).split("&");
	const values = [...searchParams.values(), ...written.map((pair) => pair.slice(pair.indexOf("=") + 1))];
	return values.filter(({ length }) => length >= LEAST_SECRET);
}

/** Returns the host names of these addresses. */
export function hostsOf(addresses: readonly string[]): string[] {
	return addresses.flatMap((address) => (URL.canParse(address) ? [new URL(address).hostname] : []));
}

function decodePart(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
