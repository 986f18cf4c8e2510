import type { Authorization } from "../payment.ts";
import type { TokenChain } from "./token-chain.ts";
import { addressOfKey, authorizationDigest } from "./typed-data.ts";

/** Ends the signature of a wallet that is not deployed yet (https://eips.ethereum.org/EIPS/eip-6492). */
const UNDEPLOYED = "6492".repeat(16);

/**
 * Whether the payer signed: with a key of its own, or as a contract. `null`: only the facilitator can tell, as the
 * contract is still to be deployed. Throws `ChainUnavailable` where only the chain can tell.
 */
export async function isSignedByPayer(chain: TokenChain, signed: Authorization, signature: string): Promise<boolean | null> {
	if (signature.endsWith(UNDEPLOYED)) return null;
	const digest = authorizationDigest(chain.network, signed);
	if ((await signerOf(digest, signature)) === signed.from) return true;
	return chain.isSignedByContract(signed.from, digest, signature);
}

/** Address of the key that signed; null where there is none. */
async function signerOf(digest: Uint8Array, signature: string): Promise<string | null> {
	const bytes = Buffer.from(signature.slice(2), "hex");
	if (bytes.length !== 65) return null;
	const mark = bytes[64] ?? 0;
	const bit = mark >= 27 ? mark - 27 : mark;
	if (bit > 1) return null;
	const { secp256k1 } = await import("@noble/curves/secp256k1");
	try {
		const compact = secp256k1.Signature.fromCompact(bytes.subarray(0, 64));
		// The token refuses the other half of the curve, too.
		if (compact.hasHighS()) return null;
		return addressOfKey(compact.addRecoveryBit(bit).recoverPublicKey(digest).toRawBytes(false));
	} catch {
		return null;
	}
}
