import { isRecord } from "../../schema/is-record.ts";
import { concatInSteps, inTurns } from "../../wire/index.ts";
import { cancelBody } from "../connect.ts";
import { brokenAnswer, failureOfAnswer, isErrorAnswer } from "../failures.ts";
import { parsedAnswer } from "../parsed-answer.ts";
import { failureOfChoices } from "./failed-choice.ts";
import { completionOfNative } from "./other-form.ts";
import type { WholeAnswer } from "./port.ts";
import { usageOf } from "./usage.ts";

/** The runtime joins the pieces of a body in one turn; those of a larger one are joined in steps. */
const AT_ONCE_BYTES = 8 * 1_048_576;

/**
 * Reads the whole body, at most `maxBytes`.
 * @throws UpstreamFailure past that, and the errors of the connection
 */
export async function readWhole(response: Response, maxBytes: number): Promise<Uint8Array> {
	const declared = response.headers.get("content-length");
	const packed = response.headers.get("content-encoding");
	if (declared !== null && Number(declared) > maxBytes) {
		cancelBody(response.body);
		throw brokenAnswer(`an answer of ${declared} bytes, more than ${maxBytes}`, response.status);
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
			cancelBody(reader);
			throw brokenAnswer(`an answer of more than ${maxBytes} bytes`, response.status);
		}
		pieces.push(value);
	}
	return pieces.length === 1 && pieces[0] ? pieces[0] : inTurns(concatInSteps(pieces));
}

/**
 * Checks that a body is a chat completion and no error. `choices` may be absent for some models (docs/chat.md); then
 * `object` must name the type.
 * @param mostChoices the requested number of choices
 * @throws UpstreamFailure for anything else
 */
export async function checkedCompletion(
	bytes: Uint8Array,
	status: number,
	mostChoices: number,
): Promise<Pick<WholeAnswer, "bytes" | "long" | "body" | "usage">> {
	const parsed = await parsedAnswer(bytes, status);
	const { long } = parsed;
	if (isErrorAnswer(parsed.value)) throw failureOfAnswer(200, parsed.value, null);
	const value = long.isEmpty ? completionOfNative(parsed.value) : parsed.value;
	const json = value === parsed.value ? parsed.json : Buffer.from(JSON.stringify(value));
	if (!isRecord(value)) throw brokenAnswer(`status ${status}: the body is not a JSON object`, status);
	const { choices } = value;
	if (choices === undefined && value.object === "chat.completion")
		return { bytes: json, long, body: value, usage: usageOf(value) };
	if (!Array.isArray(choices)) throw brokenAnswer(`status ${status}: the body is not a chat completion`, status);
	if (choices.length === 0 || choices.length > mostChoices)
		throw brokenAnswer(`status ${status}: ${choices.length} choices for ${mostChoices}`, status);
	if (!choices.every(isChoice))
		throw brokenAnswer(`status ${status}: a choice that says nothing in a form that is known`, status);
	const failure = failureOfChoices(choices);
	if (failure !== null) throw failure;
	return { bytes: json, long, body: value, usage: usageOf(value) };
}

/** Returns true for a choice with a message, or with a text as `/completions` has it. */
function isChoice(choice: unknown): boolean {
	if (!isRecord(choice)) return false;
	const { message, text } = choice;
	if (message === undefined) return typeof text === "string";
	if (!isRecord(message)) return false;
	const { content, tool_calls: calls } = message;
	return (
		(content == null || typeof content === "string" || isListOfRecords(content)) && (calls == null || isListOfRecords(calls))
	);
}

function isListOfRecords(value: unknown): boolean {
	return Array.isArray(value) && value.every(isRecord);
}
