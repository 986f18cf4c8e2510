import type { TextModel } from "../catalog/types.ts";
import type { Call } from "../server/call.ts";
import type { ChatForward } from "../upstreams/port.ts";
import type { CheckSchema } from "./formatted.ts";
import type { KeptFormat } from "./kept-format.ts";
import type { ChatMeter } from "./meter.ts";
import type { ThinkingPlan } from "./thinking.ts";

/** A chat request past admission and hold: what both ways of answering need. */
export interface ChatSession {
	readonly call: Call;
	readonly model: TextModel;
	readonly meter: ChatMeter;
	readonly forward: ChatForward;
	/** The `service_parameters` echo. */
	readonly echo: Readonly<Record<string, unknown>>;
	/** What becomes of think blocks in the text; null: it goes through as it is. */
	readonly thinking: ThinkingPlan | null;
	/** What the answer has to be, where this service sees to it. */
	readonly format: KeptFormat | null;
	readonly checkSchema: CheckSchema;
	readonly includeUsage: boolean;
	/** True: the first chunk of a stream carries the echo. */
	readonly echoInStream: boolean;
	readonly choices: number;
	/** Output tokens a choice may have before the stream guard ends it; null without a price or ceiling. */
	readonly maxTokens: number | null;
}

/** An upstream's id where it has OpenAI's prefix, else one of ours. */
export function completionId(upstreamId: unknown, requestId: string): string {
	return typeof upstreamId === "string" && upstreamId.startsWith("chatcmpl-") ? upstreamId : `chatcmpl-${requestId}`;
}
