import { directStream } from "./direct-stream.ts";
import type { UploadLimits } from "./read-body.ts";

/** What is less the system's own buffers of a connection take at once. */
const LARGE_BYTES = 4 * 1_048_576;
const SLICE_BYTES = 262_144;
/** An answer may take the time of the longest upload for each part of this size. */
const TIMED_BYTES = 16 * 1_048_576;

export interface PacedAnswer {
	readonly body: ReadableStream;
	/** Resolves when it was read, or its caller has left or was too slow. */
	readonly ended: Promise<void>;
}

/**
 * A large answer that goes out as it is read, so that it counts in its caller's share until then: the runtime takes a
 * whole body at once, and keeps it for as long as the caller likes. Who does not read it is cut off as a slow upload is.
 * null for an answer that is not large.
 */
export function pacedAnswer(bytes: Uint8Array, signal: AbortSignal, limits: UploadLimits): PacedAnswer | null {
	if (bytes.length < LARGE_BYTES) return null;
	const { promise: ended, resolve: end } = Promise.withResolvers<void>();
	const { promise: left, resolve: leave } = Promise.withResolvers<void>();
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
			for (let at = 0; at < bytes.length && !signal.aborted; at += SLICE_BYTES) {
				const written = sink.write(bytes.subarray(at, at + SLICE_BYTES));
				sink.flush();
				if (typeof written !== "number") await Promise.race([within(written, limits.silenceMs), left, total.promise]);
			}
			sink.close();
		} catch (error) {
			// The connection is reset: a part is not taken for the whole.
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

function within(written: Promise<unknown>, limitMs: number): Promise<unknown> {
	const late = Promise.withResolvers<never>();
	const timer = setTimeout(() => late.reject(tooSlow()), limitMs);
	return Promise.race([written, late.promise]).finally(() => clearTimeout(timer));
}
