import type { TextModel } from "../catalog/types.ts";
import { isRecord } from "../schema/is-record.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { WholeAnswer } from "../upstreams/chat/port.ts";
import { inTurns, spliceMembers, stringifyInSteps, topLevelMembers, utf8Text } from "../wire/index.ts";
import { type SplitText, splitThinkBlocks, ThinkBlockSplitter } from "./think-blocks.ts";
import { membersOf, wholeBody } from "./whole-body.ts";

/** What becomes of the thoughts that a model writes into its text. */
export interface ThinkingPlan {
	/** True: they come as reasoning_content; false: they go. */
	readonly tell: boolean;
	/** The text begins with a thought: the first tag stood in the prompt. */
	readonly opened: boolean;
}

/** null: the text goes through as it is. `disabled`: the model was asked not to think. */
export function thinkingPlan(
	{ thinkBlocks }: Pick<TextModel, "thinkBlocks">,
	{ strip, disabled }: { readonly strip: boolean; readonly disabled: boolean },
): ThinkingPlan | null {
	if (!strip && thinkBlocks === undefined) return null;
	return { tell: !strip, opened: thinkBlocks === "opened" && !disabled };
}

/** A whole answer with its think blocks told apart, or gone. */
export async function withThinkingApart(answer: WholeAnswer, plan: ThinkingPlan): Promise<WholeAnswer> {
	const body = await wholeBody(answer);
	if (!Array.isArray(body.choices)) return answer;
	const choices = body.choices.map((choice: unknown) => {
		if (!isRecord(choice) || !isRecord(choice.message) || typeof choice.message.content !== "string") return choice;
		const { content, ...message } = choice.message;
		return { ...choice, message: said(message, splitThinkBlocks(content as string, plan.opened), plan, true) };
	});
	return withChoices(answer, body, choices);
}

/** An answer that says something else. Throws INFERENCE_FAILED where it nests too deeply to be read. */
export async function withChoices(
	answer: WholeAnswer,
	body: WholeAnswer["body"],
	choices: readonly unknown[],
): Promise<WholeAnswer> {
	const written = await inTurns(stringifyInSteps(choices));
	const bytes = spliceMembers(answer.bytes, await membersOf(answer), new Map([["choices", written]]));
	return { ...answer, bytes, body: { ...body, choices } };
}

/** The same for the events of a stream, whose tags may be split over any of them. */
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
		const splitter = this.#splitters.get(index) ?? new ThinkBlockSplitter(this.#plan.opened);
		this.#splitters.set(index, splitter);
		const isLast = choice.finish_reason !== null && choice.finish_reason !== undefined;
		if (typeof content !== "string" && !isLast) return choice;
		const now = typeof content === "string" ? splitter.push(content) : { content: "", thought: "" };
		const rest = isLast ? splitter.end() : { content: "", thought: "" };
		const told = { content: now.content + rest.content, thought: now.thought + rest.thought };
		if (typeof content !== "string" && told.content === "" && told.thought === "") return choice;
		return { ...choice, delta: said(delta, told, this.#plan, false) };
	}
}

/** The message or delta with what was said; a thought that the server told apart itself stays before ours. */
function said(
	rest: Record<string, unknown>,
	{ content, thought }: SplitText,
	{ tell }: ThinkingPlan,
	isWhole: boolean,
): Record<string, unknown> {
	if (!tell || thought === "") return { ...rest, content };
	const before = typeof rest.reasoning_content === "string" ? rest.reasoning_content : "";
	const told = { ...rest, reasoning_content: before + thought };
	// A delta that only thinks says nothing: clients take an empty text for the beginning of the answer.
	return content === "" && !isWhole ? told : { ...told, content };
}
