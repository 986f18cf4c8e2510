import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import { invalidField } from "../../schema/index.ts";
import { refusedUrl } from "../../upstreams/public-fetch/index.ts";
import { PublicFetchFault } from "../../upstreams/public-fetch/port.ts";
import { base64String, decodedLength, type LongStrings } from "../../wire/index.ts";
import type { ImageDeps } from "./deps.ts";
import { MAX_FILE_BYTES } from "./limits.ts";

/** A picture as a caller sent it, not checked yet. */
export interface PictureSource {
	readonly from: { readonly bytes: Uint8Array } | { readonly url: string };
	/** The path of the picture in the request. */
	readonly path: readonly (string | number)[];
	/** `mask`: its transparent parts mark what to change in the first picture. */
	readonly role: "picture" | "mask";
}

type Path = PictureSource["path"];

/**
 * Returns the picture of a text: an address, base64, or a data: URL.
 * @throws ApiError CORRUPTED_IMAGE, PAYLOAD_TOO_LARGE, INVALID_REQUEST
 */
export async function sourceOfText(text: string, long: LongStrings, path: Path): Promise<PictureSource> {
	if (/^https?:\/\//i.test(text)) return { from: { url: text }, path, role: "picture" };
	// The head of a data: URL is short, so it may be counted.
	if ((decodedLength(long.bytesOf(text)) ?? 0) > MAX_FILE_BYTES + 1_024) throw tooLarge(path);
	const bytes = await base64String(text, long);
	if (bytes === null)
		throw refusal("CORRUPTED_IMAGE", path, "is no base64, no data: URL with base64, and no http:// or https:// address");
	return sourceOfBytes(bytes, path);
}

/**
 * Returns the picture of these bytes.
 * @throws ApiError CORRUPTED_IMAGE, PAYLOAD_TOO_LARGE
 */
export function sourceOfBytes(bytes: Uint8Array, path: Path, role: PictureSource["role"] = "picture"): PictureSource {
	if (bytes.length === 0) throw refusal("CORRUPTED_IMAGE", path, "is empty");
	if (bytes.length > MAX_FILE_BYTES) throw tooLarge(path);
	return { from: { bytes }, path, role };
}

/** Returns the picture of base64, where addresses are not accepted. */
export async function inlineSource(text: string, long: LongStrings, path: Path): Promise<PictureSource> {
	if (/^https?:\/\//i.test(text)) throw invalidField(path, "takes no address here: send the picture as base64, or as a file");
	return sourceOfText(text, long, path);
}

/**
 * Returns the bytes of a picture. An address is read now: it must be public, at the connection and at each redirect.
 * @throws ApiError INVALID_REQUEST for an address that cannot be read, PAYLOAD_TOO_LARGE; the abort reason of the
 * requester's signal
 */
export async function bytesOf({ from, path }: PictureSource, deps: ImageDeps, requester: Requester): Promise<Uint8Array> {
	if ("bytes" in from) return from.bytes;
	try {
		return (
			await deps.fetchPublic.read(from.url, {
				tenant: requester.tenant,
				signal: requester.signal,
				maxBytes: MAX_FILE_BYTES,
				accept: "image/*,*/*;q=0.5",
			})
		).bytes;
	} catch (fault) {
		if (fault instanceof PublicFetchFault && fault.kind === "too_large") throw tooLarge(path);
		throw refusedUrl(fault, path);
	}
}

function tooLarge(path: Path): ApiError {
	return new ApiError("PAYLOAD_TOO_LARGE", {
		message: `${path.join(".")}: the picture is over the limit of ${MAX_FILE_BYTES} bytes`,
		param: path.join("."),
	});
}

function refusal(code: "CORRUPTED_IMAGE", path: Path, message: string): ApiError {
	return new ApiError(code, {
		message: `${path.join(".")}: ${message}`,
		param: path.join("."),
		issues: [{ path, code: "image", message }],
	});
}
