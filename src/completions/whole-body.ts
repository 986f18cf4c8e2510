import { ApiError } from "../errors/index.ts";
import { PARSED_WHOLE_BYTES } from "../upstreams/index.ts";
import type { UnaryAnswer } from "../upstreams/port.ts";
import { type JsonMember, topLevelMembers } from "../wire/index.ts";

/** The parsed answer; of a large one, whose parsed copy has its long strings cut, the whole. */
export function wholeBody(answer: UnaryAnswer): Readonly<Record<string, unknown>> {
	if (answer.bytes.length <= PARSED_WHOLE_BYTES) return answer.body;
	return JSON.parse(new TextDecoder().decode(answer.bytes)) as Record<string, unknown>;
}

/** Throws INFERENCE_FAILED for an answer that is no JSON object, or one that nests too deeply to be read. */
export function membersOf({ bytes }: Pick<UnaryAnswer, "bytes">): JsonMember[] {
	try {
		return topLevelMembers(bytes);
	} catch (cause) {
		throw new ApiError("INFERENCE_FAILED", { cause });
	}
}
