import { citedSources, type Segment, sealThought, type WebSource } from "../../completions/index.ts";

/** The id of an output item: the same in every event and in the whole answer. */
export function itemId(segment: Segment, requestId: string): string {
	const prefix = { thought: "rs", text: "msg", refusal: "msg", call: "fc" }[segment.kind];
	return `${prefix}_${requestId}${segment.index}`;
}

/** How much of a segment is told: what is new has said nothing yet; sources are those that its text may cite. */
export interface ItemView {
	readonly isNew?: boolean;
	readonly sources?: readonly WebSource[];
}

/** A segment as an item of `output`. */
export function outputItem(segment: Segment, requestId: string, view: ItemView = {}): Record<string, unknown> {
	const { isNew = false } = view;
	const id = itemId(segment, requestId);
	const status = isNew ? "in_progress" : segment.isWhole ? "completed" : "incomplete";
	switch (segment.kind) {
		case "thought": {
			const summary = isNew || segment.text === "" ? [] : [summaryPart(segment.text)];
			return {
				type: "reasoning",
				id,
				summary,
				encrypted_content: isNew ? null : sealThought(segment.details, segment.signature),
			};
		}
		case "call": {
			const { callId, name, text } = segment;
			return { type: "function_call", id, call_id: callId, name, arguments: isNew ? "" : text, status };
		}
		case "text":
		case "refusal":
			return { type: "message", id, status, role: "assistant", content: isNew ? [] : [contentPart(segment, view)] };
	}
}

export function summaryPart(text: string) {
	return { type: "summary_text", text };
}

/** The one content part of a message. */
export function contentPart(segment: Segment, { isNew = false, sources = [] }: ItemView = {}): Record<string, unknown> {
	if (segment.kind === "refusal") return { type: "refusal", refusal: isNew ? "" : segment.text };
	if (isNew) return { type: "output_text", text: "", annotations: [], logprobs: [] };
	const { text, citations, logprobs } = segment;
	return { type: "output_text", text, annotations: [...citations, ...citedSources(text, sources)], logprobs };
}
