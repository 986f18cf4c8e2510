import { type AdmittedChat, AssistantOutputReader, type PostedCharge } from "../../completions/index.ts";
import type { WholeAnswer } from "../../upstreams/chat/port.ts";
import { type ResponseObject, statusOf } from "./response-object.ts";

/**
 * Converts a whole chat answer to a response.
 * @throws ApiError INFERENCE_FAILED for one without content
 */
export async function wholeResponse(
	{ call }: AdmittedChat,
	answer: WholeAnswer,
	response: ResponseObject,
): Promise<(charge: PostedCharge) => string> {
	const { segments, finishReason } = await AssistantOutputReader.answer(answer, (number) => `call_${call.requestId}${number}`);
	const status = statusOf(finishReason);
	return (charge) => JSON.stringify(response.make({ status, segments, finishReason, charge }));
}
