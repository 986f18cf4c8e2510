import type { ImageType } from "./image-type.ts";

export interface PixelSize {
	readonly width: number;
	readonly height: number;
}

/**
 * Returns the size in an image's header, before anything is decoded; null if only the decoder can tell. The header may be
 * wrong, so the decoder has its own limits, too.
 * Sources: PNG (ISO/IEC 15948, 11.2.2), GIF89a 18, RFC 9649 (WebP), JPEG (ITU-T T.81, B.2.2).
 */
export function declaredSize(bytes: Uint8Array, type: ImageType): PixelSize | null {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	try {
		if (type === "png") return { width: view.getUint32(16), height: view.getUint32(20) };
		if (type === "gif") return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
		if (type === "webp") return webpSize(view);
		if (type === "jpeg") return jpegSize(view);
		return null;
	} catch (fault) {
		// The header is truncated.
		if (fault instanceof RangeError) return null;
		throw fault;
	}
}

function webpSize(view: DataView): PixelSize | null {
	const chunk = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)));
	if (chunk === "VP8 ") return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
	if (chunk === "VP8L") {
		const bits = view.getUint32(21, true);
		return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
	}
	if (chunk !== "VP8X") return null;
	const uint24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
	return { width: uint24(24) + 1, height: uint24(27) + 1 };
}

/** Markers without a length field. */
const isBare = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);
/** C4, C8 and CC are tables and extensions. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function jpegSize(view: DataView): PixelSize | null {
	let at = 2;
	for (;;) {
		if (view.getUint8(at) !== 0xff) return null;
		const marker = view.getUint8(at + 1);
		if (marker === 0xff) at += 1;
		else if (isBare(marker)) at += 2;
		else if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
		else {
			const length = view.getUint16(at + 2);
			if (length < 2) return null;
			at += 2 + length;
		}
	}
}
