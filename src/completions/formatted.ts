import { ApiError } from "../errors/index.ts";

import { isRecord } from "../schema/is-record.ts";
import type { ChatForward, ChatUpstreams, WholeAnswer } from "../upstreams/chat/port.ts";
import { isFinishReason } from "../upstreams/finish-reason.ts";
import { finishReasonOf } from "../upstreams/index.ts";
import { lastMember, utf8Text } from "../wire/index.ts";
import type { AdmittedChat } from "./admitted-chat.ts";
import { type EnforcedFormat, formatComplaint, jsonIn } from "./enforced-format.ts";
import { ReceivedOutput } from "./received.ts";
import { withChoices, withThinkingApart } from "./thinking.ts";
import { wholeBody } from "./whole-body.ts";

type Message = Readonly<Record<string, unknown>>;

/** An answer with its usage, and its faults against the format. */
interface Read {
	readonly answer: WholeAnswer & { readonly usage: NonNullable<WholeAnswer["usage"]> };
	readonly faults: readonly string[];
	/** The model's text without its thoughts. */
	readonly text: string;
}

/**
 * Returns an answer in the format: the first, or a second, whose request names the faults of the first. Both are
 * charged: the meter records the first as an earlier call. Throws the upstream's failure, or INFERENCE_FAILED if the
 * second misses the format too; the caller posts the earlier call.
 */
export async function askInFormat(
	chat: AdmittedChat,
	format: EnforcedFormat,
	forward: ChatForward,
	upstreams: ChatUpstreams,
): Promise<WholeAnswer> {
	const first = await read(chat, format, await upstreams.whole(forward));
	if (first.faults.length === 0) return first.answer;
	const addedMessages = moreMessages(first);
	chat.meter.add(first.answer.usage, addedMessages);
	const edits = new Map(forward.edits).set("messages", messagesWith(forward, addedMessages));
	const second = await read(chat, format, await upstreams.whole({ ...forward, edits }));
	if (second.faults.length > 0) {
		chat.meter.add(second.answer.usage, "");
		throw new ApiError("INFERENCE_FAILED", {
			message: `The model's answer does not match the response_format, even after a second attempt: ${second.faults.join("; ").slice(0, 500)}`,
			// A retry by the client would cost as much again.
			headers: { "x-should-retry": "false" },
		});
	}
	return { ...second.answer, retries: first.answer.retries + second.answer.retries };
}

async function read(chat: AdmittedChat, { schema }: EnforcedFormat, answer: WholeAnswer): Promise<Read> {
	const body = await wholeBody(answer);
	const usage = await chat.meter.reportedOrCounted(answer.usage, () => {
		const output = new ReceivedOutput();
		output.add(body.choices);
		return output;
	});
	const separated = { ...(chat.thinking === null ? answer : await withThinkingApart(answer, chat.thinking)), usage };
	const choices = separated.body.choices;
	const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
	const message = isRecord(choice) && isRecord(choice.message) ? choice.message : null;
	if (message === null || !isRecord(choice) || isExempt(choice, message)) return { answer: separated, faults: [], text: "" };
	const text = typeof message.content === "string" ? message.content : "";
	const json = jsonIn(text);
	if (json === null) return { answer: separated, faults: ["it is not JSON"], text };
	const faults = schema === null ? objectFaults(json.value) : ((await chat.checkSchema(json.value, schema, chat.call)) ?? []);
	if (faults.length > 0 || json.text === text) return { answer: separated, faults, text };
	const bare = [{ ...choice, message: { ...message, content: json.text } }];
	return { answer: { ...(await withChoices(separated, separated.body, bare)), usage }, faults, text };
}

/**
 * Returns true for tool calls and refusals, which have no format, and for answers cut off at the maximum, which their
 * finish_reason shows.
 */
function isExempt(choice: Message, { tool_calls: calls, refusal }: Message): boolean {
	const { finish_reason: reason } = choice;
	const isCut = isFinishReason(reason) && finishReasonOf(reason) === "length";
	return isCut || (Array.isArray(calls) && calls.length > 0) || typeof refusal === "string";
}

function objectFaults(value: unknown): string[] {
	return isRecord(value) ? [] : ["the whole: must be an object"];
}

/** Returns as JSON what follows the first request's messages: the first answer, and its faults. */
function moreMessages({ text, faults }: Read): string {
	const addedMessages = [
		{ role: "assistant", content: text },
		{ role: "user", content: formatComplaint(faults) },
	];
	return JSON.stringify(addedMessages).slice(1, -1);
}

function messagesWith({ edits, raw, members }: ChatForward, addedMessages: string): string {
	const member = lastMember(members, "messages");
	const originalMessages =
		edits.get("messages") ?? (member === undefined ? "[]" : utf8Text(raw, member.valueStart, member.valueEnd));
	return `${originalMessages.trimEnd().slice(0, -1)},${addedMessages}]`;
}
