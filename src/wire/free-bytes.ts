/**
 * Gives back the memory of bytes that nobody needs any more; they are empty from then on. Without it what passes through
 * waits for the collector, which lets tens of megabytes gather. Bytes that are a part of a larger buffer are left alone.
 */
export function freeBytes(bytes: Uint8Array): void {
	const { buffer } = bytes;
	if (buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength && !buffer.detached) buffer.transfer(0);
}
