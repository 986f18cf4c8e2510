/**
 * Frees the memory of bytes that are no longer needed; they are empty from then on. Without it they wait for the
 * collector, which lets tens of megabytes gather. Bytes within a larger buffer are left alone.
 */
export function freeBytes(bytes: Uint8Array): void {
	const { buffer } = bytes;
	if (buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength && !buffer.detached) buffer.transfer(0);
}
