import { hash } from "node:crypto";

/**
 * Returns the key of an Authorization header: the scheme `Bearer` in any letter case, exactly one space, one token. null if
 * there is no credential (no header, an empty token); undefined if the header is malformed.
 */
export function bearerKey(header: string | null): string | null | undefined {
	if (header === null || header === "") return null;
	if (header.slice(0, 6).toLowerCase() !== "bearer") return undefined;
	if (header.length <= 7) return null;
	if (header.charCodeAt(6) !== 32) return undefined;
	return bareKey(header.slice(7));
}

/** Returns the key of a header that holds only a key: null if it is missing, undefined if it cannot be a key. */
export function bareKey(header: string | null): string | null | undefined {
	if (header === null || header === "") return null;
	return /^[A-Za-z0-9._~+/=-]{1,512}$/.test(header) ? header : undefined;
}

/** Returns the lower-case hex sha256 of a key's text, the only form in which the store has it. */
export function keyHash(key: string): string {
	return hash("sha256", key, "hex");
}
