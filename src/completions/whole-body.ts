import { PARSED_WHOLE_BYTES } from "../upstreams/index.ts";
import type { UnaryAnswer } from "../upstreams/port.ts";

/** The parsed answer; of a large one, whose parsed copy has its long strings cut, the whole. */
export function wholeBody(answer: UnaryAnswer): Readonly<Record<string, unknown>> {
	if (answer.bytes.length <= PARSED_WHOLE_BYTES) return answer.body;
	return JSON.parse(new TextDecoder().decode(answer.bytes)) as Record<string, unknown>;
}
