import type { ChargeLine, Posted, PostInput, TokenUsage } from "../budgets/port.ts";
import type { TextModel } from "../catalog/types.ts";
import { estimateTokens } from "../engines/tokens/estimate-tokens.ts";
import type { Settlement } from "../server/endpoint.ts";
import { chatLines } from "./charge.ts";
import type { PromptText } from "./prompt-size.ts";
import type { ReceivedOutput } from "./received.ts";

/** Used for a model whose context length is unknown. */
const LARGEST_CONTEXT = 10_000_000;
/** Tolerance: a configured context may be a little below the server's. */
const COUNTING_SLACK = 1.25;

/** Tolerance for servers that exceed the maximum: this many tokens for each choice, or this many times the maximum. */
const BEYOND_MAX_TOKENS = 4_096;
const TIMES_MAX_TOKENS = 4;

/** Work done for a request before its model was called: searches, pages, a question to the model. */
export interface EarlierWork {
	readonly lines: readonly ChargeLine[];
	/** Usage of calls to the model; null if there were none. */
	readonly usage: TokenUsage | null;
}

/** The price of each source that an answer reports. */
export interface SourcePrice {
	readonly sku: string;
	readonly picoPrice: ChargeLine["picoPrice"];
	/** Maximum number of sources held for and charged. */
	readonly atMost: number;
}

/** What the meter of one chat request works with. */
export interface ChatMeterDeps {
	readonly model: TextModel;
	readonly settlement: Settlement;
	readonly choices: number;
	/** Maximum of output tokens of a choice; null: none. Thoughts that a server reports separately do not count. */
	readonly maxTokens: number | null;
	readonly countTokens: (text: string) => Promise<number>;
	/** Returns the text of the prompt. It is called only if tokens must be counted. */
	readonly promptText: () => PromptText;
	readonly promptOverheadTokens: number;
	/** Charged with the answer; costs nothing without one. */
	readonly earlierWork?: EarlierWork | undefined;
	/** The price of sources that the model's server finds itself. */
	readonly sources?: SourcePrice | undefined;
}

/**
 * Posts a chat request exactly once: by the upstream's usage where it reported one, else by counting the tokens sent
 * and received (docs/chat.md).
 */
export class ChatMeter {
	readonly #deps: ChatMeterDeps;
	/** The upstream that was sent the request. From then on a caller that leaves is charged. */
	sentTo: string | null = null;
	usage: TokenUsage | null = null;
	#earlierUsage: TokenUsage | null = null;
	#addedPrompt = "";
	#sources = 0;

	constructor(deps: ChatMeterDeps) {
		this.#deps = deps;
	}

	/**
	 * Records a completed call of this request, before the last one, which is posted at the end.
	 * @param more text that the next prompt has beside its own
	 */
	add(usage: TokenUsage, more: string): void {
		this.#addedPrompt = more;
		this.#earlierUsage = this.#earlierUsage === null ? usage : sumOf(this.#earlierUsage, usage);
	}

	/** True if the posted usage is the sum of several calls. */
	get isSum(): boolean {
		return this.#earlierUsage !== null || (this.#deps.earlierWork?.usage ?? null) !== null;
	}

	/** Returns the usage of one call: the upstream's where it is plausible, else our count. */
	reportedOrCounted(usage: TokenUsage | null, output: () => ReceivedOutput): TokenUsage | Promise<TokenUsage> {
		return usage !== null && this.#isPlausible(usage) ? usage : this.#count(output());
	}

	/** Posts the earlier calls, if any, without the call that failed. */
	postBefore(status: number): Posted | null {
		if (this.#earlierUsage === null) return null;
		return this.#postAll(this.#earlierUsage, status, this.#earlierUsage.promptTokens);
	}

	/**
	 * Posts the tokens sent and received: of a whole answer, or (`partial`) of one cut off, where usage may precede the
	 * rest of the text. `atMost` limits the output tokens of a stream that was ended at its ceiling. Returns null if
	 * the request was settled before.
	 */
	async post(output: ReceivedOutput, status: number, end: { partial?: boolean; atMost?: number } = {}): Promise<Posted | null> {
		const reported = this.usage !== null && this.#isPlausible(this.usage) ? this.usage : null;
		let usage = reported;
		if (usage === null || end.partial === true || usage.promptTokens === 0 || reportsTooFew(usage, output)) {
			const counted = await this.#count(output);
			usage = reported === null ? counted : withCounted(reported, counted);
		} else if (this.#deps.choices > 1) {
			// Some servers report the tokens of one choice only.
			usage = { ...usage, completionTokens: Math.max(usage.completionTokens, await this.#answerTokens(output.text)) };
		}
		if (end.atMost !== undefined) usage = { ...usage, completionTokens: Math.min(usage.completionTokens, Math.ceil(end.atMost)) };
		const rated = Math.max(usage.promptTokens, this.#earlierUsage?.promptTokens ?? 0);
		this.#sources = output.sources;
		return this.#postAll(this.#earlierUsage === null ? usage : sumOf(this.#earlierUsage, usage), status, rated);
	}

	/**
	 * Returns false if the usage exceeds the model's context, or far exceeds the requested maximum: a fault of the
	 * upstream must not cost the caller money.
	 */
	#isPlausible(usage: TokenUsage): boolean {
		const { model, choices, maxTokens } = this.#deps;
		const most = model.contextTokens ?? LARGEST_CONTEXT;
		if (usage.promptTokens > most * COUNTING_SLACK || usage.completionTokens > most * choices) return false;
		if (maxTokens === null) return true;
		const largestText = Math.max(maxTokens + BEYOND_MAX_TOKENS, maxTokens * TIMES_MAX_TOKENS) * choices;
		return usage.completionTokens - usage.reasoningTokens <= largestText;
	}

	/** Counts the tokens of a text; returns 0 if they can only be estimated. */
	async #answerTokens(text: string): Promise<number> {
		if (text === "") return 0;
		const tokens = await this.#deps.countTokens(text);
		return tokens < estimateTokens(text) ? tokens : 0;
	}

	/** Counts the output tokens so far. Sealed output cannot be counted, so the cheap estimate is returned. */
	async answerTokens(output: ReceivedOutput): Promise<number> {
		const { text } = output;
		return text === "" ? output.estimatedTokens : (await this.#deps.countTokens(text)) + output.discardedTokens;
	}

	async #count(output: ReceivedOutput): Promise<TokenUsage> {
		const { countTokens, promptText, promptOverheadTokens } = this.#deps;
		const [prompt, completion] = await Promise.all([
			promptText().tokens(countTokens, this.#addedPrompt),
			output.isEmpty ? 0 : countTokens(output.text),
		]);
		return {
			promptTokens: prompt + promptOverheadTokens,
			completionTokens: completion + output.discardedTokens,
			cachedTokens: 0,
			cacheWriteTokens: 0,
			reasoningTokens: 0,
			counted: true,
		};
	}

	/**
	 * Posts a usage with that of earlier work.
	 * @param rated the longest prompt of a call, which decides between the model's rates
	 */
	#postAll(own: TokenUsage, status: number, rated: number): Posted | null {
		const { model, settlement, earlierWork, sources } = this.#deps;
		const workUsage = earlierWork?.usage ?? null;
		const usage = workUsage === null ? own : sumOf(workUsage, own);
		this.usage = usage;
		const lines = [...chatLines(model, usage, Math.max(rated, workUsage?.promptTokens ?? 0)), ...(earlierWork?.lines ?? [])];
		const reported = Math.min(this.#sources, sources?.atMost ?? 0);
		if (sources !== undefined && reported > 0) lines.push({ sku: sources.sku, units: reported, picoPrice: sources.picoPrice });
		const input: PostInput = { lines, usage, status, upstream: this.sentTo };
		return settlement.post(input);
	}
}

/** Maximum number of characters of a token, except in long runs of one character. */
const MOST_CHARACTERS = 32;
/** A report above this many tokens is trusted to be counted. Pictures in a text are many characters of few tokens. */
const FEW_TOKENS = 100;

/** Returns true if the output is too long for the reported tokens: the count is missing, or of something else. */
function reportsTooFew({ completionTokens }: TokenUsage, output: ReceivedOutput): boolean {
	return completionTokens < FEW_TOKENS && output.length > completionTokens * MOST_CHARACTERS;
}

/** Returns the reported usage, raised to our own count where that is higher; a prompt has at least one token. */
function withCounted(reported: TokenUsage, counted: TokenUsage): TokenUsage {
	return {
		...reported,
		promptTokens: reported.promptTokens === 0 ? counted.promptTokens : reported.promptTokens,
		completionTokens: Math.max(reported.completionTokens, counted.completionTokens),
	};
}

function sumOf(first: TokenUsage, second: TokenUsage): TokenUsage {
	return {
		promptTokens: first.promptTokens + second.promptTokens,
		completionTokens: first.completionTokens + second.completionTokens,
		cachedTokens: first.cachedTokens + second.cachedTokens,
		cacheWriteTokens: first.cacheWriteTokens + second.cacheWriteTokens,
		reasoningTokens: first.reasoningTokens + second.reasoningTokens,
		counted: first.counted || second.counted,
	};
}

/** Returns a usage object in OpenAI's form for tokens that we counted. */
function countedUsage(usage: TokenUsage): Record<string, unknown> {
	return {
		prompt_tokens: usage.promptTokens,
		completion_tokens: usage.completionTokens,
		total_tokens: usage.promptTokens + usage.completionTokens,
		completion_tokens_details: null,
		prompt_tokens_details: null,
	};
}

/**
 * Returns the usage object of an answer: the upstream's own where it has OpenAI's three counts and they are charged
 * unchanged, else our counts beside its other members.
 * @param reported null if we counted, or if several calls were charged
 */
export function shownUsage(reported: Readonly<Record<string, unknown>> | null, usage: TokenUsage): Record<string, unknown> {
	if (reported === null) return countedUsage(usage);
	if (agrees(reported, usage)) return publicUsage(reported);
	return {
		...publicUsage(reported),
		...countedUsage(usage),
		completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
		prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_creation_input_tokens: usage.cacheWriteTokens },
	};
}

/** Returns true if an upstream's usage has OpenAI's three counts, and they equal the charged ones. */
export function agrees(reported: Readonly<Record<string, unknown>>, { promptTokens, completionTokens }: TokenUsage): boolean {
	const { prompt_tokens, completion_tokens, total_tokens } = reported;
	return prompt_tokens === promptTokens && completion_tokens === completionTokens && typeof total_tokens === "number";
}

/** Returns an upstream's usage without its cost to the operator (OpenRouter's form). */
function publicUsage(usage: Readonly<Record<string, unknown>>): Record<string, unknown> {
	const { cost: _cost, cost_details: _details, is_byok: _own, ...rest } = usage;
	return rest;
}

/** Returns the `cost` object of an answer: bundled credit counts as usd; the operator's share does not count. */
export function costOf(posted: Posted): { usd: number; diem: number } {
	const { usd, diem, expected } = posted;
	return { usd: (usd + expected.usd) / 1e9, diem: (diem + expected.diem) / 1e9 };
}
