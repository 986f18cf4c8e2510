/** Bytes copied in one step: some milliseconds of work. */
const STEP_BYTES = 4 * 1_048_576;

export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
	const whole = new Uint8Array(lengthOf(pieces));
	let at = 0;
	for (const piece of pieces) {
		whole.set(piece, at);
		at += piece.length;
	}
	return whole;
}

/** Concatenates bytes in steps: see `inTurns`. */
export function* concatInSteps(pieces: readonly Uint8Array[]): Generator<undefined, Uint8Array<ArrayBuffer>> {
	const whole = Buffer.allocUnsafe(lengthOf(pieces));
	let written = 0;
	let stepEnd = STEP_BYTES;
	for (const piece of pieces) {
		for (let at = 0; at < piece.length; at += STEP_BYTES) {
			const part = piece.subarray(at, at + STEP_BYTES);
			whole.set(part, written);
			written += part.length;
			if (written < stepEnd) continue;
			stepEnd = written + STEP_BYTES;
			yield;
		}
	}
	return whole;
}

function lengthOf(pieces: readonly Uint8Array[]): number {
	let length = 0;
	for (const piece of pieces) length += piece.length;
	return length;
}
