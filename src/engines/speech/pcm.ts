/** Prepares the model's samples so that pieces join without a click: trims silence, fades the ends, limits peaks. */
import { SPEECH_SAMPLE_RATE } from "./port.ts";

const perMs = SPEECH_SAMPLE_RATE / 1_000;
/** Below this level (-46 dB of full scale) the ends are silence; breath and fricatives are louder. */
const SILENCE = 0.005;
const KEEP_BEFORE = 30 * perMs;
const KEEP_AFTER = 60 * perMs;
const FADE = 8 * perMs;
/** A piece with a higher peak is attenuated as a whole: clipping is audible, slightly lower volume is not. */
const MAX_PEAK = 0.97;

/** Returns the part that is not silence, with a short margin on both sides; empty if all is silence. */
export function trimSilence(samples: Float32Array): Float32Array {
	const first = samples.findIndex((sample) => Math.abs(sample) > SILENCE);
	if (first < 0) return new Float32Array();
	const last = samples.findLastIndex((sample) => Math.abs(sample) > SILENCE);
	return samples.subarray(Math.max(0, first - KEEP_BEFORE), Math.min(samples.length, last + 1 + KEEP_AFTER));
}

/**
 * Converts samples.
 * @returns 16-bit samples, followed by a pause of `pauseMs`
 */
export function pcmOf(samples: Float32Array, pauseMs: number): Int16Array {
	const part = trimSilence(samples);
	if (part.length === 0) return new Int16Array();
	const out = new Int16Array(part.length + Math.round(pauseMs * perMs));
	const peak = part.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
	const gain = 32_767 * (peak > MAX_PEAK ? MAX_PEAK / peak : 1);
	for (let index = 0; index < part.length; index += 1) {
		const fade = Math.min(1, index / FADE, (part.length - 1 - index) / FADE);
		out[index] = Math.round((part[index] ?? 0) * gain * fade);
	}
	return out;
}

export function joinParts(parts: readonly Int16Array[]): Int16Array {
	const [only] = parts;
	if (parts.length === 1 && only) return only;
	const whole = new Int16Array(parts.reduce((length, part) => length + part.length, 0));
	let at = 0;
	for (const part of parts) {
		whole.set(part, at);
		at += part.length;
	}
	return whole;
}
