import type { TextModel } from "../catalog/types.ts";
import { isRecord } from "../schema/is-record.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { WholeAnswer } from "../upstreams/chat/port.ts";
import { inTurns, spliceMembers, stringifyInSteps, topLevelMembers, utf8Text } from "../wire/index.ts";
import { type SplitText, splitThinkBlocks, ThinkBlockSplitter } from "./think-blocks.ts";
import { membersOf, wholeBody } from "./whole-body.ts";

/** How the thoughts in a model's text are handled. */
export interface ThinkingPlan {
	/** True: they are sent as reasoning_content; false: they are removed. */
	readonly reportThoughts: boolean;
	/** True if the text begins with a thought: the prompt had the first tag. */
	readonly startsInside: boolean;
}

/**
 * Returns the plan; null: the text is unchanged.
 * @param disabled true if the model was asked not to think
 */
export function thinkingPlan(
	{ thinkBlocks }: Pick<TextModel, "thinkBlocks">,
	{ strip, disabled }: { readonly strip: boolean; readonly disabled: boolean },
): ThinkingPlan | null {
	if (!strip && thinkBlocks === undefined) return null;
	return { reportThoughts: !strip, startsInside: thinkBlocks === "opened" && !disabled };
}

/** Separates or removes the think blocks of a whole answer. */
export async function withThinkingApart(answer: WholeAnswer, plan: ThinkingPlan): Promise<WholeAnswer> {
	const body = await wholeBody(answer);
	if (!Array.isArray(body.choices)) return answer;
	const choices = body.choices.map((choice: unknown) => {
		if (!isRecord(choice) || !isRecord(choice.message) || typeof choice.message.content !== "string") return choice;
		const { content, ...message } = choice.message;
		return { ...choice, message: withSplitText(message, splitThinkBlocks(content as string, plan.startsInside), plan, true) };
	});
	return withChoices(answer, body, choices);
}

/**
 * Returns an answer with other choices.
 * @throws ApiError INFERENCE_FAILED if it nests too deeply to be read
 */
export async function withChoices(
	answer: WholeAnswer,
	body: WholeAnswer["body"],
	choices: readonly unknown[],
): Promise<WholeAnswer> {
	const written = await inTurns(stringifyInSteps(choices));
	const bytes = spliceMembers(answer.bytes, await membersOf(answer), new Map([["choices", written]]));
	return { ...answer, bytes, body: { ...body, choices } };
}

/** Separates or removes the think blocks of a stream, whose tags may be split over any events. */
export class ThinkingStream {
	readonly #plan: ThinkingPlan;
	readonly #splitters = new Map<number, ThinkBlockSplitter>();

	constructor(plan: ThinkingPlan) {
		this.#plan = plan;
	}

	event(event: ChatEvent): ChatEvent {
		const { body } = event;
		if (!Array.isArray(body.choices)) return event;
		const choices = body.choices.map((choice: unknown) => (isRecord(choice) ? this.#choice(choice) : choice));
		const bytes = Buffer.from(event.text);
		const spliced = spliceMembers(bytes, topLevelMembers(bytes), new Map([["choices", JSON.stringify(choices)]]));
		return { text: utf8Text(spliced, 0, spliced.length), body: { ...body, choices }, frame: null, written: "", piece: "" };
	}

	#choice(choice: Record<string, unknown>): Record<string, unknown> {
		const index = typeof choice.index === "number" ? choice.index : 0;
		const { content, ...delta } = isRecord(choice.delta) ? choice.delta : {};
		const splitter = this.#splitters.get(index) ?? new ThinkBlockSplitter(this.#plan.startsInside);
		this.#splitters.set(index, splitter);
		const isLast = choice.finish_reason !== null && choice.finish_reason !== undefined;
		if (typeof content !== "string" && !isLast) return choice;
		const decided = typeof content === "string" ? splitter.push(content) : { content: "", thought: "" };
		const rest = isLast ? splitter.end() : { content: "", thought: "" };
		const split = { content: decided.content + rest.content, thought: decided.thought + rest.thought };
		if (typeof content !== "string" && split.content === "" && split.thought === "") return choice;
		return { ...choice, delta: withSplitText(delta, split, this.#plan, false) };
	}
}

/**
 * Returns the message or delta with the separated text; a thought that the server reported separately precedes ours.
 */
function withSplitText(
	rest: Record<string, unknown>,
	{ content, thought }: SplitText,
	{ reportThoughts }: ThinkingPlan,
	isWhole: boolean,
): Record<string, unknown> {
	if (!reportThoughts || thought === "") return { ...rest, content };
	const reportedThought = typeof rest.reasoning_content === "string" ? rest.reasoning_content : "";
	const split = { ...rest, reasoning_content: reportedThought + thought };
	// A delta with only a thought has no content: clients take an empty text for the beginning of the answer.
	return content === "" && !isWhole ? split : { ...split, content };
}
