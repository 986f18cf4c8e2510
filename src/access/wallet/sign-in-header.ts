import { refusedSignIn } from "./sign-in-refusal.ts";

/** Both names are accepted: wallets of version 1 send the first, x402 version 2 sends the second. */
const NAMES = ["x-sign-in-with-x", "sign-in-with-x"] as const;
const MAX_BYTES = 8_192;
/** The standard or URL-safe alphabet (RFC 4648, 4 and 5), with or without padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/;

/** Returns the sign-in header; null if there is none. Throws if it is too long or two headers differ. */
export function signInHeader(headers: Headers): string | null {
	const [first, second] = NAMES.map((name) => headers.get(name) || null);
	if (first && second && first !== second) throw refusedSignIn("header_conflict");
	const header = first ?? second ?? null;
	if (header !== null && header.length > MAX_BYTES) throw refusedSignIn("header_too_large");
	return header;
}

/** Parses the JSON object in a header. Throws if it is malformed. */
export function decodeSignIn(header: string): Readonly<Record<string, unknown>> {
	if (!BASE64.test(header)) throw refusedSignIn("malformed_header");
	let value: unknown;
	try {
		value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(header, "base64")));
	} catch {
		throw refusedSignIn("malformed_header");
	}
	if (typeof value !== "object" || value === null || Array.isArray(value)) throw refusedSignIn("malformed_payload");
	return value as Readonly<Record<string, unknown>>;
}
