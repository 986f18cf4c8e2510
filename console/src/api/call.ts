import type { Session } from "../../../src/routes/console/types.ts";
import { connection } from "./connection.ts";
import { Refused, refusedBy, Unreachable } from "./refused.ts";
import { session } from "./session.ts";

const BASE = "/console/api";

export interface CallOptions {
	readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
	/** Sent as JSON, unless it is a form. */
	readonly body?: unknown;
	readonly idempotencyKey?: string;
	readonly signal?: AbortSignal;
}

/**
 * Calls the console's API (docs/console-api.md). Throws `Refused` for an error answer and `Unreachable` for none. A 401 ends
 * the session: the sign-in page opens, and leads back.
 */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
	const answer = await request(path, options);
	if (!answer.ok) {
		const refused = await refusedBy(answer);
		if (refused.status === 401 && path !== "/session") session.ended();
		throw refused;
	}
	// The types are the server's own, and both are built together.
	return (await answer.json()) as T;
}

/** Makes the same call and returns the answer itself: for streams, files and headers. Throws if none comes. */
export async function request(path: string, options: CallOptions = {}): Promise<Response> {
	const answer = await send(path, options);
	// After a new sign-in in another tab the token is outdated and the refused call changed nothing, so it is sent once more.
	const refused = answer.status === 403 && (options.method ?? "GET") !== "GET";
	return refused && (await tokenIsNew()) ? send(path, options) : answer;
}

async function tokenIsNew(): Promise<boolean> {
	const before = session.csrfToken();
	const answer = await send("/session", {});
	if (!answer.ok) return false;
	session.began((await answer.json()) as Session);
	return session.csrfToken() !== before;
}

async function send(path: string, options: CallOptions): Promise<Response> {
	const { method = "GET", body, idempotencyKey, signal } = options;
	const headers = new Headers();
	if (method !== "GET") headers.set("x-csrf-token", session.csrfToken() ?? "");
	if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
	const isForm = body instanceof FormData;
	if (body !== undefined && !isForm) headers.set("content-type", "application/json");
	try {
		const answer = await fetch(BASE + path, {
			method,
			headers,
			...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
			...(signal === undefined ? {} : { signal }),
		});
		connection.answered();
		return answer;
	} catch (cause) {
		if (signal?.aborted) throw cause;
		connection.lost();
		throw new Unreachable(cause);
	}
}

/** Returns `?a=1&b=2` of the defined values; "" if there is none. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(values)) if (value !== undefined && value !== "") query.set(name, String(value));
	const text = query.toString();
	return text === "" ? "" : `?${text}`;
}

/** Returns an error's message for the reader. */
export function faultText(fault: unknown): string {
	if (fault instanceof Refused || fault instanceof Unreachable) return fault.message;
	return fault instanceof Error ? fault.message : "Something went wrong";
}
