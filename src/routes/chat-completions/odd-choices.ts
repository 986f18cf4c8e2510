/**
 * Completes choices that lack what OpenAI's reference promises, or have it in another type. Clients fail at a stream
 * without a role, a call without a type or an id, a text in parts. A complete choice stays unchanged.
 */
import { outputTexts } from "../../completions/output-texts.ts";
import { isRecord } from "../../schema/is-record.ts";
import type { EventFrame } from "../../upstreams/chat/port.ts";
import { isFinishReason } from "../../upstreams/finish-reason.ts";
import { argumentsText, CallIdentity, finishReasonOf, isOpenAiReason, isWholeObject } from "../../upstreams/index.ts";

type Fields = Readonly<Record<string, unknown>>;

/** `isWholeObject` treats longer arguments as incomplete, so no more of them is held. */
const MAX_KEPT_CHARS = 262_144;

/** More calls than any answer has. Further calls are sent unchanged, which bounds the memory of a stream. */
const MAX_CALLS = 2_048;
const MAX_CHOICES = 8;

/** A call whose fragments are still arriving. */
interface CallUnderWay {
	readonly identity: CallIdentity;
	readonly index: number;
	/** The arguments so far, where the upstream gave the call no id. */
	written: string;
}

/** The parts of one choice that a stream has sent so far. */
interface ChoiceUnderWay {
	lastCall: CallUnderWay | undefined;
	readonly byIndex: Map<unknown, CallUnderWay>;
	/** Indices in use, and the one after the highest. */
	readonly used: Set<unknown>;
	nextIndex: number;
}

/** Completes the choices of a stream's chunks, one chunk after the other. */
export class StreamedChoices {
	readonly #requestId: string;
	readonly #choices = new Map<number, ChoiceUnderWay>();
	#callCount = 0;
	/** False once the fragments of a call are sent under another index or id than they came with. */
	#callsArePlain = true;

	constructor(requestId: string) {
		this.#requestId = requestId;
	}

	/** Returns false if each event of this frame must be checked by itself. */
	isSteady({ like }: EventFrame): boolean {
		const [choice] = like.choices as readonly Fields[];
		if (choice === undefined || typeof choice.index !== "number" || !isRecord(choice.delta)) return false;
		const { role, tool_calls: calls } = choice.delta;
		if (!isRole(role) || !isNoEnd(choice.finish_reason)) return false;
		const [call] = Array.isArray(calls) ? (calls as Fields[]) : [];
		return call === undefined || (this.#callsArePlain && typeof call.index === "number" && !call.id);
	}

	/** Returns the choices to send instead of a chunk's; null: they are complete. */
	take(choices: readonly unknown[]): readonly unknown[] | null {
		let isOdd = false;
		const completed = choices.filter(isRecord).map((choice, place) => {
			const whole = this.#choice(choice, place);
			isOdd ||= whole !== choice;
			return whole;
		});
		return isOdd || completed.length < choices.length ? completed : null;
	}

	#choice(choice: Fields, place: number): Fields {
		const index = typeof choice.index === "number" ? choice.index : place;
		const known = this.#choices.get(index);
		if (known === undefined && this.#choices.size === MAX_CHOICES) return choice;
		const underWay = known ?? { lastCall: undefined, byIndex: new Map(), used: new Set(), nextIndex: 0 };
		this.#choices.set(index, underWay);
		const content = isRecord(choice.delta) ? choice.delta : contentOf(choice);
		const delta = this.#delta(content, known === undefined, underWay);
		const { finish_reason: reason } = choice;
		if (index === choice.index && delta === choice.delta && (isNoEnd(reason) || isOpenAiReason(reason))) return choice;
		const { text: _text, message: _message, ...rest } = choice;
		return { ...rest, index, delta, finish_reason: endOf(reason) };
	}

	#delta(delta: Fields, isFirst: boolean, underWay: ChoiceUnderWay): Fields {
		const edits: Record<string, unknown> = {};
		if (!isRole(delta.role) || (isFirst && delta.role !== "assistant")) edits.role = "assistant";
		Object.assign(edits, outputTexts(delta));
		const { tool_calls: calls } = delta;
		if (Array.isArray(calls)) {
			const completed = calls.filter(isRecord).map((call) => this.#call(call, underWay));
			if (completed.length < calls.length || completed.some((call, place) => call !== calls[place])) edits.tool_calls = completed;
		} else if (calls !== undefined && calls !== null) edits.tool_calls = null;
		return Object.keys(edits).length === 0 ? delta : { ...delta, ...edits };
	}

	#call(call: Fields, underWay: ChoiceUnderWay): Fields {
		const called = isRecord(call.function) ? call.function : {};
		const known = typeof call.index === "number" ? underWay.byIndex.get(call.index) : underWay.lastCall;
		const isWhole = () => known !== undefined && known.identity.id === null && isWholeObject(known.written);
		if (known === undefined || known.identity.isOther(call.id, called.name, isWhole))
			return this.#callCount < MAX_CALLS ? this.#newCall(call, called, underWay) : call;
		const isSameId = call.id === undefined || call.id === null;
		const isSameName = called.name === undefined || called.name === null || called.name === "";
		this.#keep(known, called.arguments);
		if (isSameId && isSameName && call.index === known.index && isText(called.arguments)) return call;
		// Clients concatenate repeated values, so an id and a name are sent once.
		const { id: _id, type: _type, ...rest } = call;
		const { name, ...others } = called;
		const more = isSameName || name === known.identity.name ? {} : { name };
		return { ...rest, index: known.index, function: { ...others, ...more, arguments: argumentsText(called.arguments) } };
	}

	#newCall(call: Fields, called: Fields, underWay: ChoiceUnderWay): Fields {
		const identity = new CallIdentity();
		identity.learn(call.id, called.name);
		const isFree = typeof call.index === "number" && !underWay.used.has(call.index);
		const index = isFree ? Number(call.index) : underWay.nextIndex;
		const newCall = { identity, index, written: "" };
		underWay.used.add(index);
		underWay.nextIndex = Math.max(underWay.nextIndex, index + 1);
		underWay.lastCall = newCall;
		underWay.byIndex.set(call.index, newCall);
		this.#keep(newCall, called.arguments);
		const id = identity.id ?? ownCallId(this.#requestId, this.#callCount);
		this.#callCount++;
		if (index !== call.index || identity.id === null) this.#callsArePlain = false;
		if (index === call.index && isWholeCall(call)) return call;
		return { ...call, index, id, type: typeOf(call), ...functionOf(call) };
	}

	#keep(call: CallUnderWay, written: unknown): void {
		if (call.identity.id === null && call.written.length <= MAX_KEPT_CHARS) call.written += argumentsText(written);
	}
}

/** Returns the choices to send instead of a whole answer's; null: they are complete. */
export function wholeChoices(choices: readonly unknown[], requestId: string): readonly unknown[] | null {
	let callCount = 0;
	let isOdd = false;
	const completed = choices.filter(isRecord).map((choice, place) => {
		const content = isRecord(choice.message) ? choice.message : contentOf(choice);
		const calls = Array.isArray(content.tool_calls) ? (content.tool_calls as unknown[]) : [];
		const whole = calls.filter(isRecord).map((call) => {
			const id = ownCallId(requestId, callCount++);
			return isWholeCall(call) ? call : { ...call, id: isBlank(call.id) ? id : call.id, type: typeOf(call), ...functionOf(call) };
		});
		const edits: Record<string, unknown> = { ...outputTexts(content) };
		if (content.role !== "assistant") edits.role = "assistant";
		if (content.content === undefined) edits.content = null;
		if (whole.some((call, at) => call !== calls[at])) edits.tool_calls = whole;
		const isPlain = Object.keys(edits).length === 0 && content === choice.message;
		if (isPlain && typeof choice.index === "number" && isOpenAiReason(choice.finish_reason)) return choice;
		isOdd = true;
		const { text: _text, delta: _delta, ...rest } = choice;
		const ended = whole.length > 0 ? "tool_calls" : "stop";
		return {
			...rest,
			index: typeof choice.index === "number" ? choice.index : place,
			message: { ...content, ...edits },
			finish_reason: isFinishReason(choice.finish_reason) ? finishReasonOf(choice.finish_reason) : ended,
		};
	});
	return isOdd || completed.length < choices.length ? completed : null;
}

/** Returns the content of a choice. Some servers use the other form's name, or the older completions' `text`. */
function contentOf({ message, delta, text }: Fields): Fields {
	if (isRecord(message)) return message;
	if (isRecord(delta)) return delta;
	return typeof text === "string" ? { content: text } : {};
}

function isRole(role: unknown): boolean {
	return role === undefined || role === null || role === "assistant";
}

function isNoEnd(reason: unknown): boolean {
	return reason === undefined || reason === null || reason === "" || reason === false;
}

/** Returns the finish reason; null if the choice continues. */
function endOf(reason: unknown): string | null {
	if (isNoEnd(reason)) return null;
	return isFinishReason(reason) ? finishReasonOf(reason) : "stop";
}

function isBlank(id: unknown): boolean {
	return typeof id !== "string" || id.trim() === "";
}

function isText(value: unknown): boolean {
	return value === undefined || value === null || typeof value === "string";
}

/** Returns true for a call that begins with everything clients need. Calls of other types have no function. */
function isWholeCall(call: Fields): boolean {
	if (isBlank(call.id) || typeof call.type !== "string") return false;
	return call.type !== "function" || (isRecord(call.function) && typeof call.function.arguments === "string");
}

function typeOf({ type }: Fields): string {
	return typeof type === "string" && type !== "" ? type : "function";
}

function functionOf({ function: called }: Fields): Fields {
	return isRecord(called) ? { function: { ...called, arguments: argumentsText(called.arguments) } } : {};
}

function ownCallId(requestId: string, number: number): string {
	return `call_${requestId}${number}`;
}
