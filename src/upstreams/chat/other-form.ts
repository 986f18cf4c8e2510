/**
 * Converts answers in the other form than requested: server-sent events for a whole answer, a whole answer for a
 * stream. Some servers, and proxies before them, have one form only.
 */
import { isRecord } from "../../schema/is-record.ts";
import { nextTurn } from "../../wire/index.ts";
import { isFinishReason } from "../finish-reason.ts";
import type { ChatEvent } from "./event-frame.ts";
import { EventReader } from "./event-reader.ts";
import { argumentsText, CallIdentity, isWholeObject } from "./tool-call-identity.ts";

type Fields = Readonly<Record<string, unknown>>;

const OPENING_ANGLE = 0x3c;
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
/** Bytes of events read in one turn of the event loop. */
const ONE_TURN_BYTES = 16 * 1024;

const BEGINNINGS = ["data:", "event:", "id:", "retry:", ":"].map((text) => Buffer.from(text));

/** Returns true where the first byte that is not blank begins a JSON object or array; null where all are blank. */
export function beginsAsJson(bytes: Uint8Array): boolean | null {
	const at = beginningOf(bytes);
	if (at === bytes.length) return null;
	return bytes[at] === OPENING_BRACE || bytes[at] === OPENING_BRACKET;
}

/** Chunks are small, so a longer first line is not parsed. */
const MAX_CHUNK_LINE_BYTES = 32 * 1024;
const LF = 0x0a;

/**
 * Returns true where the first line of a body is a chunk of a stream: some servers send one object a line, without
 * `data:`.
 */
export function beginsAsChunkLine(bytes: Uint8Array): boolean {
	const at = beginningOf(bytes);
	const lineEnd = bytes.indexOf(LF, at);
	const end = lineEnd < 0 ? bytes.length : lineEnd;
	if (bytes[at] !== OPENING_BRACE || end - at > MAX_CHUNK_LINE_BYTES) return false;
	try {
		return isChunk(JSON.parse(Buffer.from(bytes.subarray(at, end)).toString("utf8")));
	} catch {
		return false;
	}
}

/**
 * Returns true where a whole body consists of chunks, one a line. A single line is a whole answer, and so is indented
 * JSON.
 */
export function isChunkLines(bytes: Uint8Array): boolean {
	const lineEnd = bytes.indexOf(LF, beginningOf(bytes));
	if (lineEnd < 0) return false;
	const next = bytes[lineEnd + 1 + beginningOf(bytes.subarray(lineEnd + 1))];
	return (next === OPENING_BRACE || next === OPENING_BRACKET) && beginsAsChunkLine(bytes);
}

function isChunk(value: unknown): boolean {
	if (!isRecord(value)) return false;
	if (value.object === "chat.completion.chunk") return true;
	const { choices } = value;
	if (!Array.isArray(choices)) return false;
	const first: unknown = choices[0];
	if (!isRecord(first)) return choices.length === 0;
	return isRecord(first.delta) || (typeof first.text === "string" && !isFinishReason(first.finish_reason));
}

/** Returns true where a body begins as HTML: a page comes from no model server, whatever its content type. */
export function beginsAsPage(bytes: Uint8Array): boolean {
	return bytes[beginningOf(bytes)] === OPENING_ANGLE;
}

/** Returns true where a body begins as an event stream (WHATWG HTML, "Server-sent events"). */
export function beginsAsEvents(bytes: Uint8Array): boolean {
	const at = beginningOf(bytes);
	if (bytes[at] === OPENING_BRACE) return false;
	return BEGINNINGS.some((text) => text.equals(bytes.subarray(at, at + text.length)));
}

/** Returns the body from its first byte that is not blank. */
export function withoutBlank(bytes: Uint8Array): Uint8Array {
	return bytes.subarray(beginningOf(bytes));
}

/** Returns the index of the first byte that is no white space and no byte order mark. */
function beginningOf(bytes: Uint8Array): number {
	let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
	while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at++;
	return at;
}

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

	take(events: readonly ChatEvent[]): void {
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
		const ended = { index, logprobs, finish_reason: "stop", ...this.#rest };
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
