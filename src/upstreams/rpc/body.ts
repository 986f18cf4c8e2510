import {
	brotliDecompressSync,
	createBrotliDecompress,
	createGunzip,
	createInflate,
	createZstdDecompress,
	gunzipSync,
	inflateSync,
	zstdDecompressSync,
} from "node:zlib";
import { cancelBody } from "../connect.ts";
import { brokenAnswer } from "./faults.ts";

/** The accepted content codings, for Accept-Encoding. */
export const ACCEPTED_ENCODINGS = "gzip, zstd, br, deflate";

type Inflater = ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress>;
interface Codec {
	readonly stream: () => Inflater;
	readonly whole: (packed: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
}

const CHUNK = { chunkSize: 64 * 1024 };
const GZIP: Codec = { stream: () => createGunzip(CHUNK), whole: gunzipSync };
const CODECS: ReadonlyMap<string, Codec> = new Map([
	["gzip", GZIP],
	["x-gzip", GZIP],
	["deflate", { stream: () => createInflate(CHUNK), whole: inflateSync }],
	["br", { stream: () => createBrotliDecompress(CHUNK), whole: brotliDecompressSync }],
	["zstd", { stream: () => createZstdDecompress(CHUNK) as unknown as Inflater, whole: zstdDecompressSync }],
]);

/** Compressed bodies up to this size are decompressed in one go, to at most MAX_WHOLE. */
const MAX_PACKED_WHOLE = 32 * 1024;
const MAX_WHOLE = 256 * 1024;

/** The decompressed bytes of an answer, piece by piece. */
export interface Body {
	/**
	 * Returns the next bytes; null at the end.
	 * @throws RpcFault if they cannot be decompressed, and the errors of the connection
	 */
	next(): Promise<Uint8Array | null>;
	/** Cancels the rest. May be called at any time, and more than once. */
	cancel(): void;
}

/**
 * Reads the whole body without a stream if it declares a small length. Returns null for a body that must be read as a
 * stream.
 */
export function smallBody(response: Response): Promise<Uint8Array> | null {
	const declared = response.headers.get("content-length");
	if (declared === null) return null;
	return response.headers.get("content-encoding") === null && Number(declared) <= MAX_WHOLE ? response.bytes() : null;
}

/**
 * Returns the body of an answer.
 * @throws RpcFault for a content coding that we did not accept
 */
export function bodyOf(response: Response): Body {
	const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
	const reader = response.body?.getReader();
	const raw: Body = {
		async next() {
			const read = await reader?.read();
			return read === undefined || read.done ? null : read.value;
		},
		cancel: () => cancelBody(reader),
	};
	if (encoding === "identity" || encoding === "") return raw;
	const codec = CODECS.get(encoding);
	if (codec === undefined) {
		raw.cancel();
		throw brokenAnswer("an answer packed in a way that was not asked for");
	}
	return decompress(raw, codec);
}

/** Decompresses a small body at once; a larger one, or one that grows too much, as a stream. */
function decompress(raw: Body, codec: Codec): Body {
	let inner: Body | null = null;
	let whole: Uint8Array | null = null;
	let opened = false;
	const open = async (): Promise<void> => {
		opened = true;
		const pieces: Uint8Array[] = [];
		let length = 0;
		let piece = await raw.next();
		while (piece !== null) {
			pieces.push(piece);
			length += piece.length;
			if (length > MAX_PACKED_WHOLE) break;
			piece = await raw.next();
		}
		if (piece === null) {
			const packed = Buffer.concat(pieces, length);
			if (length === 0) return;
			try {
				whole = codec.whole(packed, { maxOutputLength: MAX_WHOLE });
				return;
			} catch (error) {
				if ((error as { code?: unknown }).code !== "ERR_BUFFER_TOO_LARGE")
					throw brokenAnswer("an answer that cannot be unpacked");
			}
		}
		inner = decompressAside(pieces, raw, codec.stream());
	};
	return {
		async next() {
			if (!opened) await open();
			if (whole !== null) {
				const all = whole;
				whole = null;
				return all;
			}
			return inner === null ? null : inner.next();
		},
		cancel() {
			if (inner === null) raw.cancel();
			else inner.cancel();
		},
	};
}

/** Decompresses off the event loop. At most a few chunks are under way: unread input is not decompressed. */
function decompressAside(first: readonly Uint8Array[], raw: Body, inflater: Inflater): Body {
	const pump = async (): Promise<void> => {
		for (const piece of first) await write(inflater, piece);
		for (let piece = await raw.next(); piece !== null; piece = await raw.next()) await write(inflater, piece);
		inflater.end();
	};
	pump().catch((error: unknown) => inflater.destroy(error instanceof Error ? error : new Error(String(error))));
	const chunks = inflater[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
	let canceled = false;
	return {
		async next() {
			try {
				const { value, done } = await chunks.next();
				return done ? null : value;
			} catch (error) {
				throw isZlibError(error) ? brokenAnswer("an answer that cannot be unpacked") : error;
			}
		},
		cancel() {
			if (canceled) return;
			canceled = true;
			raw.cancel();
			inflater.on("error", () => {});
			inflater.destroy();
		},
	};
}

function write(inflater: Inflater, piece: Uint8Array): Promise<void> | undefined {
	if (inflater.destroyed) throw brokenAnswer("its reader left");
	if (inflater.write(piece)) return undefined;
	return new Promise((resolve, reject) => {
		const settle = (end: () => void) => {
			inflater.off("drain", onDrain);
			inflater.off("close", onClose);
			end();
		};
		const onDrain = () => settle(resolve);
		const onClose = () => settle(() => reject(brokenAnswer("its reader left")));
		inflater.once("drain", onDrain);
		inflater.once("close", onClose);
	});
}

function isZlibError(error: unknown): boolean {
	const { code } = (error ?? {}) as { readonly code?: unknown };
	return typeof code === "string" && (code.startsWith("Z_") || /ZLIB|BROTLI|ZSTD|DECOMPRESS|ERR__ERROR|BUF/i.test(code));
}
