import type { TimerClock } from "../telemetry/timer-clock.ts";
import type { AttemptTimeout } from "./attempt-timeout.ts";
import { errorBody } from "./error-text.ts";
import { failureOfAnswer, failureOfConnection, ownErrorOf, passedOn, type UpstreamFailure } from "./failures.ts";
import type { Fetch } from "./fetch.ts";
import type { Endpoint, UpstreamNode } from "./node.ts";

const MAX_ERROR_BYTES = 64 * 1024;
/** How long the end of a body may take after the last that is wanted of it. */
const DRAIN_MS = 1_000;

export interface ChatPost {
	readonly endpoint: Endpoint;
	readonly body: Uint8Array;
	readonly requestId: string;
	readonly stream: boolean;
	readonly isText?: boolean;
	/** Beside those that every request of this upstream has. */
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

/** A part (206) was never asked for (RFC 9110, 15.3.7): it is no answer. */
export function isGood({ status }: Response): boolean {
	return status >= 200 && status < 300 && status !== 206;
}

/** What an answer that is not good means: its body is read as far as it tells why, and let go. */
export async function failureOf(response: Response, node: UpstreamNode, key: string | undefined): Promise<UpstreamFailure> {
	const retryAfter = response.headers.get("retry-after");
	const body = errorBody(await readSome(response, MAX_ERROR_BYTES), key);
	const own = node.ejectable ? undefined : ownErrorOf(response.status, body, retryAfter);
	return own ? passedOn(own) : failureOfAnswer(response.status, body, retryAfter);
}

/** The beginning of a body; the rest is not waited for. Never throws. */
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
		// What came so far is all there is to tell.
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

/** Reads what stands between the end of what was said and the end of the body, so that the connection can be used again. */
export async function drainBody(reader: BodyReader, clock: TimerClock): Promise<void> {
	const cancelTimer = clock.after(DRAIN_MS, () => cancelBody(reader));
	try {
		while (!(await reader.read()).done);
	} catch {
		// The answer is whole: how its connection ends is nobody's matter.
	} finally {
		cancelTimer();
	}
}

/** An unread body keeps its connection open until it is collected: it is always cancelled. */
export function cancelBody(body: Cancelable | null | undefined): void {
	body?.cancel().catch(() => {});
}

/** What a throw of fetch or of a body means: our own abort, a failure that is named already, or a broken connection. */
export function asFailure(error: unknown, watch: AttemptTimeout): UpstreamFailure {
	if (watch.failure) return watch.failure;
	return isFailure(error) ? error : failureOfConnection(error);
}

/** Nobody listens there: nothing was sent. */
export function isRefused(error: unknown): boolean {
	const { code } = (error ?? {}) as { readonly code?: unknown };
	return code === "ConnectionRefused" || code === "ECONNREFUSED";
}

function isFailure(error: unknown): error is UpstreamFailure {
	return error instanceof Error && error.name === "UpstreamFailure";
}
