import { hash } from "node:crypto";

/**
 * The key of an Authorization header: the scheme word `Bearer` in any case, exactly one space, one token.
 * null where there is no credential (no header, an empty token); undefined where the header is malformed.
 */
export function bearerKey(header: string | null): string | null | undefined {
	if (header === null || header === "") return null;
	if (header.slice(0, 6).toLowerCase() !== "bearer") return undefined;
	if (header.length <= 7) return null;
	if (header.charCodeAt(6) !== 32) return undefined;
	return bareKey(header.slice(7));
}

/** The key of a header that holds nothing else: null where there is none, undefined where it cannot be a key. */
export function bareKey(header: string | null): string | null | undefined {
	if (header === null || header === "") return null;
	return /^[A-Za-z0-9._~+/=-]{1,512}$/.test(header) ? header : undefined;
}

/** What the store knows of a key: the lower-case hex sha256 of its text. */
export function keyHash(key: string): string {
	return hash("sha256", key, "hex");
}
