import { base58 } from "@scure/base";
import { isSignedBySolanaKey, readSolanaAddress } from "../../schema/index.ts";

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{86}|[A-Za-z0-9_-]{86})(?:==)?$/;

/** Returns true if the text is the base58 form of a key that can have an owner. */
export function isSolanaAddress(text: string): boolean {
	return readSolanaAddress(text) !== null;
}

/** Returns true if the wallet signed the text (Ed25519 over its UTF-8 bytes). The signature is base58 or base64. */
export function isSignedBySolana(address: string, text: string, signature: string): boolean {
	const message = Buffer.from(text, "utf8");
	return decodings(signature).some((candidate) => isSignedBySolanaKey(address, message, candidate));
}

/** A text may be valid in both encodings; both are tried. */
function decodings(signature: string): Uint8Array[] {
	const candidates: Uint8Array[] = [];
	if (BASE58.test(signature)) candidates.push(base58.decode(signature));
	if (BASE64.test(signature)) candidates.push(Buffer.from(signature, "base64"));
	return candidates.filter(({ length }) => length === 64);
}
