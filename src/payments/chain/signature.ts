import type { Authorization } from "../payment.ts";
import type { TokenChain } from "./token-chain.ts";
import { addressOfKey, authorizationDigest } from "./typed-data.ts";

/** Suffix of the signature of a wallet that may not be deployed yet (https://eips.ethereum.org/EIPS/eip-6492). */
const WRAPPED = "6492".repeat(16);
const WORD = 64;

/**
 * Returns true if the payer signed, with a key of its own or as a contract. null: only the facilitator can tell,
 * since the contract is not deployed yet. Throws `ChainUnavailable` where only the chain can tell.
 */
export async function isSignedByPayer(chain: TokenChain, signed: Authorization, signature: string): Promise<boolean | null> {
	const digest = authorizationDigest(chain.network, signed);
	if (signature.endsWith(WRAPPED)) {
		const inner = innerSignature(signature);
		if (inner === null) return false;
		return (await chain.hasCode(signed.from)) ? chain.isSignedByContract(signed.from, digest, inner) : null;
	}
	if ((await signerOf(digest, signature)) === signed.from) return true;
	return chain.isSignedByContract(signed.from, digest, signature);
}

/** Returns the third member of `(address factory, bytes call, bytes signature)`; null if the encoding differs. */
function innerSignature(signature: string): string | null {
	const digits = signature.slice(2, -WRAPPED.length);
	const wordAt = (at: number) => (at + WORD <= digits.length ? Number(`0x${digits.slice(at, at + WORD)}`) : Number.NaN);
	const bytesAt = (at: number) => {
		const start = wordAt(at) * 2;
		const end = start + WORD + wordAt(start) * 2;
		return end <= digits.length ? digits.slice(start + WORD, end) : null;
	};
	const inner = bytesAt(2 * WORD);
	return digits.startsWith("0".repeat(24)) && bytesAt(WORD) !== null && inner !== null && inner !== "" ? `0x${inner}` : null;
}

/** Returns the address of the key that signed; null if there is none. */
async function signerOf(digest: Uint8Array, signature: string): Promise<string | null> {
	const bytes = Buffer.from(signature.slice(2), "hex");
	if (bytes.length !== 65) return null;
	const mark = bytes[64] ?? 0;
	const bit = mark >= 27 ? mark - 27 : mark;
	if (bit > 1) return null;
	const { secp256k1 } = await import("@noble/curves/secp256k1");
	try {
		const compact = secp256k1.Signature.fromCompact(bytes.subarray(0, 64));
		// The token also refuses the other half of the curve.
		if (compact.hasHighS()) return null;
		return addressOfKey(compact.addRecoveryBit(bit).recoverPublicKey(digest).toRawBytes(false));
	} catch {
		return null;
	}
}
