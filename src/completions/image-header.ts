import { ApiError } from "../errors/index.ts";
import { pathText } from "../schema/index.ts";

const MIN_SIDE = 64;
/** The pixel limit of image parts; the edit routes have the same. */
const MAX_PIXELS = 33_177_600;

/**
 * Checks an image of a data URL by its header only.
 * @param base64 the beginning of its data
 * @throws ApiError CORRUPTED_IMAGE, IMAGE_TOO_SMALL or IMAGE_TOO_LARGE
 */
export function checkImageData(base64: string, at: (string | number)[]): void {
	const param = pathText(at);
	const size = imageSize(Buffer.from(base64, "base64"));
	if (size === null)
		throw new ApiError("CORRUPTED_IMAGE", {
			param,
			message: `${param}: the image's header cannot be read; send JPEG, PNG, WebP or GIF`,
		});
	if (size === "unknown") return;
	const text = `${param}: the image is ${size.width} x ${size.height} pixels`;
	if (size.width < MIN_SIDE || size.height < MIN_SIDE)
		throw new ApiError("IMAGE_TOO_SMALL", { param, message: `${text}; each side needs at least ${MIN_SIDE}` });
	if (size.width * size.height > MAX_PIXELS)
		throw new ApiError("IMAGE_TOO_LARGE", { param, message: `${text}; at most ${MAX_PIXELS} in all` });
}

interface Size {
	readonly width: number;
	readonly height: number;
}

/**
 * Returns width and height from the header; "unknown" for formats whose header we do not read; null if it is broken.
 */
export function imageSize(bytes: Buffer): Size | "unknown" | null {
	if (bytes.length < 12) return null;
	if (bytes.readUInt32BE(0) === 0x89504e47)
		return bytes.length >= 24 ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : null;
	if (bytes.toString("latin1", 0, 4) === "GIF8") return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
	if (bytes[0] === 0xff && bytes[1] === 0xd8) return jpegSize(bytes);
	if (bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP") return webpSize(bytes);
	const brand = bytes.toString("latin1", 4, 12);
	if (
		brand.startsWith("ftyp") ||
		bytes.toString("latin1", 0, 2) === "BM" ||
		/^(II\*\0|MM\0\*)/.test(bytes.toString("latin1", 0, 4))
	)
		return "unknown";
	return null;
}

function jpegSize(bytes: Buffer): Size | "unknown" | null {
	let offset = 2;
	while (offset + 9 < bytes.length) {
		if (bytes[offset] !== 0xff) return null;
		const marker = bytes[offset + 1] ?? 0;
		if (marker === 0xff) {
			offset++;
			continue;
		}
		const frame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
		if (frame) return { height: bytes.readUInt16BE(offset + 5), width: bytes.readUInt16BE(offset + 7) };
		const length = bytes.readUInt16BE(offset + 2);
		if (length < 2) return null;
		offset += 2 + length;
	}
	return bytes.length > 60_000 ? "unknown" : null;
}

function webpSize(bytes: Buffer): Size | null {
	if (bytes.length < 30) return null;
	const kind = bytes.toString("latin1", 12, 16);
	if (kind === "VP8X") return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
	if (kind === "VP8 ") return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
	if (kind === "VP8L") {
		const bits = bytes.readUInt32LE(21);
		return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) };
	}
	return null;
}
