import { ImageFault } from "./port.ts";

/** The supported types. `heif` is AVIF or HEIC, depending on its content. */
export type ImageType = "jpeg" | "png" | "webp" | "gif" | "tiff" | "heif";

const READ = "send a JPEG, PNG, WebP, GIF, AVIF or TIFF";
const HEAD_BYTES = 1_024;

const SIGNATURES: readonly (readonly [signature: string, type: ImageType])[] = [
	["\xff\xd8\xff", "jpeg"],
	["\x89PNG\r\n\x1a\n", "png"],
	["GIF87a", "gif"],
	["GIF89a", "gif"],
	["II*\x00", "tiff"],
	["MM\x00*", "tiff"],
	["II+\x00", "tiff"],
	["MM\x00+", "tiff"],
];
/** Unsupported types that a refusal names: some of these run programs when opened. */
const OTHERS: readonly (readonly [signature: string, what: string])[] = [
	["%PDF-", "a PDF"],
	["%!PS", "a PostScript file"],
	["BM", "a bitmap (BMP)"],
	["\x00\x00\x01\x00", "an icon"],
	["8BPS", "a Photoshop file"],
	["\xff\x0a", "a JPEG XL file"],
	["\x00\x00\x00\x0cJXL ", "a JPEG XL file"],
	["\xff\x4f\xff\x51", "a JPEG 2000 file"],
	["\x00\x00\x00\x0cjP  ", "a JPEG 2000 file"],
	["\x1aE\xdf\xa3", "a video"],
	["<html", "a web page"],
	["<!doctype html", "a web page"],
	["<svg", "an SVG file"],
	["<!doctype svg", "an SVG file"],
	["<!--", "an SVG or XML file"],
	["<?xml", "an SVG or XML file"],
];
const HEIF_BRANDS = /^(?:avi[fs]|hei[cxms]|hev[cxms]|mif[12]|msf1|mi[ah]f)$/;

/**
 * Returns an image's type by its first bytes; a file's name or declared type is ignored.
 * @throws {ImageFault} `unsupported`
 */
export function imageTypeOf(bytes: Uint8Array): ImageType {
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString("latin1");
	if (head === "") throw new ImageFault("unsupported", `The image is empty: ${READ}`);
	const type = SIGNATURES.find(([signature]) => head.startsWith(signature))?.[1];
	if (type !== undefined) return type;
	if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "webp";
	if (head.slice(4, 8) === "ftyp" && brands(head).some((brand) => HEIF_BRANDS.test(brand))) return "heif";
	const text = head.replace(/^(?:\xef\xbb\xbf)?\s*/, "").toLowerCase();
	const what = OTHERS.find(([signature]) => head.startsWith(signature) || text.startsWith(signature))?.[1];
	throw new ImageFault("unsupported", what === undefined ? `This is not a supported image: ${READ}` : `This is ${what}: ${READ}`);
}

/** Returns the major brand and the compatible ones (ISO/IEC 14496-12, 4.3). */
function brands(head: string): string[] {
	const size = Buffer.from(head.slice(0, 4), "latin1").readUInt32BE(0);
	const list = head.slice(16, Math.min(size, HEAD_BYTES));
	return [head.slice(8, 12), ...(list.match(/[\s\S]{4}/g) ?? [])];
}
