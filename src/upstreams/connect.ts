import type { TimerClock } from "../telemetry/timer-clock.ts";
import type { AttemptTimeout } from "./attempt-timeout.ts";
import { errorBody } from "./error-text.ts";
import { failureOfAnswer, failureOfConnection, failureOfOwnError, ownErrorOf, type UpstreamFailure } from "./failures.ts";
import type { Fetch } from "./fetch.ts";
import type { Endpoint, UpstreamServer } from "./upstream-server.ts";

const MAX_ERROR_BYTES = 64 * 1024;
/** Time limit for the end of a body after its last needed byte. */
const DRAIN_MS = 1_000;

export interface ChatPost {
	readonly endpoint: Endpoint;
	readonly body: Uint8Array;
	readonly requestId: string;
	readonly stream: boolean;
	readonly isText?: boolean;
	/** Headers beside those of every request to this upstream. */
	readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one chat request; resolves at the headers of its answer, whatever they say. */
export function postChat(
	fetch: Fetch,
	{ endpoint, body, requestId, stream, isText, headers }: ChatPost,
	signal: AbortSignal,
): Promise<Response> {
	return fetch(isText === true ? endpoint.textUrl : endpoint.chatUrl, {
		...endpoint.init,
		method: "POST",
		headers: { ...(stream ? endpoint.streamHeaders : endpoint.unaryHeaders), ...headers, "x-request-id": requestId },
		body: body as Uint8Array<ArrayBuffer>,
		signal,
	});
}

/** Returns true for a success; a part (206) is none, since no range was requested (RFC 9110, 15.3.7). */
export function isGood({ status }: Response): boolean {
	return status >= 200 && status < 300 && status !== 206;
}

/** Returns the failure of an unsuccessful answer. Its body is read as far as it explains why, then cancelled. */
export async function failureOf(response: Response, server: UpstreamServer, key: string | undefined): Promise<UpstreamFailure> {
	const retryAfter = response.headers.get("retry-after");
	const body = errorBody(await readSome(response, MAX_ERROR_BYTES), key);
	const own = server.ejectable ? undefined : ownErrorOf(response.status, body, retryAfter);
	return own ? failureOfOwnError(own) : failureOfAnswer(response.status, body, retryAfter);
}

/** Reads the beginning of a body without waiting for the rest. Never throws. */
async function readSome(response: Response, maxBytes: number): Promise<Uint8Array> {
	const pieces: Uint8Array[] = [];
	let length = 0;
	const reader = response.body?.getReader();
	try {
		while (reader && length < maxBytes) {
			const { value, done } = await reader.read();
			if (done) break;
			pieces.push(value);
			length += value.length;
		}
	} catch {
		// The bytes received so far must do.
	} finally {
		cancelBody(reader);
	}
	return Buffer.concat(pieces, Math.min(length, maxBytes));
}

interface Cancelable {
	cancel(): Promise<void>;
}

/** The part of a reader that is used here. */
export interface BodyReader extends Cancelable {
	read(): Promise<{ readonly value?: Uint8Array | undefined; readonly done: boolean }>;
}

/** Reads the rest of a body after its content has ended, so that the connection can be reused. */
export async function drainBody(reader: BodyReader, clock: TimerClock): Promise<void> {
	const cancelTimer = clock.after(DRAIN_MS, () => cancelBody(reader));
	try {
		while (!(await reader.read()).done);
	} catch {
		// The answer is complete, so a fault of the connection does not matter.
	} finally {
		cancelTimer();
	}
}

/** Cancels a body: an unread one keeps its connection open until it is collected. */
export function cancelBody(body: Cancelable | null | undefined): void {
	body?.cancel().catch(() => {});
}

/**
 * Returns the failure behind an error of fetch or of a body: our own abort, a failure that is named already, or a
 * broken connection.
 */
export function asFailure(error: unknown, timeout: AttemptTimeout): UpstreamFailure {
	if (timeout.failure) return timeout.failure;
	return isFailure(error) ? error : failureOfConnection(error);
}

/** Returns true if nobody listens at the address, so that nothing was sent. */
export function isRefused(error: unknown): boolean {
	const { code } = (error ?? {}) as { readonly code?: unknown };
	return code === "ConnectionRefused" || code === "ECONNREFUSED";
}

function isFailure(error: unknown): error is UpstreamFailure {
	return error instanceof Error && error.name === "UpstreamFailure";
}
