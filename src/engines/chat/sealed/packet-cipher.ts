/**
 * Seals texts for a secp256k1 key (docs/sealed-chat.md): the x coordinate of the ECDH point goes through HKDF-SHA256 (RFC 5869)
 * into an AES-256-GCM key. Each key agreement takes about a millisecond.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1";
import { isSealedPacket, PACKET_KEY_BYTES, PACKET_NONCE_BYTES, PACKET_TAG_BYTES } from "../../../wire/sealed-packet.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const INFO = "ecdsa_encryption";
const TEXT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A packet that this key cannot open: another's, modified, or malformed. The message reveals nothing of its content. */
export class PacketUnreadable extends Error {
	override readonly name = "PacketUnreadable";
}

/**
 * Returns the text in a packet of hex digits.
 * @param privateKey 32 bytes
 * @throws {PacketUnreadable}
 */
export function openPacket(packet: string, privateKey: Uint8Array): string {
	if (!isSealedPacket(packet)) throw new PacketUnreadable("not a packet");
	const bytes = Buffer.from(packet, "hex");
	const sealedAt = PACKET_KEY_BYTES + PACKET_NONCE_BYTES;
	const tagAt = bytes.length - PACKET_TAG_BYTES;
	try {
		const key = agreedKey(privateKey, bytes.subarray(0, PACKET_KEY_BYTES));
		const opener = createDecipheriv(CIPHER, key, bytes.subarray(PACKET_KEY_BYTES, sealedAt), { authTagLength: PACKET_TAG_BYTES });
		opener.setAuthTag(bytes.subarray(tagAt));
		return TEXT.decode(Buffer.concat([opener.update(bytes.subarray(sealedAt, tagAt)), opener.final()]));
	} catch (cause) {
		throw new PacketUnreadable("the packet does not open with this key", { cause });
	}
}

/** Seals the pieces of one answer with one ephemeral key and a new nonce for each. */
export class PacketSealer {
	readonly #key: Uint8Array;
	readonly #publicKey: Uint8Array;

	/**
	 * @param recipient an uncompressed public key, 65 bytes
	 * @throws {Error} if that is not a point of the curve
	 */
	constructor(recipient: Uint8Array) {
		const ephemeral = secp256k1.utils.randomPrivateKey();
		this.#publicKey = secp256k1.getPublicKey(ephemeral, false);
		this.#key = agreedKey(ephemeral, recipient);
	}

	/** Returns the packet as hex digits. */
	seal(text: string): string {
		const nonce = randomBytes(PACKET_NONCE_BYTES);
		const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: PACKET_TAG_BYTES });
		const parts = [this.#publicKey, nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
		return Buffer.concat(parts).toString("hex");
	}
}

/** Returns true if 65 bytes are a point of the curve. */
export function isPublicKey(bytes: Uint8Array): boolean {
	try {
		secp256k1.ProjectivePoint.fromHex(bytes);
		return true;
	} catch {
		return false;
	}
}

function agreedKey(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
	const point = secp256k1.getSharedSecret(privateKey, publicKey, false);
	return new Uint8Array(hkdfSync("sha256", point.subarray(1, 1 + KEY_BYTES), new Uint8Array(0), INFO, KEY_BYTES));
}
