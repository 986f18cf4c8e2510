import type { TextModel } from "../catalog/types.ts";
import type { Call } from "../server/call.ts";
import type { ChatForward } from "../upstreams/chat/port.ts";
import type { CheckSchema } from "./chat-deps.ts";
import type { EnforcedFormat } from "./enforced-format.ts";
import type { ChatMeter } from "./meter.ts";
import type { Receipt } from "./sealed/receipts.ts";
import type { ThinkingPlan } from "./thinking.ts";
import type { WebSource } from "./web/index.ts";

/** A chat request after admission and hold: what both kinds of answer need. */
export interface AdmittedChat {
	readonly call: Call;
	readonly model: TextModel;
	readonly meter: ChatMeter;
	readonly forward: ChatForward;
	/** The `service_parameters` echo. */
	readonly echo: Readonly<Record<string, unknown>>;
	/** How think blocks in the text are handled; null: the text is unchanged. */
	readonly thinking: ThinkingPlan | null;
	/** The format that this service enforces, if any. */
	readonly format: EnforcedFormat | null;
	readonly checkSchema: CheckSchema;
	readonly includeUsage: boolean;
	/** The receipt for the answer's signature; null if nobody signs. */
	readonly receipt: Receipt | null;
	/** The echo in the first chunk of a stream; null: none. */
	readonly streamEcho: Readonly<Record<string, unknown>> | null;
	/** The web results; null if nothing was read or searched. */
	readonly web: WebReport | null;
	readonly choices: number;
	/** Output tokens of a choice after which the stream is ended; null without a price or ceiling. */
	readonly maxTokens: number | null;
}

/** What an answer reports of the web results. */
export interface WebReport {
	readonly sources: readonly WebSource[];
	/** True: the answer also lists the sources as a tool call, if its form allows that. */
	readonly asDocuments: boolean;
}

/** Returns the upstream's id where it has OpenAI's prefix, else one of ours. */
export function completionId(upstreamId: unknown, requestId: string): string {
	return typeof upstreamId === "string" && upstreamId.startsWith("chatcmpl-") ? upstreamId : `chatcmpl-${requestId}`;
}
