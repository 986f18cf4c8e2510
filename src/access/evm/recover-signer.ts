import { createRequire } from "node:module";

/** The public key behind a signature, uncompressed (65 bytes). Throws where there is none. */
export type Recovery = (hash: Uint8Array, compact: Uint8Array, bit: number) => Uint8Array;

/** Half of the curve's order: of the two values of s that sign the same, only the lower one is taken (EIP-2). */
const HALF_ORDER = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");
const SIGNATURE_BYTES = 65;

/**
 * The wallet whose key signed a text by personal_sign (https://eips.ethereum.org/EIPS/eip-191, version 0x45), lower case.
 * null where the bytes are no signature of a key: 65 bytes, s in its lower half, v one of 0, 1, 27, 28.
 */
export async function recoverSigner(message: string, signature: Uint8Array): Promise<string | null> {
	if (signature.length !== SIGNATURE_BYTES) return null;
	const compact = signature.subarray(0, 64);
	const v = signature[64] ?? 0;
	const bit = v >= 27 ? v - 27 : v;
	if (bit > 1 || Buffer.compare(compact.subarray(32), HALF_ORDER) > 0) return null;
	const [recover, { keccak_256 }] = await Promise.all([recovery(), import("@noble/hashes/sha3")]);
	const text = Buffer.from(message, "utf8");
	const hash = keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`), text]));
	try {
		const key = recover(hash, compact, bit);
		return `0x${Buffer.from(keccak_256(key.subarray(1)).subarray(12)).toString("hex")}`;
	} catch {
		return null;
	}
}

let loaded: Promise<Recovery> | null = null;

function recovery(): Promise<Recovery> {
	loaded ??= nativeRecovery() ?? portableRecovery();
	return loaded;
}

interface Bindings {
	ecdsaRecover(compact: Uint8Array, bit: number, hash: Uint8Array, compressed: boolean): Uint8Array;
}

/** By compiled code, some thirty times cheaper; null where the package has none for this machine. */
export function nativeRecovery(): Promise<Recovery> | null {
	let bindings: Bindings;
	try {
		bindings = createRequire(import.meta.url)("secp256k1/bindings");
	} catch {
		return null;
	}
	return Promise.resolve((hash, compact, bit) => bindings.ecdsaRecover(compact, bit, hash, false));
}

export async function portableRecovery(): Promise<Recovery> {
	const { secp256k1 } = await import("@noble/curves/secp256k1");
	return (hash, compact, bit) =>
		secp256k1.Signature.fromCompact(compact).addRecoveryBit(bit).recoverPublicKey(hash).toRawBytes(false);
}
