import type { Paid, StreamForm } from "../../completions/answer-form.ts";
import { costOf, shownUsage } from "../../completions/meter.ts";
import { type ChatSession, completionId } from "../../completions/session.ts";
import type { ApiError } from "../../errors/index.ts";
import { openAiError } from "../../server/error-body.ts";
import type { ChatEvent, EventFrame } from "../../upstreams/port.ts";
import { lastMember, type MemberEdit, spliceMembers, topLevelMembers, utf8Text } from "../../wire/index.ts";

const DONE = "data: [DONE]\n\n";
const PING = ": ping\n\n";
/** As many as an upstream's stream has in use at most. */
const MAX_FRAMES = 8;

/** What an upstream's frame becomes in our chunks. */
interface OurFrame {
	readonly theirs: EventFrame;
	readonly lineHead: string;
	readonly lineTail: string;
}

/**
 * Turns an upstream's chunks into ours, as SSE text: same `choices`, our model and id in every chunk, no usage
 * (it comes once, at the end). What must be replaced in chunks that differ in one string alone is worked out once.
 */
export class ChunkWriter implements StreamForm {
	readonly #session: ChatSession;
	#id: string | null = null;
	#created: number;
	#first = true;
	/** Of the frames in use, few in any stream. */
	readonly #frames: OurFrame[] = [];

	constructor(session: ChatSession) {
		this.#session = session;
		this.#created = Math.floor(session.call.admittedAtMs / 1000);
	}

	readonly ping = PING;

	/** The SSE text of one chunk. */
	event(event: ChatEvent): string {
		if (event.frame === null || this.#first) return `data: ${this.#rewritten(event)}\n\n`;
		const { lineHead, lineTail } = this.#ours(event.frame);
		return lineHead + event.written + lineTail;
	}

	#rewritten({ text, body }: ChatEvent): string {
		if (this.#id === null) {
			this.#id = completionId(body.id, this.#session.call.requestId);
			if (typeof body.created === "number") this.#created = body.created;
		}
		const edits = this.#edits(body);
		if (body.usage !== undefined && body.usage !== null) edits.set("usage", null);
		if (this.#first && this.#session.echoInStream) edits.set("service_parameters", JSON.stringify(this.#session.echo));
		this.#first = false;
		if (edits.size === 0) return text;
		const bytes = Buffer.from(text);
		const spliced = spliceMembers(bytes, topLevelMembers(bytes), edits);
		return utf8Text(spliced, 0, spliced.length);
	}

	/** What differs in the members that every chunk has. */
	#edits(body: ChatEvent["body"]): Map<string, MemberEdit> {
		const edits = new Map<string, MemberEdit>();
		if (body.id !== this.#id) edits.set("id", JSON.stringify(this.#id));
		if (body.model !== this.#session.model.id) edits.set("model", JSON.stringify(this.#session.model.id));
		if (body.created !== this.#created) edits.set("created", String(this.#created));
		return edits;
	}

	#ours(theirs: EventFrame): OurFrame {
		for (const frame of this.#frames) if (frame.theirs === theirs) return frame;
		const frame = this.#ourFrame(theirs);
		if (this.#frames.length === MAX_FRAMES) this.#frames.pop();
		this.#frames.unshift(frame);
		return frame;
	}

	/** The piece's place moves with `choices`, whose own bytes stay as they are. */
	#ourFrame(theirs: EventFrame): OurFrame {
		const edits = this.#edits(theirs.like);
		if (edits.size === 0) return { theirs, lineHead: theirs.lineHead, lineTail: theirs.lineTail };
		const bytes = Buffer.from(theirs.head + theirs.tail);
		const members = topLevelMembers(bytes);
		const spliced = spliceMembers(bytes, members, edits);
		const before = lastMember(members, "choices")?.valueStart ?? 0;
		const after = lastMember(topLevelMembers(spliced), "choices")?.valueStart ?? 0;
		const place = Buffer.byteLength(theirs.head) + after - before;
		const [head, tail] = [utf8Text(spliced, 0, place), utf8Text(spliced, place, spliced.length)];
		return { theirs, lineHead: `data: ${head}`, lineTail: `${tail}\n\n` };
	}

	/** The chunk that ends choices which passed their ceiling. */
	cut(): string {
		const choices = Array.from({ length: this.#session.choices }, (_, index) => ({
			index,
			delta: {},
			logprobs: null,
			finish_reason: "length",
		}));
		return this.#own({ choices });
	}

	/** Usage and cost in a last chunk, where the caller asked for it, and the end. */
	end({ posted, usage }: Paid, told: Readonly<Record<string, unknown>> | null): string {
		if (!this.#session.includeUsage) return DONE;
		return this.#own({ choices: [], usage: shownUsage(told, usage), cost: costOf(posted) }) + DONE;
	}

	#own(members: Record<string, unknown>): string {
		const id = this.#id ?? completionId(null, this.#session.call.requestId);
		const chunk = { id, object: "chat.completion.chunk", created: this.#created, model: this.#session.model.id, ...members };
		return `data: ${JSON.stringify(chunk)}\n\n`;
	}

	/** An error in a stream that has begun: no `[DONE]` follows it. */
	failed(error: ApiError): string {
		return `data: ${JSON.stringify({ error: openAiError(error) })}\n\n`;
	}
}
