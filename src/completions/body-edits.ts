import type { JsonMember } from "../upstreams/chat/port.ts";
import { lastMember } from "../wire/index.ts";
import { NOT_THE_CALLERS } from "./forwarded-members.ts";
import { withoutImagesBefore } from "./image-messages.ts";
import type { ChatBody } from "./schema.ts";

const decoder = new TextDecoder();

export interface BodyEditsOptions {
	readonly body: ChatBody;
	readonly raw: Uint8Array;
	readonly members: readonly JsonMember[];
	/** System messages of ours (service prompt, character), in order; they go before the caller's. */
	readonly systemTexts: readonly string[];
	/** Set where the hold lowered the output's maximum. */
	readonly spliceMaxTokens: number | null;
	readonly disableThinking: boolean;
	/** Images of earlier messages are left out. */
	readonly imagesFrom: number;
	/** What the model's entry says it thinks with where nobody names an effort. */
	readonly defaultEffort: string | undefined;
	/** True: the model is told the format in words, and its server nothing. */
	readonly dropFormat: boolean;
	/** True: the provider searches X. */
	readonly searchesX: boolean;
}

const DROPPED: ReadonlySet<string> = new Set(NOT_THE_CALLERS);

/**
 * What changes in the body before the upstream's dialect sees it, as JSON text by top-level member; null takes
 * a member out. The bytes of everything else stay the caller's.
 */
export function bodyEdits(inputs: BodyEditsOptions): Map<string, string | null> {
	const { body } = inputs;
	const edits = new Map<string, string | null>();
	for (const { key } of inputs.members) if (DROPPED.has(key)) edits.set(key, null);
	if (inputs.systemTexts.length > 0 || inputs.imagesFrom > 0) edits.set("messages", messagesWith(inputs));
	if (inputs.searchesX) edits.set("x_search", "true");
	if (inputs.dropFormat) edits.set("response_format", null);
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
	} else if (body.reasoning_effort === undefined && body.reasoning?.effort == null && inputs.defaultEffort !== undefined) {
		edits.set("reasoning_effort", JSON.stringify(inputs.defaultEffort));
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

/** The messages' own bytes with our system messages put before them, without images that the model does not get. */
function messagesWith(inputs: BodyEditsOptions): string {
	const own = ownMessages(inputs);
	if (inputs.systemTexts.length === 0) return own;
	const ours = inputs.systemTexts.map((content) => JSON.stringify({ role: "system", content })).join(",");
	return `[${ours},${own.slice(1)}`;
}

function ownMessages({ raw, members, imagesFrom }: BodyEditsOptions): string {
	const member = lastMember(members, "messages");
	if (member === undefined) return "[]";
	const range = { start: member.valueStart, end: member.valueEnd };
	if (imagesFrom > 0) return withoutImagesBefore(raw, range, imagesFrom);
	return decoder.decode(raw.subarray(range.start, range.end));
}
