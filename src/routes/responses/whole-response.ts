import { type ChatSession, type Paid, SpeechReader, wholeBody } from "../../completions/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { UnaryAnswer } from "../../upstreams/port.ts";
import { type ResponseObject, statusOf } from "./response-object.ts";

/** A whole chat answer as a response. Throws INFERENCE_FAILED for one that says nothing at all. */
export function wholeResponse(session: ChatSession, answer: UnaryAnswer, response: ResponseObject): (paid: Paid) => string {
	const body = wholeBody(answer);
	const { segments, finishReason } = SpeechReader.whole(body, (number) => `call_${session.call.requestId}${number}`);
	if (!Array.isArray(body.choices)) throw new ApiError("INFERENCE_FAILED", { cause: new Error("an answer without choices") });
	const status = statusOf(finishReason);
	return (paid) => JSON.stringify(response.make({ status, segments, finishReason, paid }));
}
