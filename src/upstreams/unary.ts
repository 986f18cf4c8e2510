import { elideLongStrings } from "../wire/index.ts";
import { letGo } from "./connect.ts";
import { broken, failureOfAnswer, isErrorBody } from "./failures.ts";
import type { UnaryAnswer } from "./port.ts";
import { usageOf } from "./usage.ts";

/** Past this, strings are cut out before parsing: parsing 35 MB stops the event loop for 0.3 s. */
export const PARSED_WHOLE_BYTES = 4 * 1024 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The whole body, at most `maxBytes`. Throws UpstreamFailure past that, and what the connection throws. */
export async function readWhole(response: Response, maxBytes: number): Promise<Uint8Array> {
	const declared = response.headers.get("content-length");
	const packed = response.headers.get("content-encoding");
	if (declared !== null && Number(declared) > maxBytes) {
		letGo(response.body);
		throw broken(`an answer of ${declared} bytes, more than ${maxBytes}`, response.status);
	}
	if (declared !== null && (packed === null || packed === "identity")) return response.bytes();
	const reader = response.body?.getReader();
	const pieces: Uint8Array[] = [];
	let length = 0;
	while (reader) {
		const { value, done } = await reader.read();
		if (done) break;
		length += value.length;
		if (length > maxBytes) {
			letGo(reader);
			throw broken(`an answer of more than ${maxBytes} bytes`, response.status);
		}
		pieces.push(value);
	}
	return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, length);
}

/**
 * The body as an answer: a JSON object that is a chat completion and no error. `choices` may be absent for
 * some models (docs/chat.md); then `object` must say what it is. Throws UpstreamFailure for anything else.
 */
export function checkedCompletion(bytes: Uint8Array, status: number): Pick<UnaryAnswer, "bytes" | "body" | "usage"> {
	let parsed: unknown;
	try {
		const json = bytes.length > PARSED_WHOLE_BYTES ? elideLongStrings(bytes).json : bytes;
		parsed = JSON.parse(decoder.decode(json));
	} catch {
		throw broken(`status ${status}: the body is no JSON`, status);
	}
	if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
		throw broken(`status ${status}: the body is no JSON object`, status);
	}
	const body = parsed as Readonly<Record<string, unknown>>;
	if (isErrorBody(body)) throw failureOfAnswer(200, body, null);
	if (!Array.isArray(body.choices) && body.object !== "chat.completion") {
		throw broken(`status ${status}: the body is no chat completion`, status);
	}
	return { bytes, body, usage: usageOf(body) };
}
