import { ApiError } from "../errors/index.ts";
import type { WholeAnswer } from "../upstreams/chat/port.ts";
import { documentStart, inTurns, type JsonMember, objectMembersInSteps, parseInSteps } from "../wire/index.ts";

/** A longer answer is passed on unchanged, without reading it. */
const MAX_READ_BYTES = 8 * 1_048_576;

/**
 * Returns the parsed answer with all of its strings whole.
 * @throws ApiError INFERENCE_FAILED for one of more than 8 MiB
 */
export async function wholeBody({ bytes, long, body }: WholeAnswer): Promise<Readonly<Record<string, unknown>>> {
	if (long.isEmpty) return body;
	if (long.sizeIn(bytes, 0, bytes.length) > MAX_READ_BYTES)
		throw new ApiError("INFERENCE_FAILED", { cause: new Error("an answer that is too long to be read") });
	const text = await inTurns(long.whole(bytes));
	return (await inTurns(parseInSteps(text))) as Record<string, unknown>;
}

/**
 * Returns the members of an answer.
 * @throws ApiError INFERENCE_FAILED if it is no JSON object, or nests too deeply to be read
 */
export async function membersOf({ bytes }: Pick<WholeAnswer, "bytes">): Promise<JsonMember[]> {
	try {
		return await inTurns(objectMembersInSteps(bytes, documentStart(bytes)));
	} catch (cause) {
		throw new ApiError("INFERENCE_FAILED", { cause });
	}
}
