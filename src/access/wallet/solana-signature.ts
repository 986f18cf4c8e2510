import { base58 } from "@scure/base";
import { isSignedBySolanaKey, readSolanaAddress } from "../../schema/index.ts";

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{86}|[A-Za-z0-9_-]{86})(?:==)?$/;

/** Whether the text is the base58 of a key that someone can own. */
export function isSolanaAddress(text: string): boolean {
	return readSolanaAddress(text) !== null;
}

/** Whether the wallet signed the text (Ed25519 over its UTF-8 bytes); the signature in base58 or base64. */
export function isSignedBySolana(address: string, text: string, signature: string): boolean {
	const message = Buffer.from(text, "utf8");
	return readings(signature).some((candidate) => isSignedBySolanaKey(address, message, candidate));
}

/** A text may be both: then it is the reading that verifies. */
function readings(signature: string): Uint8Array[] {
	const found: Uint8Array[] = [];
	if (BASE58.test(signature)) found.push(base58.decode(signature));
	if (BASE64.test(signature)) found.push(Buffer.from(signature, "base64"));
	return found.filter(({ length }) => length === 64);
}
