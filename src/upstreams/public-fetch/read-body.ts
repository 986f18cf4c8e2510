import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { concatBytes } from "../../wire/index.ts";
import { PublicFetchFault, type PublicGet } from "./port.ts";

/** The encodings that requests accept. */
export const ACCEPT_ENCODING = "gzip, deflate, br";

const DECODERS: Readonly<Record<string, () => Transform>> = {
	gzip: createGunzip,
	"x-gzip": createGunzip,
	deflate: createInflate,
	br: createBrotliDecompress,
};

export interface BodyListener {
	/** Called when bytes arrive. */
	onBytes(): void;
	/** Called with the number of decompressed bytes to hold. If it throws, the reading ends. */
	onHeldBytes(bytes: number): void;
}

/**
 * Reads and decompresses the whole body. Holds at most `maxBytes` and one piece.
 * @throws PublicFetchFault; the signal's reason
 */
export async function readBody(
	message: IncomingMessage,
	{ maxBytes, cutOff = false }: Pick<PublicGet, "maxBytes" | "cutOff">,
	signal: AbortSignal,
	listener: BodyListener,
): Promise<Uint8Array<ArrayBuffer>> {
	if (!cutOff && Number(message.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
	const encoding = (message.headers["content-encoding"] ?? "identity").trim().toLowerCase();
	const decoder = encoding === "identity" || encoding === "" ? null : DECODERS[encoding]?.();
	if (decoder === undefined) throw new PublicFetchFault("encoding", "The answer has an encoding that was not asked for");
	signal.throwIfAborted();
	const pieces: Uint8Array[] = [];
	let length = 0;
	const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
	const leave = () => reject(signal.reason);
	signal.addEventListener("abort", leave, { once: true });
	const body = decoder ?? message;
	body.on("data", (piece: Uint8Array) => {
		length += piece.length;
		if (length > maxBytes && !cutOff) return reject(tooLarge(maxBytes));
		try {
			listener.onHeldBytes(piece.length);
		} catch (fault) {
			return reject(fault);
		}
		pieces.push(piece);
		if (length >= maxBytes && cutOff) resolve(concatBytes(pieces).slice(0, maxBytes));
		return undefined;
	});
	body.on("end", () => resolve(concatBytes(pieces)));
	message.on("data", () => listener.onBytes());
	message.on("error", (fault) => reject(brokenOff(fault)));
	message.on("aborted", () => reject(brokenOff()));
	if (decoder !== null) {
		decoder.on("error", (fault) => reject(new PublicFetchFault("encoding", "The answer does not decompress", fault)));
		message.pipe(decoder);
	}
	try {
		return await promise;
	} finally {
		signal.removeEventListener("abort", leave);
		message.unpipe();
		decoder?.destroy();
	}
}

const tooLarge = (maxBytes: number) => new PublicFetchFault("too_large", `The answer has more than ${maxBytes} bytes`);
const brokenOff = (fault?: unknown) => new PublicFetchFault("unreachable", "The connection broke off in the answer", fault);
