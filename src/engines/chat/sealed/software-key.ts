import { secp256k1 } from "@noble/curves/secp256k1";
import { keccak_256 } from "@noble/hashes/sha3";

/** The attestation of this key says that it is not in an enclave. */
const NOT_VERIFIED =
	"A key in the memory of an ordinary process: no enclave holds it and no hardware vouches for it. For the development of clients";

/** The built-in engine's key: seals conversations and signs answers. It is software, and its attestation says so. */
export class SoftwareKey {
	readonly privateKey: Uint8Array;
	/** Uncompressed, 130 hex digits. */
	readonly publicKey: string;
	/** The Ethereum address of the public key: 0x and 40 hex digits. */
	readonly address: string;

	/** @param privateKey 32 bytes, as hex */
	constructor(privateKey: string) {
		this.privateKey = Buffer.from(privateKey, "hex");
		const publicKey = secp256k1.getPublicKey(this.privateKey, false);
		this.publicKey = Buffer.from(publicKey).toString("hex");
		this.address = `0x${Buffer.from(keccak_256(publicKey.subarray(1)).subarray(-20)).toString("hex")}`;
	}

	/** Returns the body of GET /tee/attestation (docs/sealed-chat.md). */
	attestation(model: string, nonce: string): Record<string, unknown> {
		return {
			verified: false,
			reason: NOT_VERIFIED,
			nonce,
			model,
			tee_provider: "software",
			intel_quote: "",
			signing_algo: "ecdsa",
			signing_key: this.publicKey,
			signing_address: this.address,
		};
	}

	/** Signs by personal_sign (ERC-191); returns 0x and r, s, v as 130 hex digits. */
	sign(text: string): string {
		const bytes = Buffer.from(text);
		const prefixed = Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]);
		const signature = secp256k1.sign(keccak_256(prefixed), this.privateKey);
		return `0x${signature.toCompactHex()}${(27 + signature.recovery).toString(16)}`;
	}
}
