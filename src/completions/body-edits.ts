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
	/** System messages of ours (service prompt, character), in order; they precede the caller's. */
	readonly systemTexts: readonly string[];
	/** The output maximum, set where the hold lowered it. */
	readonly spliceMaxTokens: number | null;
	readonly disableThinking: boolean;
	/** Index of the first message whose images are sent. */
	readonly imagesFrom: number;
	/** The model's default reasoning effort, if the caller names none. */
	readonly defaultEffort: string | undefined;
	/** True: the prompt describes the format, and its server gets no format option. */
	readonly dropFormat: boolean;
	/** True: the provider searches X. */
	readonly searchesX: boolean;
}

const DROPPED: ReadonlySet<string> = new Set(NOT_THE_CALLERS);

/**
 * Returns the changes to the body before the upstream's dialect applies, as JSON text by top-level member; null removes
 * a member. All other bytes stay the caller's.
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

/** Returns the caller's own maximum: max_completion_tokens before max_tokens; 0 or less counts as none. */
export function callerMaxTokens(body: ChatBody): number | null {
	const first = body.max_completion_tokens;
	if (first !== undefined && first > 0) return first;
	const second = body.max_tokens;
	return second !== undefined && second > 0 ? second : null;
}

/** Returns the messages' own bytes after our system messages, without images that the model does not get. */
function messagesWith(inputs: BodyEditsOptions): string {
	const own = ownMessages(inputs);
	if (inputs.systemTexts.length === 0) return own;
	const systemMessages = inputs.systemTexts.map((content) => JSON.stringify({ role: "system", content })).join(",");
	return `[${systemMessages},${own.slice(1)}`;
}

function ownMessages({ raw, members, imagesFrom }: BodyEditsOptions): string {
	const member = lastMember(members, "messages");
	if (member === undefined) return "[]";
	const range = { start: member.valueStart, end: member.valueEnd };
	if (imagesFrom > 0) return withoutImagesBefore(raw, range, imagesFrom);
	return decoder.decode(raw.subarray(range.start, range.end));
}
