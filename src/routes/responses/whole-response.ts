import { type ChatSession, type Paid, SpeechReader } from "../../completions/index.ts";
import type { UnaryAnswer } from "../../upstreams/port.ts";
import { type ResponseObject, statusOf } from "./response-object.ts";

/** A whole chat answer as a response. Throws INFERENCE_FAILED for one that says nothing at all. */
export async function wholeResponse(
	{ call }: ChatSession,
	answer: UnaryAnswer,
	response: ResponseObject,
): Promise<(paid: Paid) => string> {
	const { segments, finishReason } = await SpeechReader.answer(answer, (number) => `call_${call.requestId}${number}`);
	const status = statusOf(finishReason);
	return (paid) => JSON.stringify(response.make({ status, segments, finishReason, paid }));
}
