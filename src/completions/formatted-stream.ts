import type { TokenUsage } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import { isRecord } from "../schema/is-record.ts";
import type { ChatEvent, ChatStream, EventBatch, UnaryAnswer } from "../upstreams/port.ts";
import { wholeBody } from "./whole-body.ts";

/**
 * A whole answer as a stream: what has to be checked before it goes out can only go out at once. `ask` is aborted
 * by its signal.
 */
export class FormattedStream implements ChatStream {
	readonly headers: Promise<void>;
	readonly opened: Promise<EventBatch>;
	readonly #controller = new AbortController();
	#answer: UnaryAnswer | null = null;
	#cancelled: ApiError | null = null;

	constructor(ask: (signal: AbortSignal) => Promise<UnaryAnswer>, left: AbortSignal) {
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

/** The deltas of an answer in OpenAI's order: role, thoughts, text, calls, the end, usage. */
function eventsOf({ body, usage }: UnaryAnswer): ChatEvent[] {
	const { choices, usage: _, ...head } = body;
	const event = (members: Record<string, unknown>): ChatEvent => {
		const chunk = { ...head, object: "chat.completion.chunk", ...members };
		return { text: JSON.stringify(chunk), body: chunk, frame: null, written: "", said: "" };
	};
	const events = (Array.isArray(choices) ? choices : []).flatMap((choice: unknown) => {
		const { message, ...rest } = isRecord(choice) ? choice : {};
		const deltas = isRecord(message) ? deltasOf(message) : [];
		const end = { ...rest, delta: {}, finish_reason: rest.finish_reason ?? "stop" };
		return [...deltas.map((delta) => ({ index: rest.index ?? 0, delta, logprobs: null, finish_reason: null })), end].map((one) =>
			event({ choices: [one] }),
		);
	});
	if (usage !== null) {
		const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
		const told = {
			prompt_tokens: promptTokens,
			completion_tokens: completionTokens,
			total_tokens: promptTokens + completionTokens,
			prompt_tokens_details: { cached_tokens: cachedTokens, cache_creation_input_tokens: cacheWriteTokens },
			completion_tokens_details: { reasoning_tokens: reasoningTokens },
		};
		events.push(event({ choices: [], usage: told }));
	}
	return events;
}

function deltasOf({ role, content, tool_calls: calls, ...rest }: Record<string, unknown>): Record<string, unknown>[] {
	const deltas: Record<string, unknown>[] = [{ role: role ?? "assistant", content: "" }];
	for (const [key, value] of Object.entries(rest)) if (value !== null && value !== undefined) deltas.push({ [key]: value });
	if (content !== null && content !== undefined && content !== "") deltas.push({ content });
	if (Array.isArray(calls) && calls.length > 0)
		deltas.push({ tool_calls: calls.map((call: unknown, index) => (isRecord(call) ? { ...call, index } : call)) });
	return deltas;
}

function nothing(): void {}
