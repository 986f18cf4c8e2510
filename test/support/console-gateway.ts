/** Signed-in sessions of the console on a running gateway, as its pages hold them. */
import type { Session } from "../../src/routes/console/types.ts";

export interface ConsoleClient {
	readonly session: Session;
	/** `name=value` of the session's cookie. */
	readonly cookie: string;
	/** A request below /console/api with the cookie, and the token where it changes something; an object becomes JSON. */
	ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
	/** The body of a GET; throws where it is refused. */
	get<T>(path: string): Promise<T>;
	/** The body of a change; throws where it is refused. */
	change<T>(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<T>;
}

/** POST /session with a key. */
export function signInWith(url: string, key: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
	return fetch(`${url}/console/api/session`, {
		method: "POST",
		headers: { "content-type": "application/json", ...headers },
		body: JSON.stringify({ key }),
	});
}

/** Signs in; throws where it is refused. */
export async function signIn(url: string, key: string): Promise<ConsoleClient> {
	const answer = await signInWith(url, key);
	if (answer.status !== 200) throw new Error(`the sign-in was refused: ${answer.status} ${await answer.text()}`);
	const cookie = cookieIn(answer);
	return clientOf(url, cookie, (await answer.json()) as Session);
}

/** The same session at another address. */
export function clientOf(url: string, cookie: string, session: Session): ConsoleClient {
	const ask: ConsoleClient["ask"] = (method, path, body, headers = {}) =>
		fetch(`${url}/console/api${path}`, {
			method,
			headers: {
				cookie,
				...(method === "GET" || method === "HEAD" ? {} : { "x-csrf-token": session.csrfToken }),
				...(body === undefined || body instanceof FormData ? {} : { "content-type": "application/json" }),
				...headers,
			},
			...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
		});
	const taken = async <T>(answer: Response): Promise<T> => {
		if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
		return (await answer.json()) as T;
	};
	return {
		session,
		cookie,
		ask,
		get: async (path) => taken(await ask("GET", path)),
		change: async (method, path, body, headers) => taken(await ask(method, path, body, headers)),
	};
}

/** `name=value` of the cookie that an answer sets. */
export function cookieIn(answer: Response): string {
	return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}
