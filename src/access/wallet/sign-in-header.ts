import { refusedSignIn } from "./sign-in-refusal.ts";

/** Both names are read; the first is what wallets of version 1 send, the second the one of x402 version 2. */
const NAMES = ["x-sign-in-with-x", "sign-in-with-x"] as const;
const MAX_BYTES = 8_192;
/** The standard alphabet or the URL-safe one (RFC 4648, 4 and 5), padded or not. */
const BASE64 = /^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/;

/** The header that signs a request in; null where there is none. Throws where it is too long, or there are two that differ. */
export function signInHeader(headers: Headers): string | null {
	const [first, second] = NAMES.map((name) => headers.get(name) || null);
	if (first && second && first !== second) throw refusedSignIn("header_conflict");
	const header = first ?? second ?? null;
	if (header !== null && header.length > MAX_BYTES) throw refusedSignIn("header_too_large");
	return header;
}

/** The JSON object in a header. Throws. */
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
