import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import { ApiError } from "../errors/index.ts";
import { concatInSteps, inTurns } from "../wire/index.ts";
import { type BodyShare, tooLarge } from "./read-body.ts";

const CHUNK_BYTES = 262_144;
/** A body may grow to this many times its compressed size; text rarely grows tenfold. */
const MAX_RATIO = 100;
/** A body of any size may grow to this many bytes. */
const ALWAYS_BYTES = 1_048_576;

/** The accepted content codings (RFC 9110, 8.4.1; zstd: RFC 8878). */
const UNPACKERS: Readonly<Record<string, (packed: Uint8Array) => Transform>> = {
	gzip: () => createGunzip({ chunkSize: CHUNK_BYTES }),
	"x-gzip": () => createGunzip({ chunkSize: CHUNK_BYTES }),
	// Some clients send the stream without the zlib header that the name means.
	deflate: (packed) => (hasZlibHeader(packed) ? createInflate : createInflateRaw)({ chunkSize: CHUNK_BYTES }),
	br: () => createBrotliDecompress({ chunkSize: CHUNK_BYTES }),
	zstd: () => createZstdDecompress({ chunkSize: CHUNK_BYTES }),
};
const ACCEPTED_CODINGS = "gzip, deflate, br, zstd";

/** Codings that are known but refused. Unknown words in the header are ignored as mistakes. */
const REFUSED_CODINGS: ReadonlySet<string> = new Set(["compress", "x-compress"]);

/**
 * Returns the content coding of the body; null if there is none.
 * @throws ApiError INVALID_CONTENT_TYPE (415) for several codings, or one that is not supported (RFC 9110, 15.5.16)
 */
export function bodyCoding(contentEncoding: string | null): string | null {
	if (contentEncoding === null) return null;
	const codings = contentEncoding
		.split(",")
		.map((coding) => coding.trim().toLowerCase())
		.filter((coding) => Object.hasOwn(UNPACKERS, coding) || REFUSED_CODINGS.has(coding));
	const [coding, another] = codings;
	if (coding === undefined) return null;
	if (another === undefined && !REFUSED_CODINGS.has(coding)) return coding;
	throw new ApiError("INVALID_CONTENT_TYPE", {
		message: `Content-Encoding ${codings.join(", ").slice(0, 100)} is not accepted here; send one of ${ACCEPTED_CODINGS}, or an uncompressed body`,
		headers: { "Accept-Encoding": ACCEPTED_CODINGS },
	});
}

/**
 * Decompresses the body.
 * @param share takes the memory that the body needs as it grows
 * @throws ApiError INVALID_REQUEST (400) if it is damaged; PAYLOAD_TOO_LARGE (413) over the route's limit or the
 * maximum ratio
 */
export async function decompressBody(
	packed: Uint8Array,
	coding: string,
	maxBytes: number,
	share: BodyShare,
): Promise<Uint8Array> {
	const unpacker = UNPACKERS[coding]?.(packed);
	if (unpacker === undefined || packed.length === 0) return packed;
	const limit = Math.min(maxBytes, Math.max(ALWAYS_BYTES, packed.length * MAX_RATIO));
	const chunks: Uint8Array[] = [];
	let size = 0;
	unpacker.end(packed);
	try {
		for await (const chunk of unpacker as AsyncIterable<Uint8Array>) {
			size += chunk.length;
			if (size > limit) throw size > maxBytes ? tooLarge(maxBytes) : outOfProportion(coding);
			share.growTo(packed.length + size);
			chunks.push(chunk);
		}
	} catch (error) {
		throw error instanceof ApiError ? error : damagedBodyError(coding);
	} finally {
		unpacker.destroy();
	}
	return inTurns(concatInSteps(chunks));
}

function outOfProportion(coding: string): ApiError {
	return new ApiError("PAYLOAD_TOO_LARGE", {
		message: `The body grows to more than ${MAX_RATIO} times its size when its ${coding} is unpacked; send it as it is`,
	});
}

function damagedBodyError(coding: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `The body is not whole ${coding}, as its Content-Encoding says` });
}

/** Returns true for a zlib header: method 8, and a multiple of 31 (RFC 1950, 2.2). */
function hasZlibHeader([first = 0, second = 0]: Uint8Array): boolean {
	return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}
