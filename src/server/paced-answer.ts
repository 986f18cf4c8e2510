import { directStream } from "./direct-stream.ts";
import type { UploadLimits } from "./read-body.ts";

/** Smaller answers fit into the system's own buffers of a connection at once. */
const LARGE_BYTES = 4 * 1_048_576;
const SLICE_BYTES = 262_144;
/** An answer may take the time of the longest upload for each part of this many bytes. */
const TIMED_BYTES = 16 * 1_048_576;

export interface PacedAnswer {
	readonly body: ReadableStream;
	/** Resolves when the answer was read, or its caller has left or was too slow. */
	readonly ended: Promise<void>;
}

/**
 * Returns a body that sends a large answer only as fast as it is read, so that it counts in its caller's share until
 * then. The runtime takes a whole body at once, and keeps it for as long as the caller likes. A caller that does not
 * read is cut off as a slow upload is. Returns null for an answer that is not large.
 */
export function pacedAnswer(bytes: Uint8Array, signal: AbortSignal, limits: UploadLimits): PacedAnswer | null {
	if (bytes.length < LARGE_BYTES) return null;
	const { promise: ended, resolve: end } = Promise.withResolvers<void>();
	const { promise: callerLeft, resolve: leave } = Promise.withResolvers<void>();
	const onLeft = () => {
		leave();
		end();
	};
	if (signal.aborted) onLeft();
	else signal.addEventListener("abort", onLeft, { once: true });
	const body = directStream(async (sink) => {
		const total = Promise.withResolvers<never>();
		const parts = Math.ceil(bytes.length / TIMED_BYTES);
		const timer = setTimeout(() => total.reject(tooSlow()), limits.totalMs * parts);
		total.promise.catch(() => {});
		try {
			for (let offset = 0; offset < bytes.length && !signal.aborted; offset += SLICE_BYTES) {
				const write = sink.write(bytes.subarray(offset, offset + SLICE_BYTES));
				sink.flush();
				if (typeof write !== "number") await Promise.race([within(write, limits.silenceMs), callerLeft, total.promise]);
			}
			sink.close();
		} catch (error) {
			// This resets the connection, so that a part is not taken for the whole.
			sink.close(error as Error);
		} finally {
			clearTimeout(timer);
			signal.removeEventListener("abort", onLeft);
			end();
		}
	});
	return { body, ended };
}

const tooSlow = () => new Error("the answer was not read in time");

function within(write: Promise<unknown>, limitMs: number): Promise<unknown> {
	const late = Promise.withResolvers<never>();
	const timer = setTimeout(() => late.reject(tooSlow()), limitMs);
	return Promise.race([write, late.promise]).finally(() => clearTimeout(timer));
}
