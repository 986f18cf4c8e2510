import type { JsonMember } from "../upstreams/port.ts";
import type { ChatBody } from "./schema.ts";

const decoder = new TextDecoder();

export interface EditInputs {
	readonly body: ChatBody;
	readonly raw: Uint8Array;
	readonly members: readonly JsonMember[];
	/** System messages of ours (service prompt, character), in order; they go before the caller's. */
	readonly systemTexts: readonly string[];
	/** Set where the hold lowered the output's maximum. */
	readonly spliceMaxTokens: number | null;
	readonly disableThinking: boolean;
}

/**
 * Other servers' names of an output maximum, and of answers that are made and thrown away: past the one that is
 * held they would be money. Keys that change what the operator pays for the same tokens.
 */
const NOT_THE_CALLERS: ReadonlySet<string> = new Set([
	"best_of",
	"max_gen_len",
	"max_length",
	"max_new_tokens",
	"max_output_tokens",
	"min_new_tokens",
	"min_tokens",
	"n_predict",
	"num_predict",
	"use_beam_search",
	"models",
	"plugins",
	"prediction",
	"provider",
	"route",
	"service_tier",
	"transforms",
	"web_search_options",
]);

/**
 * What changes in the body before the upstream's dialect sees it, as JSON text by top-level member; null takes
 * a member out. The bytes of everything else stay the caller's.
 */
export function bodyEdits(inputs: EditInputs): Map<string, string | null> {
	const { body } = inputs;
	const edits = new Map<string, string | null>();
	for (const { key } of inputs.members) if (NOT_THE_CALLERS.has(key)) edits.set(key, null);
	if (inputs.systemTexts.length > 0) edits.set("messages", messagesWith(inputs));
	if (inputs.spliceMaxTokens !== null) {
		edits.set("max_completion_tokens", String(inputs.spliceMaxTokens));
		edits.set("max_tokens", null);
	} else if (body.max_completion_tokens !== undefined) {
		edits.set(body.max_completion_tokens > 0 ? "max_tokens" : "max_completion_tokens", null);
	}
	if (inputs.disableThinking) {
		edits.set("reasoning", JSON.stringify({ enabled: false }));
		edits.set("reasoning_effort", null);
	} else if (body.reasoning_effort !== undefined && body.reasoning?.effort != null) {
		const { effort: _, ...rest } = body.reasoning;
		edits.set("reasoning", Object.keys(rest).length > 0 ? JSON.stringify(rest) : null);
	}
	if (body.verbosity === undefined && body.text?.verbosity != null) edits.set("verbosity", JSON.stringify(body.text.verbosity));
	if (body.text !== undefined) edits.set("text", null);
	return edits;
}

/** The caller's own maximum: max_completion_tokens before max_tokens; 0 or less is the same as none. */
export function callerMaxTokens(body: ChatBody): number | null {
	const first = body.max_completion_tokens;
	if (first !== undefined && first > 0) return first;
	const second = body.max_tokens;
	return second !== undefined && second > 0 ? second : null;
}

/** The messages' own bytes with our system messages put before them. */
function messagesWith(inputs: EditInputs): string {
	const member = inputs.members.findLast((candidate) => candidate.key === "messages");
	const own = member === undefined ? "[]" : decoder.decode(inputs.raw.subarray(member.valueStart, member.valueEnd));
	const ours = inputs.systemTexts.map((content) => JSON.stringify({ role: "system", content })).join(",");
	return `[${ours},${own.slice(1)}`;
}
