/** The wire format of a sealed text (docs/sealed-chat.md): hex of an ephemeral key, a nonce, ciphertext and tag. */

/** Size of an uncompressed secp256k1 point. */
export const PACKET_KEY_BYTES = 65;
/** Size of an AES-256-GCM nonce. */
export const PACKET_NONCE_BYTES = 12;
export const PACKET_TAG_BYTES = 16;

const FRAME_BYTES = PACKET_KEY_BYTES + PACKET_NONCE_BYTES + PACKET_TAG_BYTES;
const PACKET = /^04[0-9a-f]{184,}$/i;

/** Returns true for a text with the form of a packet; only its key can show whether it is one. */
export function isSealedPacket(text: string): boolean {
	return text.length % 2 === 0 && PACKET.test(text);
}

/** Returns the bytes of the plaintext in a packet of this many hex digits. */
export function sealedPlainBytes(hexDigits: number): number {
	return Math.max(0, (hexDigits >> 1) - FRAME_BYTES);
}
