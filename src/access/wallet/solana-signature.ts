import { createPublicKey, verify } from "node:crypto";
import { base58 } from "@scure/base";

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{86}|[A-Za-z0-9_-]{86})(?:==)?$/;
/** What stands before the 32 bytes of a key (RFC 8410). */
const KEY_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Points of a small order, the sign bit left out: as keys they are nobody's, since signatures for them can be made
 * without any secret (https://eprint.iacr.org/2020/1244).
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

/** Whether the text is the base58 of a key that someone can own. */
export function isSolanaAddress(text: string): boolean {
	return keyOf(text) !== null;
}

/** Whether the wallet signed the text (Ed25519 over its UTF-8 bytes); the signature in base58 or base64. */
export function isSignedBySolana(address: string, text: string, signature: string): boolean {
	const bytes = keyOf(address);
	if (bytes === null) return false;
	const key = createPublicKey({ key: Buffer.concat([KEY_PREFIX, bytes]), format: "der", type: "spki" });
	return readings(signature).some((candidate) => verify(null, Buffer.from(text, "utf8"), key, candidate));
}

function keyOf(address: string): Uint8Array | null {
	if (!ADDRESS.test(address)) return null;
	const bytes = base58.decode(address);
	if (bytes.length !== 32) return null;
	const point = Buffer.from(bytes);
	point[31] = (point[31] ?? 0) & 0x7f;
	return SMALL_ORDER_POINTS.has(point.toString("hex")) ? null : bytes;
}

/** A text may be both: then it is the reading that verifies. */
function readings(signature: string): Uint8Array[] {
	const found: Uint8Array[] = [];
	if (BASE58.test(signature)) found.push(base58.decode(signature));
	if (BASE64.test(signature)) found.push(Buffer.from(signature, "base64"));
	return found.filter(({ length }) => length === 64);
}
