import type { JsonBounds } from "../../wire/index.ts";
import type { Fetch } from "../fetch.ts";
import { parsedAnswer } from "../parsed-answer.ts";
import { SecretMask } from "../secret-mask.ts";
import { credentialsIn } from "../secrets-in.ts";
import { initFor } from "../upstream-server.ts";
import type { ProviderRequest, SearchProvider } from "./provider.ts";

/** No page of results is larger. */
const MAX_ANSWER_BYTES = 4 * 2 ** 20;
const RESULT_BOUNDS: JsonBounds = { bytes: MAX_ANSWER_BYTES, keys: 50_000, differentKeys: 10_000, values: 50_000 };

/** A provider's answer with a status other than 2xx. */
export class ProviderStatus extends Error {
	override readonly name = "ProviderStatus";
	readonly status: number;
	readonly retryAfter: string | null;

	constructor(status: number, retryAfter: string | null) {
		super(`it answers ${status}`);
		this.status = status;
		this.retryAfter = retryAfter;
	}
}

/**
 * Sends one request and returns the parsed answer.
 * @throws ProviderStatus; another error if there is no usable answer. Their texts never contain the key.
 */
export async function requestProvider(
	fetch: Fetch,
	{ secret }: SearchProvider,
	{ url, method, headers, body }: ProviderRequest,
	signal: AbortSignal,
): Promise<unknown> {
	let response: Response;
	try {
		response = await fetch(url, {
			method,
			headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
			...initFor(url),
			signal,
		});
	} catch (fault) {
		signal.throwIfAborted();
		throw new Error(withoutKey(String(fault), secret));
	}
	if (response.status < 200 || response.status > 299) {
		await response.body?.cancel();
		throw new ProviderStatus(response.status, response.headers.get("retry-after"));
	}
	const mask = new SecretMask([...(secret === null ? [] : [secret]), ...credentialsIn(url)], []);
	return (await parsedAnswer(await mask.answerBytes(await bytesOf(response)), response.status, RESULT_BOUNDS)).value;
}

async function bytesOf(response: Response): Promise<Uint8Array> {
	const pieces: Uint8Array[] = [];
	let length = 0;
	for await (const piece of response.body ?? []) {
		length += piece.length;
		if (length > MAX_ANSWER_BYTES) throw new Error("its answer is too large");
		pieces.push(piece);
	}
	return Buffer.concat(pieces);
}

const withoutKey = (text: string, secret: string | null): string =>
	secret === null ? text : text.replaceAll(secret, "[key]").replaceAll(encodeURIComponent(secret), "[key]");
