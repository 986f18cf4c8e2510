import { type AdmittedChat, completionId } from "../../completions/admitted-chat.ts";
import type { PostedCharge } from "../../completions/answer-form.ts";
import { agrees, costOf, shownUsage } from "../../completions/meter.ts";
import { membersOf, wholeBody } from "../../completions/whole-body.ts";
import { isRecord } from "../../schema/is-record.ts";
import type { WholeAnswer } from "../../upstreams/chat/port.ts";
import { inTurns, type MemberEdit, spliceMembers, stringifyInSteps } from "../../wire/index.ts";
import { wholeChoices } from "./odd-choices.ts";
import { documentsCall } from "./search-documents.ts";

const OBJECT = "chat.completion";

/**
 * Returns an upstream's completion as ours: model, id, cost and echo are spliced in. Complete `choices` stay byte for
 * byte, unless `convertChoice` converts them.
 */
export async function wholeAnswer(
	chat: AdmittedChat,
	answer: WholeAnswer,
	convertChoice: ((choice: unknown) => unknown) | null = null,
): Promise<(charge: PostedCharge) => Uint8Array> {
	const members = await membersOf(answer);
	const { body } = answer;
	const documents = documentsCall(chat);
	const isOdd = Array.isArray(body.choices) && wholeChoices(body.choices, chat.call.requestId) !== null;
	const isUnchanged = documents === null && !isOdd && convertChoice === null;
	const choices = isUnchanged ? null : await choicesText(chat, answer, convertChoice);
	return ({ posted, usage }) => {
		const edits = new Map<string, MemberEdit>([
			["cost", JSON.stringify(costOf(posted))],
			["service_parameters", JSON.stringify(chat.echo)],
		]);
		const id = completionId(body.id, chat.call.requestId);
		if (body.id !== id) edits.set("id", JSON.stringify(id));
		if (body.model !== chat.model.id) edits.set("model", JSON.stringify(chat.model.id));
		if (body.object !== OBJECT) edits.set("object", JSON.stringify(OBJECT));
		if (typeof body.created !== "number") edits.set("created", String(Math.floor(chat.call.admittedAtMs / 1000)));
		const reportedUsage = usage.counted || chat.meter.isSum ? null : isRecord(body.usage) ? body.usage : {};
		if (reportedUsage === null || !isPlain(reportedUsage, usage))
			edits.set("usage", JSON.stringify(shownUsage(reportedUsage, usage)));
		if (choices !== null) edits.set("choices", choices);
		return spliceMembers(answer.bytes, members, edits);
	};
}

/** Returns the choices, completed, and with the web results. */
async function choicesText(
	chat: AdmittedChat,
	answer: WholeAnswer,
	convertChoice: ((choice: unknown) => unknown) | null,
): Promise<string> {
	const { choices } = await wholeBody(answer);
	const whole = Array.isArray(choices) ? (wholeChoices(choices, chat.call.requestId) ?? (choices as unknown[])) : choices;
	const converted = Array.isArray(whole) && convertChoice !== null ? whole.map(convertChoice) : whole;
	const documents = documentsCall(chat);
	return inTurns(stringifyInSteps(documents === null ? converted : withCall(converted, documents)));
}

/** Adds a tool call to the message of each choice. */
function withCall(choices: unknown, call: object): unknown {
	if (!Array.isArray(choices)) return choices;
	return choices.map((choice: unknown) => {
		if (!isRecord(choice) || !isRecord(choice.message)) return choice;
		const calls: unknown = choice.message.tool_calls;
		return { ...choice, message: { ...choice.message, tool_calls: [...(Array.isArray(calls) ? calls : []), call] } };
	});
}

/** Returns true if the upstream's usage is sent byte for byte. */
function isPlain(reportedUsage: Readonly<Record<string, unknown>>, usage: PostedCharge["usage"]): boolean {
	return !("cost" in reportedUsage || "cost_details" in reportedUsage) && agrees(reportedUsage, usage);
}
