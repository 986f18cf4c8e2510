import type { TokenUsage } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { ChatStream, EventBatch, WholeAnswer } from "../upstreams/chat/port.ts";
import { chunksOfCompletion } from "../upstreams/index.ts";
import { wholeBody } from "./whole-body.ts";

/**
 * A whole answer as a stream: an answer that must be checked first can only go out at once. The signal of `ask` aborts
 * it.
 */
export class FormattedStream implements ChatStream {
	readonly headers: Promise<void>;
	readonly opened: Promise<EventBatch>;
	readonly #controller = new AbortController();
	#answer: WholeAnswer | null = null;
	#cancelled: ApiError | null = null;

	constructor(ask: (signal: AbortSignal) => Promise<WholeAnswer>, callerLeft: AbortSignal) {
		this.opened = ask(AbortSignal.any([callerLeft, this.#controller.signal])).then(async (answer) => {
			const events = eventsOf({ ...answer, body: await wholeBody(answer) });
			this.#answer = answer;
			return { events, done: true };
		});
		this.headers = this.opened.then(nothing);
		// Nobody may await these promises, and an unhandled failure must not be a crash.
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

/** Returns the events of an answer, with its usage as charged at the end. */
function eventsOf({ body, usage }: WholeAnswer): ChatEvent[] {
	const chunks = chunksOfCompletion(body);
	const events = usage === null ? chunks : [...chunks, { ...chunks[0], choices: [], usage: usageObject(usage) }];
	return events.map((chunk) => ({ text: JSON.stringify(chunk), body: chunk, frame: null, written: "", piece: "" }));
}

function usageObject({ promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens }: TokenUsage): object {
	return {
		prompt_tokens: promptTokens,
		completion_tokens: completionTokens,
		total_tokens: promptTokens + completionTokens,
		prompt_tokens_details: { cached_tokens: cachedTokens, cache_creation_input_tokens: cacheWriteTokens },
		completion_tokens_details: { reasoning_tokens: reasoningTokens },
	};
}

function nothing(): void {}
