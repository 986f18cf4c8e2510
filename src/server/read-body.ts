import { ApiError } from "../errors/index.ts";
import { PartyCapacity } from "../fairness/index.ts";
import { Deadlines } from "../telemetry/deadlines.ts";
import type { Connection } from "./connection.ts";

export interface UploadLimits {
	/** An upload that pauses for this long ends with 408. */
	readonly silenceMs: number;
	/** The maximum duration of an upload. */
	readonly totalMs: number;
}

/** Bodies up to this size are not counted, since there are never many of them in memory. */
const UNCOUNTED_BYTES = 65_536;

/** Counts the bodies in memory against a limit for the whole process, of which each tenant has a share. */
export class BodyMemory {
	readonly #bytes: PartyCapacity;

	constructor(limit: number) {
		this.#bytes = new PartyCapacity(limit);
	}

	/** Bytes of all bodies counted now. */
	get used(): number {
		return this.#bytes.used;
	}

	get limit(): number {
		return this.#bytes.limit;
	}

	/** Creates the share of one request of the tenant, with no bytes yet. */
	share(tenant: string): BodyShare {
		return new BodyShare(this.#bytes, tenant);
	}
}

function noMemory(reason: "full" | "share"): ApiError {
	const headers = { connection: "close" };
	if (reason === "full")
		return new ApiError("SERVICE_UNAVAILABLE", {
			message: "Too many large uploads at once; try again shortly",
			retryAfterSeconds: 1,
			headers,
		});
	return new ApiError("RATE_LIMIT_EXCEEDED", {
		message: "Your large requests under way have as many bytes as one caller may have now; wait until one has ended",
		retryAfterSeconds: 1,
		headers,
	});
}

/** The memory that one request's body takes. It grows as bytes arrive, and ends with the request. */
export class BodyShare {
	readonly #memory: PartyCapacity;
	readonly #tenant: string;
	#bytes = 0;

	constructor(memory: PartyCapacity, tenant: string) {
		this.#memory = memory;
		this.#tenant = tenant;
	}

	/**
	 * Raises the share to this many bytes.
	 * @throws ApiError SERVICE_UNAVAILABLE if the process's limit is reached, RATE_LIMIT_EXCEEDED if the tenant's
	 * share is
	 */
	growTo(bytes: number): void {
		if (bytes <= UNCOUNTED_BYTES || bytes <= this.#bytes) return;
		const outcome = this.#memory.take(this.#tenant, bytes - this.#bytes, this.#bytes);
		if (outcome !== "taken") throw noMemory(outcome);
		this.#bytes = bytes;
	}

	release(): void {
		this.#memory.giveBack(this.#tenant, this.#bytes);
		this.#bytes = 0;
	}
}

function framingFault(message: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message, headers: { connection: "close" } });
}

/** Returns the 413 for a body over its route's limit. */
export function tooLarge(maxBytes: number): ApiError {
	return new ApiError("PAYLOAD_TOO_LARGE", {
		message: `The request body is over this route's limit of ${maxBytes} bytes`,
		headers: { connection: "close" },
	});
}

/**
 * Returns the declared length; undefined for a chunked body.
 * @throws ApiError 413 before a byte is read; 400 for a repeated length (RFC 9110 8.6), and for trailers, which the
 * runtime refuses after the body
 */
function declaredLength(request: Request, maxBytes: number): number | undefined {
	const text = request.headers.get("content-length");
	if (text === null && request.headers.has("trailer")) throw framingFault("Trailers are not read; send them as headers");
	if (text === null) return undefined;
	const length = Number(text);
	if (!Number.isSafeInteger(length)) throw framingFault("Content-Length is sent twice; send it once");
	if (length > maxBytes) throw tooLarge(maxBytes);
	return length;
}

const uploads = new Deadlines(1_000);

/** The runtime reads bodies up to this size in one go; they have `silenceMs` in all. */
const SMALL_BYTES = 16_384;

/**
 * Reads a whole request body.
 * @throws ApiError PAYLOAD_TOO_LARGE past `maxBytes`; REQUEST_TIMEOUT (408) after `silenceMs` without a byte (a small
 * body: in all) or after `totalMs`; SERVICE_UNAVAILABLE if all bodies together exceed their limit
 */
export async function readBody(
	request: Request,
	maxBytes: number,
	limits: UploadLimits,
	connection: Pick<Connection, "suspendIdleTimeout" | "resumeIdleTimeout">,
	share: BodyShare,
): Promise<Uint8Array> {
	const length = declaredLength(request, maxBytes);
	if (length === 0) return new Uint8Array(0);
	if (length !== undefined && length <= SMALL_BYTES) return readSmall(request, limits);
	const stream = request.body;
	if (stream === null) return new Uint8Array(0);
	// The runtime does not count slow uploads as activity; its own time-out must not end them before ours.
	connection.suspendIdleTimeout();
	try {
		return await readLarge(stream.getReader(), maxBytes, limits, share, length);
	} finally {
		connection.resumeIdleTimeout();
	}
}

function tooSlow({ silenceMs, totalMs }: UploadLimits): ApiError {
	const seconds = (ms: number) => `${ms / 1_000} s`;
	return new ApiError("REQUEST_TIMEOUT_UPLOAD", {
		message: `The request body came too slowly; send it within ${seconds(totalMs)} and without pauses over ${seconds(silenceMs)}`,
		headers: { connection: "close" },
	});
}

/** Reads a small body. It has usually arrived already, so its time-out needs only a check once a second. */
function readSmall(request: Request, limits: UploadLimits): Promise<Uint8Array> {
	return new Promise((resolve, reject) => {
		const deadline = uploads.add(limits.silenceMs, () => reject(tooSlow(limits)));
		request.bytes().then(
			(bytes) => {
				uploads.remove(deadline);
				resolve(bytes);
			},
			(error: unknown) => {
				uploads.remove(deadline);
				reject(error);
			},
		);
	});
}

interface BodyReader {
	read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
	cancel(): Promise<void>;
}

/**
 * Reads a large body. With a declared `length`, bytes are written to their final place, so the body is in memory once.
 */
async function readLarge(
	reader: BodyReader,
	maxBytes: number,
	limits: UploadLimits,
	share: BodyShare,
	length: number | undefined,
): Promise<Uint8Array> {
	const chunks: Uint8Array[] = [];
	let buffer: Uint8Array | null = null;
	let size = 0;
	let timedOut: (() => void) | undefined;
	const expired = new Promise<never>((_, reject) => {
		timedOut = () => reject(tooSlow(limits));
	});
	expired.catch(() => {});
	const total = setTimeout(() => timedOut?.(), limits.totalMs);
	let silence = setTimeout(() => timedOut?.(), limits.silenceMs);
	try {
		let result = await Promise.race([reader.read(), expired]);
		while (!result.done) {
			const { value } = result;
			if (value !== undefined) {
				const end = size + value.byteLength;
				if (end > maxBytes) throw tooLarge(maxBytes);
				share.growTo(end);
				if (length === undefined || value.byteLength === length) chunks.push(value);
				else {
					buffer ??= new Uint8Array(length);
					buffer.set(value, size);
				}
				size = end;
			}
			clearTimeout(silence);
			silence = setTimeout(() => timedOut?.(), limits.silenceMs);
			result = await Promise.race([reader.read(), expired]);
		}
	} catch (error) {
		void reader.cancel().catch(() => {});
		throw error;
	} finally {
		clearTimeout(total);
		clearTimeout(silence);
	}
	if (buffer !== null) return buffer.subarray(0, size);
	const only = chunks[0];
	return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
}
