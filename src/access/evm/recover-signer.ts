import { createRequire } from "node:module";

/** Returns the public key of a signature, uncompressed (65 bytes). Throws if there is none. */
export type Recovery = (hash: Uint8Array, compact: Uint8Array, bit: number) => Uint8Array;

/** Half of the curve's order. Two values of s are valid for the same signature; only the lower one is accepted (EIP-2). */
const HALF_ORDER = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");
const SIGNATURE_BYTES = 65;

/**
 * Returns the wallet whose key signed a text by personal_sign (https://eips.ethereum.org/EIPS/eip-191, version 0x45), in lower
 * case. null if the bytes are not a signature of a key: 65 bytes, s in its lower half, v one of 0, 1, 27, 28.
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

/** Loads the compiled recovery, some thirty times cheaper; null if the package has no build for this machine. */
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
