import type { ChatEvent } from "../../upstreams/port.ts";
import { concatBytes, type MemberEdit, spliceMembers, topLevelMembers } from "../../wire/index.ts";
import { isRecord } from "./received.ts";
import { type ChatSession, completionId } from "./session.ts";
import { ThinkBlockStripper } from "./think-blocks.ts";

const encoder = new TextEncoder();
const DATA = encoder.encode("data: ");
const END = encoder.encode("\n\n");
const DONE = encoder.encode("data: [DONE]\n\n");
const PING = encoder.encode(": ping\n\n");

/**
 * Turns an upstream's chunks into ours: same `choices` bytes, our model and id in every chunk, no usage (it
 * comes once, at the end). An upstream repeats the members before `choices` in every chunk, so their
 * replacement is worked out once and reused while they stay the same.
 */
export class ChunkWriter {
	readonly #session: ChatSession;
	#id: string | null = null;
	#created: number;
	#first = true;
	#head: { readonly theirs: Uint8Array; readonly ours: Uint8Array } | null = null;
	readonly #strippers = new Map<number, ThinkBlockStripper>();

	constructor(session: ChatSession) {
		this.#session = session;
		this.#created = Math.floor(session.call.admittedAtMs / 1000);
	}

	static readonly done = DONE;
	static readonly ping = PING;

	/** The SSE bytes of one chunk, in pieces to be joined. */
	push(event: ChatEvent, into: Uint8Array[]): void {
		into.push(DATA);
		this.#body(event, into);
		into.push(END);
	}

	#body(event: ChatEvent, into: Uint8Array[]): void {
		const { bytes, body } = event;
		if (this.#id === null) {
			this.#id = completionId(body.id, this.#session.call.requestId);
			if (typeof body.created === "number") this.#created = body.created;
		}
		const usage = body.usage !== undefined && body.usage !== null;
		const head = this.#head;
		const plain = !usage && !this.#first && !this.#session.stripThinking;
		if (plain && head !== null && startsWith(bytes, head.theirs)) {
			if (head.ours !== head.theirs) into.push(head.ours, bytes.subarray(head.theirs.length));
			else into.push(bytes);
			return;
		}
		this.#rewritten(event, usage, into);
	}

	#rewritten(event: ChatEvent, usage: boolean, into: Uint8Array[]): void {
		const { bytes, body } = event;
		const edits = new Map<string, MemberEdit>();
		if (body.id !== this.#id) edits.set("id", JSON.stringify(this.#id));
		if (body.model !== this.#session.model.id) edits.set("model", JSON.stringify(this.#session.model.id));
		if (body.created !== this.#created) edits.set("created", String(this.#created));
		const steady = new Map(edits);
		if (usage) edits.set("usage", null);
		if (this.#first && this.#session.echoInStream) edits.set("service_parameters", JSON.stringify(this.#session.echo));
		if (this.#session.stripThinking) edits.set("choices", JSON.stringify(this.#stripped(body.choices)));
		const members = topLevelMembers(bytes);
		into.push(edits.size === 0 ? bytes : spliceMembers(bytes, members, edits));
		if (!this.#session.stripThinking) this.#learnHead(bytes, members, steady);
		this.#first = false;
	}

	/** Remembers what stands before `choices`, where all that must be replaced stands before it. */
	#learnHead(bytes: Uint8Array, members: ReturnType<typeof topLevelMembers>, edits: ReadonlyMap<string, MemberEdit>): void {
		const choicesAt = members.findIndex((member) => member.key === "choices");
		const choices = members[choicesAt];
		if (choices === undefined) return;
		const before = members.slice(0, choicesAt);
		const own = ["id", "model", "created"];
		const complete = own.every((key) => before.some((member) => member.key === key));
		if (
			!complete ||
			new Set(before.map((member) => member.key)).size !== before.length ||
			before.some((member) => member.key === "usage")
		) {
			this.#head = null;
			return;
		}
		const theirs = bytes.slice(0, choices.start);
		if (edits.size === 0) {
			this.#head = { theirs, ours: theirs };
			return;
		}
		const closed = concatBytes([theirs, encoder.encode('"choices":0}')]);
		const ours = spliceMembers(closed, topLevelMembers(closed), edits);
		this.#head = { theirs, ours: ours.subarray(0, ours.length - '"choices":0}'.length) };
	}

	#stripped(choices: unknown): unknown {
		if (!Array.isArray(choices)) return choices;
		return choices.map((choice: unknown) => {
			if (!isRecord(choice)) return choice;
			const index = typeof choice.index === "number" ? choice.index : 0;
			const delta = isRecord(choice.delta) ? choice.delta : {};
			const stripper = this.#strippers.get(index) ?? new ThinkBlockStripper();
			this.#strippers.set(index, stripper);
			const last = choice.finish_reason !== null && choice.finish_reason !== undefined;
			const said = typeof delta.content === "string" ? stripper.push(delta.content) : null;
			const rest = last ? stripper.end() : "";
			if (said === null && rest === "") return choice;
			return { ...choice, delta: { ...delta, content: (said ?? "") + rest } };
		});
	}

	/** The chunk that ends choices which passed their ceiling. */
	lengthChunk(): Uint8Array {
		const choices = Array.from({ length: this.#session.choices }, (_, index) => ({
			index,
			delta: {},
			logprobs: null,
			finish_reason: "length",
		}));
		return this.#own({ choices });
	}

	/** The last data chunk: usage and cost. */
	usageChunk(usage: unknown, cost: { usd: number; diem: number }): Uint8Array {
		return this.#own({ choices: [], usage, cost });
	}

	#own(members: Record<string, unknown>): Uint8Array {
		const id = this.#id ?? completionId(null, this.#session.call.requestId);
		const chunk = { id, object: "chat.completion.chunk", created: this.#created, model: this.#session.model.id, ...members };
		return encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
	}

	/** An error in a stream that has begun: no `[DONE]` follows it. */
	static errorEvent(error: object): Uint8Array {
		return encoder.encode(`data: ${JSON.stringify({ error })}\n\n`);
	}
}

function startsWith(bytes: Uint8Array, head: Uint8Array): boolean {
	if (bytes.length < head.length) return false;
	return Buffer.compare(bytes.subarray(0, head.length), head) === 0;
}
