import { ApiError } from "../errors/index.ts";

import { isRecord } from "../schema/is-record.ts";
import { isFinishReason } from "../upstreams/chat/finish-reason.ts";
import type { ChatForward, ChatUpstreams, WholeAnswer } from "../upstreams/chat/port.ts";
import { finishReasonOf } from "../upstreams/index.ts";
import { lastMember, utf8Text } from "../wire/index.ts";
import { type EnforcedFormat, formatComplaint, jsonIn } from "./enforced-format.ts";
import { ReceivedOutput } from "./received.ts";
import type { ChatSession } from "./session.ts";
import { withChoices, withThinkingApart } from "./thinking.ts";
import { wholeBody } from "./whole-body.ts";

type Message = Readonly<Record<string, unknown>>;

/** An answer as it goes on, with its usage, and what it misses of the format. */
interface Read {
	readonly answer: WholeAnswer & { readonly usage: NonNullable<WholeAnswer["usage"]> };
	readonly faults: readonly string[];
	/** What the model said, without its thoughts. */
	readonly said: string;
}

/**
 * An answer that has the format: the first, or the second, which is asked for with what the first one missed. Both
 * are paid for: the meter knows the first as a call before. Throws what the upstream's failure says, and
 * INFERENCE_FAILED where the second misses it too; the caller posts what went before.
 */
export async function askInFormat(
	session: ChatSession,
	format: EnforcedFormat,
	forward: ChatForward,
	upstreams: ChatUpstreams,
): Promise<WholeAnswer> {
	const first = await read(session, format, await upstreams.whole(forward));
	if (first.faults.length === 0) return first.answer;
	const more = moreMessages(first);
	session.meter.add(first.answer.usage, more);
	const edits = new Map(forward.edits).set("messages", messagesWith(forward, more));
	const second = await read(session, format, await upstreams.whole({ ...forward, edits }));
	if (second.faults.length > 0) {
		session.meter.add(second.answer.usage, "");
		throw new ApiError("INFERENCE_FAILED", {
			message: `The model's answer misses the response_format, also when asked again: ${second.faults.join("; ").slice(0, 500)}`,
			// The same once more would cost the same twice more.
			headers: { "x-should-retry": "false" },
		});
	}
	return { ...second.answer, retries: first.answer.retries + second.answer.retries };
}

async function read(session: ChatSession, { schema }: EnforcedFormat, given: WholeAnswer): Promise<Read> {
	const body = await wholeBody(given);
	const usage = await session.meter.reportedOrCounted(given.usage, () => {
		const output = new ReceivedOutput();
		output.add(body.choices);
		return output;
	});
	const told = { ...(session.thinking === null ? given : await withThinkingApart(given, session.thinking)), usage };
	const choices = told.body.choices;
	const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
	const message = isRecord(choice) && isRecord(choice.message) ? choice.message : null;
	if (message === null || !isRecord(choice) || isExempt(choice, message)) return { answer: told, faults: [], said: "" };
	const said = typeof message.content === "string" ? message.content : "";
	const found = jsonIn(said);
	if (found === null) return { answer: told, faults: ["it is no JSON"], said };
	const faults =
		schema === null ? objectFaults(found.value) : ((await session.checkSchema(found.value, schema, session.call)) ?? []);
	if (faults.length > 0 || found.text === said) return { answer: told, faults, said };
	const bare = [{ ...choice, message: { ...message, content: found.text } }];
	return { answer: { ...(await withChoices(told, told.body, bare)), usage }, faults, said };
}

/** Calls of tools and refusals have no format; what its maximum cut off is told by its finish_reason. */
function isExempt(choice: Message, { tool_calls: calls, refusal }: Message): boolean {
	const { finish_reason: reason } = choice;
	const isCut = isFinishReason(reason) && finishReasonOf(reason) === "length";
	return isCut || (Array.isArray(calls) && calls.length > 0) || typeof refusal === "string";
}

function objectFaults(value: unknown): string[] {
	return isRecord(value) ? [] : ["the whole: must be an object"];
}

/** What follows the messages that the first answer was asked with, as JSON: that answer, and what it misses. */
function moreMessages({ said, faults }: Read): string {
	const more = [
		{ role: "assistant", content: said },
		{ role: "user", content: formatComplaint(faults) },
	];
	return JSON.stringify(more).slice(1, -1);
}

function messagesWith({ edits, raw, members }: ChatForward, more: string): string {
	const member = lastMember(members, "messages");
	const asked = edits.get("messages") ?? (member === undefined ? "[]" : utf8Text(raw, member.valueStart, member.valueEnd));
	return `${asked.trimEnd().slice(0, -1)},${more}]`;
}
