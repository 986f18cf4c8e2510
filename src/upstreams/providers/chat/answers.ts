import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import { cancelBody } from "../../connect.ts";
import { brokenAnswer } from "../../failures.ts";
import { ChunkWriter } from "./chunks.ts";
import type { AnswerHead } from "./completion.ts";
import { packageFailure } from "./package-failure.ts";

const encoder = new TextEncoder();
/** An event without content, which shows that the upstream is alive. */
const ALIVE = encoder.encode(":\n\n");

export interface StreamOptions {
	readonly head: AnswerHead;
	readonly provider: ProviderName;
	readonly parts: ReadableStream<LanguageModelV4StreamPart>;
	/** Called with each part before it is written. */
	readonly onPart: (part: LanguageModelV4StreamPart) => void;
	/** Ends the provider's request when the answer is no longer needed. */
	readonly stop: () => void;
}

/**
 * Returns a package's stream as the answer of an OpenAI-compatible upstream. A failure ends the body with the error of
 * `packageFailure`.
 */
export function streamResponse({ head, provider, parts, onPart, stop }: StreamOptions): Response {
	const writer = new ChunkWriter(head, provider);
	const reader = parts.getReader();
	const end = () => {
		cancelBody(reader);
		stop();
	};
	/** Parts that a package creates before the provider answers are no sign of life. */
	const nextPart = async (): Promise<LanguageModelV4StreamPart> => {
		for (;;) {
			const { value, done } = await reader.read();
			if (done) throw brokenAnswer("the stream was cut: no end");
			onPart(value);
			if (value.type !== "stream-start" && value.type !== "response-metadata") return value;
		}
	};
	const body = new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				try {
					const value = await nextPart();
					if (value.type === "error") throw value.error;
					const events = writer.take(value);
					controller.enqueue(events === "" ? ALIVE : encoder.encode(events));
					if (writer.done) {
						controller.close();
						end();
					}
				} catch (error) {
					end();
					controller.error(packageFailure(error));
				}
			},
			cancel: end,
		},
		{ highWaterMark: 0 },
	);
	return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
