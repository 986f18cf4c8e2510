import type { TokenUsage } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { ChatStream, EventBatch, WholeAnswer } from "../upstreams/chat/port.ts";
import { chunksOfCompletion } from "../upstreams/index.ts";
import { wholeBody } from "./whole-body.ts";

/**
 * A whole answer as a stream: what has to be checked before it goes out can only go out at once. `ask` is aborted
 * by its signal.
 */
export class FormattedStream implements ChatStream {
	readonly headers: Promise<void>;
	readonly opened: Promise<EventBatch>;
	readonly #controller = new AbortController();
	#answer: WholeAnswer | null = null;
	#cancelled: ApiError | null = null;

	constructor(ask: (signal: AbortSignal) => Promise<WholeAnswer>, left: AbortSignal) {
		this.opened = ask(AbortSignal.any([left, this.#controller.signal])).then(async (answer) => {
			const events = eventsOf({ ...answer, body: await wholeBody(answer) });
			this.#answer = answer;
			return { events, done: true };
		});
		this.headers = this.opened.then(nothing);
		// Both are for whoever asks; an unasked failure is no crash.
		this.headers.catch(nothing);
	}

	get upstream(): string | null {
		return this.#answer?.upstream ?? null;
	}

	get retries(): number {
		return this.#answer?.retries ?? 0;
	}

	get usage(): TokenUsage | null {
		return this.#answer?.usage ?? null;
	}

	async each(take: (batch: EventBatch) => Promise<unknown> | null): Promise<void> {
		const batch = await this.opened;
		if (this.#cancelled !== null) throw this.#cancelled;
		await take(batch);
	}

	cancel(): void {
		if (this.#cancelled !== null) return;
		this.#cancelled = new ApiError("UNKNOWN_ERROR", { message: "The stream was cancelled" });
		if (this.#answer === null) this.#controller.abort(this.#cancelled);
	}
}

/** The events of an answer, its usage as it is charged at the end. */
function eventsOf({ body, usage }: WholeAnswer): ChatEvent[] {
	const chunks = chunksOfCompletion(body);
	const events = usage === null ? chunks : [...chunks, { ...chunks[0], choices: [], usage: toldUsage(usage) }];
	return events.map((chunk) => ({ text: JSON.stringify(chunk), body: chunk, frame: null, written: "", piece: "" }));
}

function toldUsage({ promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens }: TokenUsage): object {
	return {
		prompt_tokens: promptTokens,
		completion_tokens: completionTokens,
		total_tokens: promptTokens + completionTokens,
		prompt_tokens_details: { cached_tokens: cachedTokens, cache_creation_input_tokens: cacheWriteTokens },
		completion_tokens_details: { reasoning_tokens: reasoningTokens },
	};
}

function nothing(): void {}
