/**
 * Converts answers in another form than requested: server-sent events, or chunks in an array, for a whole answer; a
 * whole answer for a stream. Some servers, and proxies before them, have one form only.
 */
import { isRecord } from "../../schema/is-record.ts";
import { nextTurn } from "../../wire/index.ts";
import type { ChatEvent } from "./event-frame.ts";
import { EventReader } from "./event-reader.ts";
import { NativeAnswer } from "./native-answers.ts";
import { argumentsText, CallIdentity, isWholeObject } from "./tool-call-identity.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Bytes of events read in one turn of the event loop. */
const ONE_TURN_BYTES = 16 * 1024;

/**
 * Returns the whole answer, as JSON, that the events of a stream make.
 * @throws UpstreamFailure for a stream that is cut off, has an error event, or is no stream
 */
export async function completionOfEvents(bytes: Uint8Array, maxEventBytes: number): Promise<Uint8Array> {
	const reader = new EventReader(maxEventBytes);
	const joined = new JoinedChunks();
	for (let at = 0; at < bytes.length && !reader.done; at += ONE_TURN_BYTES) {
		joined.take(reader.take(bytes.subarray(at, at + ONE_TURN_BYTES)));
		if (reader.fault !== null) throw reader.fault;
		await nextTurn();
	}
	if (!reader.done) joined.take(reader.end());
	return Buffer.from(JSON.stringify(joined.completion));
}

/** Returns the whole answer that one native answer is (`native-answers.ts`); other values unchanged. */
export function completionOfNative(value: unknown): unknown {
	if (!isRecord(value)) return value;
	const chunk = new NativeAnswer().chunk(value);
	if (chunk === null || chunk.object !== "chat.completion.chunk") return chunk ?? value;
	const joined = new JoinedChunks();
	joined.take([{ body: chunk }]);
	return joined.completion;
}

/** Returns a whole answer as the bytes of an event stream, with its usage and `[DONE]` at the end. */
export function eventsOfCompletion(body: Fields): Uint8Array {
	const { usage } = body;
	const last = isRecord(usage) ? [{ ...headOf(body), choices: [], usage }] : [];
	const data = [...chunksOfCompletion(body), ...last].map((chunk) => JSON.stringify(chunk));
	return Buffer.from([...data, "[DONE]"].map((text) => `data: ${text}\n\n`).join(""));
}

/** Returns the chunks of a whole answer, in OpenAI's order: role, thoughts, text, calls, the end. Without usage. */
export function chunksOfCompletion(body: Fields): Fields[] {
	const head = headOf(body);
	const choices = Array.isArray(body.choices) ? (body.choices as unknown[]) : [];
	return choices
		.flatMap((choice, place) => piecesOf(isRecord(choice) ? choice : {}, place))
		.map((piece) => ({ ...head, choices: [piece] }));
}

function headOf({ choices: _choices, usage: _usage, ...head }: Fields): Fields {
	return { ...head, object: "chat.completion.chunk" };
}

function piecesOf({ message, ...rest }: Fields, place: number): Fields[] {
	const index = rest.index ?? place;
	const finish_reason = rest.finish_reason ?? "stop";
	if (message === undefined && typeof rest.text === "string") return [{ ...rest, index, finish_reason }];
	const deltas = isRecord(message) ? deltasOf(message) : [];
	const pieces = deltas.map((delta) => ({ index, delta, logprobs: null, finish_reason: null }));
	return [...pieces, { ...rest, index, delta: {}, finish_reason }];
}

function deltasOf({ role, content, tool_calls: calls, ...rest }: Fields): Fields[] {
	const deltas: Fields[] = [{ role: role ?? "assistant", content: "" }];
	for (const [key, value] of Object.entries(rest)) if (value !== null && value !== undefined) deltas.push({ [key]: value });
	if (content !== null && content !== undefined && content !== "") deltas.push({ content });
	if (Array.isArray(calls) && calls.length > 0)
		deltas.push({ tool_calls: calls.map((call: unknown, index) => (isRecord(call) ? { ...call, index } : call)) });
	return deltas;
}

/** Members of a delta whose pieces are one text. */
const TEXTS: ReadonlySet<string> = new Set(["content", "reasoning_content", "reasoning", "refusal"]);

class JoinedChunks {
	#head: Fields = {};
	#usage: unknown;
	readonly #choices = new Map<number, JoinedChoice>();

	take(events: readonly Pick<ChatEvent, "body">[]): void {
		for (const { body } of events) {
			const { choices, usage, ...head } = body;
			this.#head = { ...head, ...this.#head };
			if (isRecord(usage)) this.#usage = usage;
			for (const choice of Array.isArray(choices) ? (choices as unknown[]) : []) if (isRecord(choice)) this.#choice(choice);
		}
	}

	get completion(): Fields {
		const choices = [...this.#choices].sort(([a], [b]) => a - b).map(([index, choice]) => choice.whole(index));
		const usage = this.#usage === undefined ? {} : { usage: this.#usage };
		return { ...this.#head, object: "chat.completion", choices, ...usage };
	}

	#choice(choice: Fields): void {
		const index = typeof choice.index === "number" ? choice.index : 0;
		let joined = this.#choices.get(index);
		if (joined === undefined) {
			joined = new JoinedChoice();
			this.#choices.set(index, joined);
		}
		joined.take(choice);
	}
}

/** A tool call joined from its fragments. */
interface JoinedCall {
	readonly identity: CallIdentity;
	rest: Fields;
	called: Fields;
	written: string;
}

class JoinedChoice {
	#rest: Fields = {};
	#text: string | null = null;
	readonly #message: Record<string, unknown> = { role: "assistant", content: null, refusal: null };
	readonly #logprobs: unknown[] = [];
	readonly #calls: JoinedCall[] = [];
	readonly #byIndex = new Map<unknown, JoinedCall>();

	take({ index: _, delta, message, text, logprobs, ...rest }: Fields): void {
		this.#rest = { ...this.#rest, ...withoutNull(rest) };
		if (typeof text === "string") this.#text = (this.#text ?? "") + text;
		if (isRecord(logprobs) && Array.isArray(logprobs.content)) this.#logprobs.push(...(logprobs.content as unknown[]));
		const part = delta ?? message;
		if (!isRecord(part)) return;
		for (const [key, value] of Object.entries(withoutNull(part))) {
			const before = this.#message[key];
			if (key === "tool_calls") this.#callAll(value);
			else if (TEXTS.has(key) && typeof value === "string" && typeof before === "string") this.#message[key] = before + value;
			else if (Array.isArray(before) && Array.isArray(value))
				this.#message[key] = [...(before as unknown[]), ...(value as unknown[])];
			else if (value !== "" || before === undefined) this.#message[key] = value;
		}
	}

	whole(index: number): Fields {
		const logprobs = this.#logprobs.length === 0 ? null : { content: this.#logprobs, refusal: null };
		const ended = { index, logprobs, finish_reason: this.#calls.length > 0 ? "tool_calls" : "stop", ...this.#rest };
		if (this.#text !== null) return { ...ended, text: this.#text };
		const calls = this.#calls.map(({ rest, called, written }) => ({
			type: "function",
			...rest,
			function: { ...called, arguments: written },
		}));
		return { ...ended, message: { ...this.#message, ...(calls.length === 0 ? {} : { tool_calls: calls }) } };
	}

	#callAll(calls: unknown): void {
		for (const call of Array.isArray(calls) ? (calls as unknown[]) : []) if (isRecord(call)) this.#call(call);
	}

	#call({ index, function: called, ...rest }: Fields): void {
		const { arguments: written, ...named } = isRecord(called) ? called : {};
		const known = this.#byIndex.get(index) ?? (index === undefined ? this.#calls.at(-1) : undefined);
		const isSame = known !== undefined && !known.identity.isOther(rest.id, named.name, () => isWholeObject(known.written));
		const call = isSame ? known : { identity: new CallIdentity(), rest: {}, called: {}, written: "" };
		if (!isSame) this.#calls.push(call);
		this.#byIndex.set(index, call);
		call.identity.learn(rest.id, named.name);
		call.rest = { ...withoutNull(rest), ...call.rest };
		call.called = { ...withoutNull(named), ...call.called };
		call.written += argumentsText(written);
	}
}

function withoutNull(fields: Fields): Fields {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
