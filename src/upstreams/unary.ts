import { isRecord } from "../schema/is-record.ts";
import { concatInSteps, inTurns } from "../wire/index.ts";
import { letGo } from "./connect.ts";
import { broken, failureOfAnswer, isErrorAnswer } from "./failures.ts";
import { parsedAnswer } from "./parsed-answer.ts";
import type { UnaryAnswer } from "./port.ts";
import { usageOf } from "./usage.ts";

/** The runtime joins the pieces of a whole body in one turn: of a larger one they are joined in steps. */
const AT_ONCE_BYTES = 8 * 1_048_576;

/** The whole body, at most `maxBytes`. Throws UpstreamFailure past that, and what the connection throws. */
export async function readWhole(response: Response, maxBytes: number): Promise<Uint8Array> {
	const declared = response.headers.get("content-length");
	const packed = response.headers.get("content-encoding");
	if (declared !== null && Number(declared) > maxBytes) {
		letGo(response.body);
		throw broken(`an answer of ${declared} bytes, more than ${maxBytes}`, response.status);
	}
	const isSmall = declared !== null && Number(declared) <= AT_ONCE_BYTES && (packed === null || packed === "identity");
	if (isSmall) return response.bytes();
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
	return pieces.length === 1 && pieces[0] ? pieces[0] : inTurns(concatInSteps(pieces));
}

/** More choices than a request may ask for. */
const MAX_CHOICES = 8;

/**
 * The body as an answer: a JSON object that is a chat completion and no error. `choices` may be absent for
 * some models (docs/chat.md); then `object` must say what it is. Throws UpstreamFailure for anything else.
 */
export async function checkedCompletion(
	bytes: Uint8Array,
	status: number,
): Promise<Pick<UnaryAnswer, "bytes" | "long" | "body" | "usage">> {
	const { value, json, long } = await parsedAnswer(bytes, status);
	if (isErrorAnswer(value)) throw failureOfAnswer(200, value, null);
	if (!isRecord(value)) throw broken(`status ${status}: the body is no JSON object`, status);
	if (!Array.isArray(value.choices) && value.object !== "chat.completion") {
		throw broken(`status ${status}: the body is no chat completion`, status);
	}
	if (Array.isArray(value.choices) && value.choices.length > MAX_CHOICES)
		throw broken(`status ${status}: ${value.choices.length} choices`, status);
	return { bytes: json, long, body: value, usage: usageOf(value) };
}
