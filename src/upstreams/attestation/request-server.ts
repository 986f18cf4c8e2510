import { isRecord } from "../../schema/is-record.ts";
import { AttemptTimeout } from "../attempt-timeout.ts";
import type { AttemptDeps } from "../attempts.ts";
import { readWhole } from "../chat/whole-answer.ts";
import { cancelBody } from "../connect.ts";
import { parsedAnswer } from "../parsed-answer.ts";
import type { UpstreamServer } from "../upstream-server.ts";

/** Reports of several machines with their certificates have a few hundred KB. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const LIMIT_MS = 30_000;

export interface ServerRequest {
	/** The path below the upstream's address. */
	readonly path: string;
	readonly query?: Readonly<Record<string, string>>;
	/** The body of a POST; without it the request is a GET. */
	readonly text?: string;
}

export interface ServerAnswer {
	readonly status: number;
	readonly bytes: Uint8Array;
	/** The parsed JSON object; null if the answer is none. */
	readonly body: Readonly<Record<string, unknown>> | null;
}

/**
 * Sends a request that is no chat to a server, within 30 s. Throws errors of the connection and of the server's start.
 */
export async function requestServer(
	server: UpstreamServer,
	question: ServerRequest,
	deps: AttemptDeps,
	signal: AbortSignal,
): Promise<ServerAnswer> {
	const timeout = new AttemptTimeout(signal, deps.clock);
	timeout.limit(LIMIT_MS, "answer", deps.clock.monotonicMs() + LIMIT_MS);
	try {
		const endpoint = await server.endpoint();
		const query = question.query === undefined ? "" : `?${new URLSearchParams(question.query)}`;
		const response = await deps.fetch(`${endpoint.url}/${question.path}${query}`, {
			...endpoint.init,
			...(question.text === undefined ? {} : { method: "POST", body: question.text }),
			headers: { ...endpoint.probeHeaders, accept: "application/json", "accept-encoding": "identity" },
			signal: timeout.signal,
		});
		if (response.status < 200 || response.status >= 300) {
			cancelBody(response.body);
			return { status: response.status, bytes: new Uint8Array(0), body: null };
		}
		const bytes = await server.mask.answerBytes(await readWhole(response, MAX_ANSWER_BYTES));
		return { status: response.status, bytes, body: await objectOf(bytes, response.status) };
	} finally {
		timeout.close();
	}
}

async function objectOf(bytes: Uint8Array, status: number): Promise<ServerAnswer["body"]> {
	try {
		const { value } = await parsedAnswer(bytes, status);
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}
