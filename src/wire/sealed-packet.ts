/** A sealed text as it travels (docs/sealed-chat.md): hex of an ephemeral key, a nonce, ciphertext and tag. */

/** Uncompressed secp256k1 point. */
export const PACKET_KEY_BYTES = 65;
/** AES-256-GCM. */
export const PACKET_NONCE_BYTES = 12;
export const PACKET_TAG_BYTES = 16;

const FRAME_BYTES = PACKET_KEY_BYTES + PACKET_NONCE_BYTES + PACKET_TAG_BYTES;
const PACKET = /^04[0-9a-f]{184,}$/i;

/** Whether a text has the form of a packet; only its key can tell whether it is one. */
export function isSealedPacket(text: string): boolean {
	return text.length % 2 === 0 && PACKET.test(text);
}

/** Bytes of the plaintext in a packet of so many hex digits. */
export function sealedPlainBytes(hexDigits: number): number {
	return Math.max(0, (hexDigits >> 1) - FRAME_BYTES);
}
