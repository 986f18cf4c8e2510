/** The data that a payer signs, and the token's domain (https://eips.ethereum.org/EIPS/eip-712). */
import { keccak_256 } from "@noble/hashes/sha3";
import type { EvmNetwork } from "../networks.ts";
import type { Authorization } from "../payment.ts";
import { word } from "./words.ts";

const DOMAIN_TYPE = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
/** https://eips.ethereum.org/EIPS/eip-3009 */
const TRANSFER_TYPE =
	"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)";

/** Returns what `DOMAIN_SEPARATOR()` of the network's token must answer: 0x and 64 digits. */
export function domainSeparator({ tokenName, tokenVersion, chainId, asset }: EvmNetwork): string {
	return hashWords(hash(DOMAIN_TYPE), hash(tokenName), hash(tokenVersion), word(chainId), word(asset));
}

/** Returns the hash that the payer signs. */
export function authorizationDigest(network: EvmNetwork, signed: Authorization): Uint8Array {
	const { from, to, value, validAfter, validBefore, nonce } = signed;
	const message = [word(from), word(to), word(value), word(validAfter), word(validBefore), word(nonce)];
	const struct = hashWords(hash(TRANSFER_TYPE), ...message);
	return keccak_256(Buffer.from(`1901${domainSeparator(network).slice(2)}${struct.slice(2)}`, "hex"));
}

/** Returns the lower-case address of an uncompressed public key of 65 bytes. */
export function addressOfKey(publicKey: Uint8Array): string {
	return `0x${Buffer.from(keccak_256(publicKey.subarray(1)).subarray(12)).toString("hex")}`;
}

/** Returns the address of a private key of 64 hex digits; null if they are no key of the curve. */
export async function addressOfPrivateKey(key: string): Promise<string | null> {
	const { secp256k1 } = await import("@noble/curves/secp256k1");
	try {
		return addressOfKey(secp256k1.getPublicKey(key.replace(/^0x/, ""), false));
	} catch {
		return null;
	}
}

function hash(text: string): string {
	return Buffer.from(keccak_256(Buffer.from(text, "utf8"))).toString("hex");
}

function hashWords(...words: readonly string[]): string {
	return `0x${Buffer.from(keccak_256(Buffer.from(words.join(""), "hex"))).toString("hex")}`;
}
