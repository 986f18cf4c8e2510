import type { TextModel } from "../catalog/types.ts";
import type { Call } from "../server/call.ts";
import type { ChatForward } from "../upstreams/chat/port.ts";
import type { CheckSchema } from "./check-schema.ts";
import type { EnforcedFormat } from "./enforced-format.ts";
import type { ChatMeter } from "./meter.ts";
import type { Receipt } from "./sealed/receipts.ts";
import type { ThinkingPlan } from "./thinking.ts";
import type { WebSource } from "./web/index.ts";

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
	readonly format: EnforcedFormat | null;
	readonly checkSchema: CheckSchema;
	readonly includeUsage: boolean;
	/** What is kept of the answer for its signature; null where nobody signs. */
	readonly receipt: Receipt | null;
	/** The echo in the first chunk of a stream; null: it carries none. */
	readonly streamEcho: Readonly<Record<string, unknown>> | null;
	/** What the web gave for it; null where nothing was read or searched. */
	readonly web: SessionWeb | null;
	readonly choices: number;
	/** Output tokens a choice may have before the stream guard ends it; null without a price or ceiling. */
	readonly maxTokens: number | null;
}

/** What an answer tells of the web. */
export interface SessionWeb {
	readonly sources: readonly WebSource[];
	/** True: the answer brings the sources as a call of a tool as well, where its form has a place for that. */
	readonly asDocuments: boolean;
}

/** An upstream's id where it has OpenAI's prefix, else one of ours. */
export function completionId(upstreamId: unknown, requestId: string): string {
	return typeof upstreamId === "string" && upstreamId.startsWith("chatcmpl-") ? upstreamId : `chatcmpl-${requestId}`;
}
