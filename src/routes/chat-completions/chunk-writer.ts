import { type AdmittedChat, completionId } from "../../completions/admitted-chat.ts";
import type { PostedCharge, StreamForm } from "../../completions/answer-form.ts";
import { costOf, shownUsage } from "../../completions/meter.ts";
import type { ApiError } from "../../errors/index.ts";
import { isRecord } from "../../schema/is-record.ts";
import { openAiError } from "../../server/error-body.ts";
import type { ChatEvent } from "../../upstreams/chat/event-frame.ts";
import type { EventFrame } from "../../upstreams/chat/port.ts";
import { isFinishReason } from "../../upstreams/finish-reason.ts";
import { lastMember, type MemberEdit, spliceMembers, topLevelMembers, utf8Text } from "../../wire/index.ts";
import { StreamedChoices } from "./odd-choices.ts";
import { documentsCall } from "./search-documents.ts";

const OBJECT = "chat.completion.chunk";
const DONE = "data: [DONE]\n\n";
const PING = ": ping\n\n";
/** Maximum number of frames that an upstream's stream uses. */
const MAX_FRAMES = 8;

/** An upstream's frame rewritten for our chunks. */
interface RewrittenFrame {
	readonly upstreamFrame: EventFrame;
	readonly lineHead: string;
	readonly lineTail: string;
}

/**
 * Rewrites an upstream's chunks as SSE text: same `choices`, our model and id in every chunk, usage only once, at the
 * end. The replacement is computed once for all chunks that differ only in one string.
 */
export class ChunkWriter implements StreamForm {
	readonly #chat: AdmittedChat;
	readonly #convertChoice: ((choice: unknown) => unknown) | null;
	#id: string | null = null;
	#created: number;
	readonly #choices: StreamedChoices;
	#first = true;
	/** The web results as a tool call that goes out before the end; null: there is none, or it was sent. */
	#documents: Record<string, unknown> | null;
	/** The next index among the tool calls. */
	#nextCall = 0;
	/** The rewritten frames; a stream has few. */
	readonly #frames: RewrittenFrame[] = [];

	/** @param convertChoice converts each choice to another form; null: none */
	constructor(chat: AdmittedChat, convertChoice: ((choice: unknown) => unknown) | null = null) {
		this.#chat = chat;
		this.#convertChoice = convertChoice;
		this.#created = Math.floor(chat.call.admittedAtMs / 1000);
		this.#documents = documentsCall(chat);
		this.#choices = new StreamedChoices(chat.call.requestId);
	}

	readonly ping = PING;

	/** Returns the SSE text of one chunk. */
	event(event: ChatEvent): string {
		if (event.frame === null || this.#first || this.#convertChoice !== null || !this.#choices.isSteady(event.frame)) {
			const before = (this.#first ? this.#opening(event) : "") + (this.#documents === null ? "" : this.#documentsBefore(event));
			return `${before}data: ${this.#rewritten(event)}\n\n`;
		}
		const { lineHead, lineTail } = this.#rewrittenFrame(event.frame);
		return lineHead + event.written + lineTail;
	}

	/**
	 * Returns the chunk with the echo. The echo needs a chunk with a choice; if the upstream's first chunk has none,
	 * we send one before it.
	 */
	#opening({ body }: ChatEvent): string {
		const { streamEcho } = this.#chat;
		if (streamEcho === null || (Array.isArray(body.choices) && body.choices.length > 0)) return "";
		this.#begin(body);
		this.#first = false;
		const delta = { role: "assistant", content: "" };
		return this.#own({ choices: [{ index: 0, delta, logprobs: null, finish_reason: null }], service_parameters: streamEcho });
	}

	/**
	 * Returns the tool call with the web results, before the chunk that ends a choice and after the model's own calls.
	 */
	#documentsBefore({ body }: ChatEvent): string {
		let ends = false;
		for (const choice of Array.isArray(body.choices) ? (body.choices as unknown[]) : []) {
			if (!isRecord(choice)) continue;
			ends ||= isFinishReason(choice.finish_reason);
			const calls = isRecord(choice.delta) ? choice.delta.tool_calls : undefined;
			for (const call of Array.isArray(calls) ? (calls as unknown[]) : [])
				if (isRecord(call) && typeof call.index === "number") this.#nextCall = Math.max(this.#nextCall, call.index + 1);
		}
		return ends ? this.#documentsChunk() : "";
	}

	#documentsChunk(): string {
		const call = this.#documents;
		if (call === null) return "";
		this.#documents = null;
		const delta = { tool_calls: [{ index: this.#nextCall, ...call }] };
		const choices = Array.from({ length: this.#chat.choices }, (_, index) => ({
			index,
			delta,
			logprobs: null,
			finish_reason: null,
		}));
		return this.#own({ choices });
	}

	/** Takes the common members from the upstream's first chunk. */
	#begin(body: ChatEvent["body"]): void {
		if (this.#id !== null) return;
		this.#id = completionId(body.id, this.#chat.call.requestId);
		if (typeof body.created === "number") this.#created = body.created;
	}

	#rewritten({ text, body }: ChatEvent): string {
		this.#begin(body);
		const edits = this.#edits(body);
		const received: readonly unknown[] = Array.isArray(body.choices) ? (body.choices as unknown[]) : [];
		const completed = Array.isArray(body.choices) ? this.#choices.take(received) : [];
		const choices = this.#convertChoice === null ? completed : (completed ?? received).map(this.#convertChoice);
		if (choices !== null) edits.set("choices", JSON.stringify(choices));
		if (body.usage !== undefined && body.usage !== null) edits.set("usage", null);
		const { streamEcho } = this.#chat;
		if (this.#first && streamEcho !== null) edits.set("service_parameters", JSON.stringify(streamEcho));
		this.#first = false;
		if (edits.size === 0) return text;
		const bytes = Buffer.from(text);
		const spliced = spliceMembers(bytes, topLevelMembers(bytes), edits);
		return utf8Text(spliced, 0, spliced.length);
	}

	/** Returns the replacements for members that differ from the common ones. */
	#edits(body: ChatEvent["body"]): Map<string, MemberEdit> {
		const edits = new Map<string, MemberEdit>();
		if (body.id !== this.#id) edits.set("id", JSON.stringify(this.#id));
		if (body.model !== this.#chat.model.id) edits.set("model", JSON.stringify(this.#chat.model.id));
		if (body.created !== this.#created) edits.set("created", String(this.#created));
		if (body.object !== OBJECT) edits.set("object", JSON.stringify(OBJECT));
		return edits;
	}

	#rewrittenFrame(upstreamFrame: EventFrame): RewrittenFrame {
		for (const frame of this.#frames) if (frame.upstreamFrame === upstreamFrame) return frame;
		const frame = this.#rewriteFrame(upstreamFrame);
		if (this.#frames.length === MAX_FRAMES) this.#frames.pop();
		this.#frames.unshift(frame);
		return frame;
	}

	/** Rewrites a frame: the position of the text moves with `choices`, whose own bytes stay unchanged. */
	#rewriteFrame(upstreamFrame: EventFrame): RewrittenFrame {
		const edits = this.#edits(upstreamFrame.like);
		if (edits.size === 0) return { upstreamFrame, lineHead: upstreamFrame.lineHead, lineTail: upstreamFrame.lineTail };
		const bytes = Buffer.from(upstreamFrame.head + upstreamFrame.tail);
		const members = topLevelMembers(bytes);
		const spliced = spliceMembers(bytes, members, edits);
		const before = lastMember(members, "choices")?.valueStart ?? 0;
		const after = lastMember(topLevelMembers(spliced), "choices")?.valueStart ?? 0;
		const place = Buffer.byteLength(upstreamFrame.head) + after - before;
		const [head, tail] = [utf8Text(spliced, 0, place), utf8Text(spliced, place, spliced.length)];
		return { upstreamFrame, lineHead: `data: ${head}`, lineTail: `${tail}\n\n` };
	}

	/** Returns the chunk that ends choices past their ceiling. */
	cut(): string {
		const choices = Array.from({ length: this.#chat.choices }, (_, index) => ({
			index,
			delta: {},
			logprobs: null,
			finish_reason: "length",
		}));
		return this.#documentsChunk() + this.#own({ choices });
	}

	/** Returns the last chunk with usage and cost, if the caller requested it, and the end of the stream. */
	end({ posted, usage }: PostedCharge, reportedUsage: Readonly<Record<string, unknown>> | null): string {
		const documents = this.#documentsChunk();
		if (!this.#chat.includeUsage) return documents + DONE;
		return documents + this.#own({ choices: [], usage: shownUsage(reportedUsage, usage), cost: costOf(posted) }) + DONE;
	}

	#own(members: Record<string, unknown>): string {
		const id = this.#id ?? completionId(null, this.#chat.call.requestId);
		const chunk = { id, object: OBJECT, created: this.#created, model: this.#chat.model.id, ...members };
		return `data: ${JSON.stringify(chunk)}\n\n`;
	}

	/** Returns an error in a stream that has begun: no `[DONE]` follows it. */
	failed(error: ApiError): string {
		return `data: ${JSON.stringify({ error: openAiError(error) })}\n\n`;
	}
}
