import { ApiError } from "../errors/index.ts";
import { CLIENT_LEFT, CLIENT_LEFT_ANSWER } from "../server/client-left.ts";
import type { MeteredAnswer } from "../server/endpoint.ts";
import { asApiError } from "../server/error-body.ts";
import type { ChatUpstreams, WholeAnswer } from "../upstreams/chat/port.ts";
import { inTurns } from "../wire/index.ts";
import { type AdmittedChat, completionId } from "./admitted-chat.ts";
import type { AnswerForm } from "./answer-form.ts";
import { askInFormat } from "./formatted.ts";
import { ReceivedOutput } from "./received.ts";
import { withThinkingApart } from "./thinking.ts";
import { wholeBody } from "./whole-body.ts";

/** Answers a request without streaming: forwards it, reads the answer in the route's form, posts by usage, answers. */
export async function answerWhole(chat: AdmittedChat, upstreams: ChatUpstreams, form: AnswerForm): Promise<MeteredAnswer> {
	const { call, meter } = chat;
	const output = new ReceivedOutput();
	let answer: WholeAnswer;
	call.suspendIdleTimeout();
	try {
		const { forward, format } = chat;
		answer = await (format === null ? upstreams.whole(forward) : askInFormat(chat, format, forward, upstreams));
	} catch (error) {
		if (!call.signal.aborted || meter.sentTo === null) {
			await meter.postBefore(asApiError(error).status)?.durable;
			throw error;
		}
		await meter.post(output, CLIENT_LEFT);
		return CLIENT_LEFT_ANSWER;
	} finally {
		call.resumeIdleTimeout();
	}
	if (answer.retries > 0) call.headers["x-retry-count"] = String(answer.retries);
	call.headers["x-service-model-router"] = answer.upstream;
	// The answer is read before anything is charged: one that cannot be passed on is a failed request.
	const separated = chat.thinking === null || chat.format !== null ? answer : await withThinkingApart(answer, chat.thinking);
	const bodyOf = await form.whole(chat, separated);
	output.add((answer.usage === null ? await wholeBody(answer) : answer.body).choices);
	meter.usage = answer.usage;
	const posted = await meter.post(output, call.signal.aborted ? CLIENT_LEFT : 200);
	const { usage } = meter;
	if (posted === null || usage === null)
		throw new ApiError("UNKNOWN_ERROR", { cause: new Error("a chat answer was settled twice") });
	const write = bodyOf({ posted, usage });
	const body = typeof write === "string" || separated.long.isEmpty ? write : await inTurns(separated.long.whole(write));
	const { receipt } = chat;
	if (receipt !== null) {
		const { id } = answer.body;
		receipt.setIds(completionId(id, call.requestId), id);
		await receipt.wroteWhole(body);
		receipt.end(answer.upstream);
	}
	return { status: 200, type: "application/json", body };
}
