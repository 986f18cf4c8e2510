import { createPublicKey, verify } from "node:crypto";
import { base58 } from "@scure/base";

const FORM = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
/** The prefix of the 32 bytes of a key (RFC 8410). */
const KEY_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Points of a small order, without the sign bit. Signatures for them can be made without any secret, so such keys
 * belong to nobody (https://eprint.iacr.org/2020/1244).
 */
export const SMALL_ORDER_POINTS: ReadonlySet<string> = new Set([
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

/** Returns the 32 bytes of an address whose key can exist; null if the text is no such address. */
export function readSolanaAddress(text: string): Uint8Array | null {
	if (!FORM.test(text)) return null;
	const bytes = base58.decode(text);
	if (bytes.length !== 32) return null;
	const point = Buffer.from(bytes);
	point[31] = (point[31] ?? 0) & 0x7f;
	return SMALL_ORDER_POINTS.has(point.toString("hex")) ? null : bytes;
}

/** Returns true if the owner of an address signed these bytes (Ed25519); false if it is no address. */
export function isSignedBySolanaKey(address: string, message: Uint8Array, signature: Uint8Array): boolean {
	const bytes = readSolanaAddress(address);
	if (bytes === null || signature.length !== 64) return false;
	const key = createPublicKey({ key: Buffer.concat([KEY_PREFIX, bytes]), format: "der", type: "spki" });
	return verify(null, message, key, signature);
}
