import { ApiError } from "../errors/index.ts";
import type { WholeAnswer } from "../upstreams/chat/port.ts";
import { documentStart, inTurns, type JsonMember, objectMembersInSteps, parseInSteps } from "../wire/index.ts";

/** A longer answer goes through as it is, and is not read or changed. */
const MAX_READ_BYTES = 8 * 1_048_576;

/**
 * The parsed answer with all of its strings whole.
 * @throws ApiError INFERENCE_FAILED for one of more than 8 MiB
 */
export async function wholeBody({ bytes, long, body }: WholeAnswer): Promise<Readonly<Record<string, unknown>>> {
	if (long.isEmpty) return body;
	if (long.sizeIn(bytes, 0, bytes.length) > MAX_READ_BYTES)
		throw new ApiError("INFERENCE_FAILED", { cause: new Error("an answer that is too long to be read") });
	const whole = await inTurns(long.whole(bytes));
	return (await inTurns(parseInSteps(whole))) as Record<string, unknown>;
}

/** Throws INFERENCE_FAILED for an answer that is no JSON object, or one that nests too deeply to be read. */
export async function membersOf({ bytes }: Pick<WholeAnswer, "bytes">): Promise<JsonMember[]> {
	try {
		return await inTurns(objectMembersInSteps(bytes, documentStart(bytes)));
	} catch (cause) {
		throw new ApiError("INFERENCE_FAILED", { cause });
	}
}
