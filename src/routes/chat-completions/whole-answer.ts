import type { Paid } from "../../completions/answer-form.ts";
import { costOf, countedUsage, publicUsage } from "../../completions/meter.ts";
import { isRecord } from "../../completions/received.ts";
import { type ChatSession, completionId } from "../../completions/session.ts";
import { ApiError } from "../../errors/index.ts";
import type { UnaryAnswer } from "../../upstreams/port.ts";
import { type MemberEdit, spliceMembers, topLevelMembers } from "../../wire/index.ts";

/** An upstream's completion as ours: model, id, cost and echo spliced in; `choices` go through byte for byte. */
export function wholeAnswer(session: ChatSession, answer: UnaryAnswer): (paid: Paid) => Uint8Array {
	const members = membersOf(answer.bytes);
	const { body } = answer;
	return ({ posted, usage }) => {
		const edits = new Map<string, MemberEdit>([
			["cost", JSON.stringify(costOf(posted))],
			["service_parameters", JSON.stringify(session.echo)],
		]);
		const id = completionId(body.id, session.call.requestId);
		if (body.id !== id) edits.set("id", JSON.stringify(id));
		if (body.model !== session.model.id) edits.set("model", JSON.stringify(session.model.id));
		if (usage.counted || session.meter.isSum) edits.set("usage", JSON.stringify(countedUsage(usage)));
		else if (isRecord(body.usage) && ("cost" in body.usage || "cost_details" in body.usage))
			edits.set("usage", JSON.stringify(publicUsage(body.usage)));
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
