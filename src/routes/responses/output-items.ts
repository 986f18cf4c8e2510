import { type Segment, sealThought } from "../../completions/index.ts";

/** The id of an output item: the same in every event and in the whole answer. */
export function itemId(segment: Segment, requestId: string): string {
	const prefix = { thought: "rs", text: "msg", refusal: "msg", call: "fc" }[segment.kind];
	return `${prefix}_${requestId}${segment.index}`;
}

/** A segment as an item of `output`; `isNew`: before anything of it was said. */
export function outputItem(segment: Segment, requestId: string, isNew = false): Record<string, unknown> {
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
			return { type: "message", id, status, role: "assistant", content: isNew ? [] : [contentPart(segment)] };
	}
}

export function summaryPart(text: string) {
	return { type: "summary_text", text };
}

/** The one content part of a message; `isNew`: before anything was said. */
export function contentPart(segment: Segment, isNew = false): Record<string, unknown> {
	if (segment.kind === "refusal") return { type: "refusal", refusal: isNew ? "" : segment.text };
	if (isNew) return { type: "output_text", text: "", annotations: [], logprobs: [] };
	return { type: "output_text", text: segment.text, annotations: segment.citations, logprobs: segment.logprobs };
}
