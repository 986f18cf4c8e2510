import type { PostedCharge } from "../../completions/answer-form.ts";
import { type AdmittedChat, costOf, type StreamForm } from "../../completions/index.ts";
import { shownUsage } from "../../completions/meter.ts";
import { membersOf, wholeBody } from "../../completions/whole-body.ts";
import { ApiError } from "../../errors/index.ts";
import { isRecord } from "../../schema/is-record.ts";
import { openAiError } from "../../server/error-body.ts";
import type { ChatEvent } from "../../upstreams/chat/event-frame.ts";
import type { WholeAnswer } from "../../upstreams/chat/port.ts";
import { isFinishReason } from "../../upstreams/finish-reason.ts";
import { finishReasonOf, isOpenAiReason } from "../../upstreams/index.ts";
import { inTurns, type MemberEdit, spliceMembers, stringifyInSteps, topLevelMembers, utf8Text } from "../../wire/index.ts";

const OBJECT = "text_completion";
const DONE = "data: [DONE]\n\n";

type Usage = Readonly<Record<string, unknown>>;

/** Returns the members with which every answer to one request begins. */
function headOf({ call, model }: AdmittedChat) {
	return {
		id: `cmpl-${call.requestId}`,
		object: OBJECT,
		created: Math.floor(call.admittedAtMs / 1000),
		model: model.id,
	};
}

function headEdits(chat: AdmittedChat): Map<string, MemberEdit> {
	return new Map(Object.entries(headOf(chat)).map(([name, value]) => [name, JSON.stringify(value)]));
}

/**
 * Returns an upstream's completion as ours. `choices` with OpenAI's finish reasons stay byte for byte.
 * @throws ApiError INFERENCE_FAILED if it has no texts
 */
export async function textAnswer(chat: AdmittedChat, answer: WholeAnswer): Promise<(charge: PostedCharge) => Uint8Array> {
	const members = await membersOf(answer);
	const { choices, usage: usageMember } = answer.body;
	if (!areTextChoices(choices)) throw new ApiError("INFERENCE_FAILED", { cause: new Error("a completion without texts") });
	const ended = choices.every(endsPlainly) ? null : await inTurns(stringifyInSteps(await endedChoices(answer)));
	return ({ posted, usage }) => {
		const reportedUsage = usage.counted || chat.meter.isSum ? null : isRecord(usageMember) ? usageMember : {};
		const edits = headEdits(chat);
		if (ended !== null) edits.set("choices", ended);
		edits.set("usage", JSON.stringify(shownUsage(reportedUsage, usage)));
		edits.set("cost", JSON.stringify(costOf(posted)));
		return spliceMembers(answer.bytes, members, edits);
	};
}

interface TextChoice {
	readonly text: string;
	readonly finish_reason?: unknown;
}

function isTextChoice(choice: unknown): choice is TextChoice {
	return isRecord(choice) && typeof choice.text === "string";
}

function areTextChoices(choices: unknown): choices is readonly TextChoice[] {
	return Array.isArray(choices) && choices.length > 0 && choices.every(isTextChoice);
}

/** Returns true for a choice that continues, or ends with one of OpenAI's reasons. */
function endsPlainly({ finish_reason: reason }: TextChoice): boolean {
	return !isFinishReason(reason) || isOpenAiReason(reason);
}

function ending(choice: TextChoice): TextChoice {
	const { finish_reason: reason } = choice;
	return isFinishReason(reason) ? { ...choice, finish_reason: finishReasonOf(reason) } : choice;
}

async function endedChoices(answer: WholeAnswer): Promise<readonly TextChoice[]> {
	const { choices } = await wholeBody(answer);
	return (choices as unknown[]).filter(isTextChoice).map(ending);
}

/** Rewrites an upstream's events: the same `choices`, and the usage once at the end. */
export class TextStream implements StreamForm {
	readonly ping = ": ping\n\n";
	readonly #chat: AdmittedChat;

	constructor(chat: AdmittedChat) {
		this.#chat = chat;
	}

	event({ text, body }: ChatEvent): string {
		const { choices } = body;
		if (!areTextChoices(choices)) return "";
		const edits = headEdits(this.#chat);
		if (!choices.every(endsPlainly)) edits.set("choices", JSON.stringify(choices.map(ending)));
		if (body.usage !== undefined) edits.set("usage", null);
		const bytes = Buffer.from(text);
		const spliced = spliceMembers(bytes, topLevelMembers(bytes), edits);
		return `data: ${utf8Text(spliced, 0, spliced.length)}\n\n`;
	}

	cut(): string {
		const ended = (_: unknown, index: number) => ({ index, text: "", logprobs: null, finish_reason: "length" });
		return this.#own({ choices: Array.from({ length: this.#chat.choices }, ended) });
	}

	end({ posted, usage }: PostedCharge, reportedUsage: Usage | null): string {
		if (!this.#chat.includeUsage) return DONE;
		return this.#own({ choices: [], usage: shownUsage(reportedUsage, usage), cost: costOf(posted) }) + DONE;
	}

	failed(error: ApiError): string {
		return `data: ${JSON.stringify({ error: openAiError(error) })}\n\n`;
	}

	#own(members: Record<string, unknown>): string {
		return `data: ${JSON.stringify({ ...headOf(this.#chat), ...members })}\n\n`;
	}
}
