import { ApiError } from "../../errors/index.ts";
import type { MeteredAnswer } from "../../server/endpoint.ts";
import { IDLE_TIMEOUT_SECONDS } from "../../server/idle-timeout.ts";
import { PARSED_WHOLE_BYTES } from "../../upstreams/index.ts";
import type { ChatUpstreams, UnaryAnswer } from "../../upstreams/port.ts";
import { type MemberEdit, spliceMembers, topLevelMembers } from "../../wire/index.ts";
import { costOf, countedUsage, publicUsage } from "./meter.ts";
import { isRecord, ReceivedOutput } from "./received.ts";
import { type ChatSession, completionId } from "./session.ts";
import { withoutThinkBlocks } from "./think-blocks.ts";

/** The status that a post records when the caller had left. */
export const CLIENT_LEFT = 499;

/** Runs a whole answer: forward, post by usage, splice model, id, cost and echo; `choices` go through byte for byte. */
export async function answerUnary(session: ChatSession, upstreams: ChatUpstreams): Promise<MeteredAnswer> {
	const { call, meter } = session;
	const output = new ReceivedOutput();
	let answer: UnaryAnswer;
	call.setIdleTimeout(0);
	try {
		answer = await upstreams.unary(session.forward);
	} catch (error) {
		if (!call.signal.aborted || meter.sentTo === null) throw error;
		await meter.post(output, CLIENT_LEFT);
		return { status: CLIENT_LEFT, type: "text/plain", body: null };
	} finally {
		call.setIdleTimeout(IDLE_TIMEOUT_SECONDS);
	}
	if (answer.retries > 0) call.headers["x-retry-count"] = String(answer.retries);
	call.headers["x-service-model-router"] = answer.upstream;
	// Before anything is charged: an answer that cannot be passed on is a failed request.
	const members = membersOf(answer.bytes);
	const body = session.stripThinking || answer.usage === null ? wholeBody(answer) : answer.body;
	output.add(body.choices);
	meter.usage = answer.usage;
	const posted = await meter.post(output, call.signal.aborted ? CLIENT_LEFT : 200);
	if (posted === null || meter.usage === null)
		throw new ApiError("UNKNOWN_ERROR", { cause: new Error("a chat answer was settled twice") });
	const edits = new Map<string, MemberEdit>([
		["cost", JSON.stringify(costOf(posted))],
		["service_parameters", JSON.stringify(session.echo)],
	]);
	const id = completionId(body.id, call.requestId);
	if (body.id !== id) edits.set("id", JSON.stringify(id));
	if (body.model !== session.model.id) edits.set("model", JSON.stringify(session.model.id));
	if (meter.usage.counted) edits.set("usage", JSON.stringify(countedUsage(meter.usage)));
	else if (isRecord(body.usage) && ("cost" in body.usage || "cost_details" in body.usage))
		edits.set("usage", JSON.stringify(publicUsage(body.usage)));
	if (session.stripThinking) edits.set("choices", JSON.stringify(strippedChoices(body.choices)));
	return { status: 200, type: "application/json", body: spliceMembers(answer.bytes, members, edits) };
}

/** Throws INFERENCE_FAILED for an answer that is no JSON object, or one that nests too deeply to be read. */
function membersOf(bytes: Uint8Array): ReturnType<typeof topLevelMembers> {
	try {
		return topLevelMembers(bytes);
	} catch (cause) {
		throw new ApiError("INFERENCE_FAILED", { cause });
	}
}

/** The parsed answer; of a large one, whose parsed copy has its long strings cut, the whole. */
function wholeBody(answer: UnaryAnswer): Readonly<Record<string, unknown>> {
	if (answer.bytes.length <= PARSED_WHOLE_BYTES) return answer.body;
	return JSON.parse(new TextDecoder().decode(answer.bytes)) as Record<string, unknown>;
}

function strippedChoices(choices: unknown): unknown {
	if (!Array.isArray(choices)) return choices;
	return choices.map((choice: unknown) => {
		if (!isRecord(choice) || !isRecord(choice.message)) return choice;
		const { message } = choice;
		const content = typeof message.content === "string" ? withoutThinkBlocks(message.content) : message.content;
		return { ...choice, message: { ...message, content } };
	});
}
