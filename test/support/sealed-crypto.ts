/** Sealed texts as docs/sealed-chat.md has them, written for clients and servers of tests: no code of the gateway's. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1";

export interface Keys {
	readonly privateKey: Uint8Array;
	/** Uncompressed: 130 hex digits, 04 first. */
	readonly publicKey: string;
}

export function createKeys(): Keys {
	const privateKey = secp256k1.utils.randomPrivateKey();
	return { privateKey, publicKey: Buffer.from(secp256k1.getPublicKey(privateKey, false)).toString("hex") };
}

/** HKDF by its definition (RFC 5869): extract without salt, one block of expand. */
function derived(privateKey: Uint8Array, publicKey: string): Buffer {
	const x = secp256k1.getSharedSecret(privateKey, publicKey, false).slice(1, 33);
	const pseudorandom = createHmac("sha256", Buffer.alloc(32)).update(x).digest();
	return createHmac("sha256", pseudorandom).update("ecdsa_encryption").update(Uint8Array.of(1)).digest();
}

export function seal(text: string | Uint8Array, publicKey: string): string {
	const ephemeral = createKeys();
	const nonce = randomBytes(12);
	const cipher = createCipheriv("aes-256-gcm", derived(ephemeral.privateKey, publicKey), nonce);
	const sealed = Buffer.concat([
		cipher.update(typeof text === "string" ? Buffer.from(text) : text),
		cipher.final(),
		cipher.getAuthTag(),
	]);
	return ephemeral.publicKey + nonce.toString("hex") + sealed.toString("hex");
}

export function open(packet: string, privateKey: Uint8Array): string {
	const bytes = Buffer.from(packet, "hex");
	const key = derived(privateKey, bytes.subarray(0, 65).toString("hex"));
	const opener = createDecipheriv("aes-256-gcm", key, bytes.subarray(65, 77));
	opener.setAuthTag(bytes.subarray(-16));
	return Buffer.concat([opener.update(bytes.subarray(77, -16)), opener.final()]).toString("utf8");
}

/** Shorter texts, and those that are no hex, are told in plain. */
export function isPacket(text: string): boolean {
	return text.length >= 186 && /^[0-9a-f]+$/i.test(text);
}
