import type { Paid } from "../../completions/answer-form.ts";
import { costOf, countedUsage, publicUsage } from "../../completions/meter.ts";
import { isRecord } from "../../completions/received.ts";
import { type ChatSession, completionId } from "../../completions/session.ts";
import { withoutThinkBlocks } from "../../completions/think-blocks.ts";
import { wholeBody } from "../../completions/unary.ts";
import { ApiError } from "../../errors/index.ts";
import type { UnaryAnswer } from "../../upstreams/port.ts";
import { type MemberEdit, spliceMembers, topLevelMembers } from "../../wire/index.ts";

/** An upstream's completion as ours: model, id, cost and echo spliced in; `choices` go through byte for byte. */
export function wholeAnswer(session: ChatSession, answer: UnaryAnswer): (paid: Paid) => Uint8Array {
	const members = membersOf(answer.bytes);
	const body = session.stripThinking ? wholeBody(answer) : answer.body;
	return ({ posted, usage }) => {
		const edits = new Map<string, MemberEdit>([
			["cost", JSON.stringify(costOf(posted))],
			["service_parameters", JSON.stringify(session.echo)],
		]);
		const id = completionId(body.id, session.call.requestId);
		if (body.id !== id) edits.set("id", JSON.stringify(id));
		if (body.model !== session.model.id) edits.set("model", JSON.stringify(session.model.id));
		if (usage.counted) edits.set("usage", JSON.stringify(countedUsage(usage)));
		else if (isRecord(body.usage) && ("cost" in body.usage || "cost_details" in body.usage))
			edits.set("usage", JSON.stringify(publicUsage(body.usage)));
		if (session.stripThinking) edits.set("choices", JSON.stringify(strippedChoices(body.choices)));
		return spliceMembers(answer.bytes, members, edits);
	};
}

/** Throws INFERENCE_FAILED for an answer that is no JSON object, or one that nests too deeply to be read. */
function membersOf(bytes: Uint8Array): ReturnType<typeof topLevelMembers> {
	try {
		return topLevelMembers(bytes);
	} catch (cause) {
		throw new ApiError("INFERENCE_FAILED", { cause });
	}
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
