import { ApiError } from "../errors/index.ts";

export interface UploadLimits {
	/** Silence that ends an upload with 408. */
	readonly silenceMs: number;
	/** The whole time that an upload may take. */
	readonly totalMs: number;
}

const LARGE = 1_048_576;

/** Counts the large bodies that are in memory: a bound for the whole process. */
export class BodyMemory {
	#used = 0;
	readonly #limit: number;

	constructor(limit: number) {
		this.#limit = limit;
	}

	/** Takes `bytes` for a request. Throws SERVICE_UNAVAILABLE where they would pass the bound. */
	take(bytes: number): () => void {
		if (bytes < LARGE) return () => {};
		if (this.#used + bytes > this.#limit) {
			throw new ApiError("SERVICE_UNAVAILABLE", {
				message: "Too many large uploads at once; try again shortly",
				retryAfterSeconds: 1,
			});
		}
		this.#used += bytes;
		let held = true;
		return () => {
			if (!held) return;
			held = false;
			this.#used -= bytes;
		};
	}
}

function tooLarge(maxBytes: number): ApiError {
	return new ApiError("PAYLOAD_TOO_LARGE", {
		message: `The request body is over this route's limit of ${maxBytes} bytes`,
		headers: { connection: "close" },
	});
}

/** The declared length; undefined for a chunked body. Throws 413 before a byte is read. */
export function declaredLength(request: Request, maxBytes: number): number | undefined {
	const text = request.headers.get("content-length");
	if (text === null) return undefined;
	const length = Number(text);
	if (length > maxBytes) throw tooLarge(maxBytes);
	return length;
}

/**
 * Reads a request body whole. Throws PAYLOAD_TOO_LARGE past `maxBytes`, REQUEST_TIMEOUT (408) where it comes
 * too slowly. `setIdleTimeout(0)` is in force while it reads: slow uploads are not activity for the runtime.
 */
export async function readBody(
	request: Request,
	maxBytes: number,
	limits: UploadLimits,
	setIdleTimeout: (seconds: number) => void,
): Promise<Uint8Array> {
	const length = declaredLength(request, maxBytes);
	const stream = request.body;
	if (stream === null || length === 0) return new Uint8Array(0);
	const reader: BodyReader = stream.getReader();
	const first = reader.read();
	const early = await settledWithin(first);
	if (early !== undefined) {
		if (early.value !== undefined && early.value.byteLength > maxBytes) {
			void reader.cancel();
			throw tooLarge(maxBytes);
		}
		if (early.value !== undefined && early.value.byteLength === length) {
			reader.releaseLock();
			return early.value;
		}
	}
	setIdleTimeout(0);
	try {
		return await readSlowly(reader, early ?? first, maxBytes, limits);
	} finally {
		setIdleTimeout(120);
	}
}

interface BodyReader {
	read(): Promise<Read>;
	cancel(): Promise<void>;
	releaseLock(): void;
}

type Read = { readonly done: boolean; readonly value?: Uint8Array | undefined };

const PENDING = Symbol("pending");

/** The value of a promise that settles within the microtasks at hand, else undefined: the usual small body needs no timers. */
async function settledWithin(promise: Promise<Read>): Promise<Read | undefined> {
	const winner = await Promise.race([promise, Promise.resolve(PENDING)]);
	return winner === PENDING ? undefined : (winner as Read);
}

async function readSlowly(
	reader: BodyReader,
	first: Read | Promise<Read>,
	maxBytes: number,
	limits: UploadLimits,
): Promise<Uint8Array> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	let timedOut: (() => void) | undefined;
	const expired = new Promise<never>((_, reject) => {
		timedOut = () => reject(new ApiError("REQUEST_TIMEOUT_UPLOAD", { headers: { connection: "close" } }));
	});
	expired.catch(() => {});
	const total = setTimeout(() => timedOut?.(), limits.totalMs);
	let silence = setTimeout(() => timedOut?.(), limits.silenceMs);
	try {
		let read = await Promise.race([first, expired]);
		while (!read.done) {
			if (read.value !== undefined) {
				size += read.value.byteLength;
				if (size > maxBytes) throw tooLarge(maxBytes);
				chunks.push(read.value);
			}
			clearTimeout(silence);
			silence = setTimeout(() => timedOut?.(), limits.silenceMs);
			read = await Promise.race([reader.read(), expired]);
		}
	} catch (error) {
		void reader.cancel().catch(() => {});
		throw error;
	} finally {
		clearTimeout(total);
		clearTimeout(silence);
	}
	const only = chunks[0];
	return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
}
