import { AssistantOutputReader, type ChatSession, type PostedCharge } from "../../completions/index.ts";
import type { WholeAnswer } from "../../upstreams/chat/port.ts";
import { type ResponseObject, statusOf } from "./response-object.ts";

/** A whole chat answer as a response. Throws INFERENCE_FAILED for one that says nothing at all. */
export async function wholeResponse(
	{ call }: ChatSession,
	answer: WholeAnswer,
	response: ResponseObject,
): Promise<(paid: PostedCharge) => string> {
	const { segments, finishReason } = await AssistantOutputReader.answer(answer, (number) => `call_${call.requestId}${number}`);
	const status = statusOf(finishReason);
	return (paid) => JSON.stringify(response.make({ status, segments, finishReason, paid }));
}
