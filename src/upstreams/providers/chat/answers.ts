import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import { letGo } from "../../connect.ts";
import { broken } from "../../failures.ts";
import { ChunkWriter } from "./chunks.ts";
import type { AnswerHead } from "./completion.ts";
import { faultOf } from "./faults.ts";

const encoder = new TextEncoder();
/** What an upstream says that says nothing: it is alive. */
const ALIVE = encoder.encode(":\n\n");

export interface StreamInputs {
	readonly head: AnswerHead;
	readonly provider: ProviderName;
	readonly parts: ReadableStream<LanguageModelV4StreamPart>;
	/** Told of each part before it is written. */
	readonly onPart: (part: LanguageModelV4StreamPart) => void;
	/** Ends the provider's request: the answer is not wanted any more. */
	readonly stop: () => void;
}

/** A package's stream as the answer of an OpenAI-compatible upstream. A failure ends its body with what `faultOf` says. */
export function streamResponse({ head, provider, parts, onPart, stop }: StreamInputs): Response {
	const writer = new ChunkWriter(head, provider);
	const reader = parts.getReader();
	const end = () => {
		letGo(reader);
		stop();
	};
	const body = new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				try {
					const { value, done } = await reader.read();
					if (done) throw broken("the stream was cut: no end");
					if (value.type === "error") throw value.error;
					onPart(value);
					const events = writer.take(value);
					controller.enqueue(events === "" ? ALIVE : encoder.encode(events));
					if (writer.done) {
						controller.close();
						end();
					}
				} catch (error) {
					end();
					controller.error(faultOf(error));
				}
			},
			cancel: end,
		},
		{ highWaterMark: 0 },
	);
	return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
