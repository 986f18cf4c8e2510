import { failureOfAnswer, failureOfConnection, given, ownErrorOf, type UpstreamFailure } from "./failures.ts";
import type { Endpoint, UpstreamNode } from "./node.ts";
import type { Watch } from "./watch.ts";

/** The runtime's fetch, or one that stands in for it. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;
/** `timeout: false` turns the runtime's own limit off: ours are exact. */
export type FetchInit = BunFetchRequestInit & { timeout?: false };

const MAX_ERROR_BYTES = 64 * 1024;
const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::|\/|$)/i;

/** Options that every call of this room has: nothing is followed, and a proxy of the environment never sees loopback. */
export function baseInit(url: string): FetchInit {
	return { redirect: "manual", timeout: false, ...(LOOPBACK.test(url) ? { proxy: false as const } : {}) };
}

export function headersFor(node: UpstreamNode, endpoint: Endpoint): Record<string, string> {
	return {
		...(endpoint.key === undefined ? {} : { authorization: `Bearer ${endpoint.key}` }),
		"user-agent": "turnpike",
		...node.headers,
	};
}

export interface ChatPost {
	readonly node: UpstreamNode;
	readonly endpoint: Endpoint;
	readonly body: Uint8Array;
	readonly requestId: string;
	readonly stream: boolean;
}

/**
 * Sends one chat request and waits for its headers. Resolves with a 2xx whose body is unread; throws
 * UpstreamFailure for anything else, its body read as far as it tells why, and let go.
 */
export async function postChat(fetch: Fetch, post: ChatPost, watch: Watch): Promise<Response> {
	const { node, endpoint } = post;
	const url = `${endpoint.url}/chat/completions`;
	const response = await fetch(url, {
		...baseInit(url),
		method: "POST",
		headers: {
			"content-type": "application/json",
			accept: post.stream ? "text/event-stream" : "application/json",
			// Answers are read on their way: packing them costs both sides more than it saves.
			"accept-encoding": "identity",
			...headersFor(node, endpoint),
			"x-request-id": post.requestId,
		},
		body: post.body as Uint8Array<ArrayBuffer>,
		signal: watch.signal,
	});
	watch.touch();
	if (response.status >= 200 && response.status < 300) return response;
	throw await failureOf(response, post);
}

async function failureOf(response: Response, post: ChatPost): Promise<UpstreamFailure> {
	const retryAfter = response.headers.get("retry-after");
	const body = errorBody(await readSome(response, MAX_ERROR_BYTES), post.endpoint.key);
	const own = post.node.ejectable ? undefined : ownErrorOf(response.status, body, retryAfter);
	return own ? given(own) : failureOfAnswer(response.status, body, retryAfter);
}

/** An error text as JSON, else as {message}; a page of HTML says nothing to a caller. Our key never stands in it. */
export function errorBody(bytes: Uint8Array, key: string | undefined): unknown {
	let text = new TextDecoder().decode(bytes).trim();
	if (key) text = text.replaceAll(key, "[key]");
	try {
		return JSON.parse(text);
	} catch {
		return text === "" || text.startsWith("<") ? {} : { message: text };
	}
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
		letGo(reader);
	}
	return Buffer.concat(pieces, Math.min(length, maxBytes));
}

interface Cancelable {
	cancel(): Promise<void>;
}

/** An unread body keeps its connection open until it is collected: it is always cancelled. */
export function letGo(body: Cancelable | null | undefined): void {
	body?.cancel().catch(() => {});
}

/** What a throw of fetch or of a body means: our own abort, a failure that is named already, or a broken connection. */
export function asFailure(error: unknown, watch: Watch): UpstreamFailure {
	if (watch.failure) return watch.failure;
	return isFailure(error) ? error : failureOfConnection(error);
}

function isFailure(error: unknown): error is UpstreamFailure {
	return error instanceof Error && error.name === "UpstreamFailure";
}
