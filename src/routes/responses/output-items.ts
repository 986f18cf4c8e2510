import { citedSources, type Segment, sealThought, type WebSource } from "../../completions/index.ts";
import { type ClientTool, type ClientTools, HOSTED_CALLS } from "../../completions/responses-form/index.ts";
import { isRecord } from "../../schema/is-record.ts";
import { innerJson } from "../../wire/index.ts";

/** Returns the id of an output item: the same in every event and in the whole answer. */
export function itemId(segment: Segment, requestId: string, tools: ClientTools): string {
	return `${idPrefix(segment, tools)}_${requestId}${segment.index}`;
}

function idPrefix(segment: Segment, tools: ClientTools): string {
	if (segment.kind !== "call") return { thought: "rs", text: "msg", refusal: "msg" }[segment.kind];
	const { kind } = tools.toolOf(segment.name);
	return kind === "function" ? "fc" : kind === "custom" ? "ctc" : HOSTED_CALLS[kind].idPrefix;
}

/** The shown parts of a segment. A new one has no content yet. Its text may cite only these sources. */
export interface ItemView {
	readonly isNew?: boolean;
	readonly sources?: readonly WebSource[];
	/** The caller's tools behind the functions that the model calls. */
	readonly tools: ClientTools;
}

/** Returns a segment as an item of `output`. */
export function outputItem(segment: Segment, requestId: string, view: ItemView): Record<string, unknown> {
	const { isNew = false } = view;
	const id = itemId(segment, requestId, view.tools);
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
		case "call":
			return callItem(segment, view.tools.toolOf(segment.name), { id, status, isNew });
		case "text":
		case "refusal":
			return { type: "message", id, status, role: "assistant", content: isNew ? [] : [contentPart(segment, view)] };
	}
}

/** Returns a call as an item of the kind with which its tool was declared. */
function callItem(
	segment: Segment,
	tool: ClientTool,
	{ id, status, isNew }: { readonly id: string; readonly status: string; readonly isNew: boolean },
): Record<string, unknown> {
	const written = isNew ? "" : segment.text;
	const call = { id, call_id: segment.callId, status };
	const name = tool.namespace === undefined ? { name: tool.name } : { name: tool.name, namespace: tool.namespace };
	if (tool.kind === "function") return { type: "function_call", ...call, ...name, arguments: written };
	if (tool.kind === "custom") return { type: "custom_tool_call", ...call, ...name, input: freeInput(written) };
	const { member, beside } = HOSTED_CALLS[tool.kind];
	const execution = tool.kind === "tool_search" ? { execution: "client" } : {};
	const value = recordIn(written);
	// Arguments that are no object are sent beside the call as the model wrote them.
	const broken = written === "" || value !== null ? {} : { arguments: written };
	return { type: `${tool.kind}_call`, ...call, ...execution, [member]: { ...beside, ...value }, ...broken };
}

/** Returns a model's input for a free-form tool: the one text `input`, else everything that the model wrote. */
export function freeInput(written: string): string {
	const input = recordIn(written)?.input;
	return typeof input === "string" ? input : written;
}

/** Longer arguments are sent as the model wrote them. */
const MAX_READ_CHARS = 1_048_576;

function recordIn(json: string): Record<string, unknown> | null {
	if (json.length > MAX_READ_CHARS) return null;
	try {
		const value = innerJson(json);
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}

export function summaryPart(text: string) {
	return { type: "summary_text", text };
}

/** Returns the one content part of a message. */
export function contentPart(
	segment: Segment,
	{ isNew = false, sources = [] }: Omit<ItemView, "tools"> = {},
): Record<string, unknown> {
	if (segment.kind === "refusal") return { type: "refusal", refusal: isNew ? "" : segment.text };
	if (isNew) return { type: "output_text", text: "", annotations: [], logprobs: [] };
	const { text, citations, logprobs } = segment;
	return { type: "output_text", text, annotations: [...citations, ...citedSources(text, sources)], logprobs };
}
