import type { ChargeLine, Posted, PostInput, TokenUsage } from "../budgets/port.ts";
import type { TextModel } from "../catalog/types.ts";
import { estimateTokens } from "../engines/tokens/estimate-tokens.ts";
import type { Settlement } from "../server/endpoint.ts";
import { chatLines } from "./charge.ts";
import type { PromptText } from "./prompt-size.ts";
import type { ReceivedOutput } from "./received.ts";

/** Of a model whose context nobody has told us. */
const LARGEST_CONTEXT = 10_000_000;
/** A configured context may be a little less than the server's. */
const COUNTING_SLACK = 1.25;

/** Servers may think beyond the maximum, or not keep to it: by so many tokens for each choice, or so many times. */
const BEYOND_MAX_TOKENS = 4_096;
const TIMES_MAX_TOKENS = 4;

/** What ran for a request before its model was asked: searches, pages, a question to the model. */
export interface EarlierAttempt {
	readonly lines: readonly ChargeLine[];
	/** Of calls of the model; null where there were none. */
	readonly usage: TokenUsage | null;
}

/** The price of each source that an answer tells. */
export interface SourcePrice {
	readonly sku: string;
	readonly picoPrice: ChargeLine["picoPrice"];
	/** Are held, and charged at most. */
	readonly atMost: number;
}

/** What one chat request needs to turn its end into a post. */
export interface ChatMeterDeps {
	readonly model: TextModel;
	readonly settlement: Settlement;
	readonly choices: number;
	/** Output tokens that a choice may have; null: no maximum. Thoughts that a server tells apart do not count. */
	readonly maxTokens: number | null;
	readonly countTokens: (text: string) => Promise<number>;
	/** Text of the prompt, made only when it must be counted, and the tokens that counting it does not see. */
	readonly promptText: () => PromptText;
	readonly promptOverheadTokens: number;
	/** Is paid with the answer, and costs nothing without one. */
	readonly ranBefore?: EarlierAttempt | undefined;
	/** What the sources cost that the model's server finds itself. */
	readonly sources?: SourcePrice | undefined;
}

/**
 * Posts the end of a chat request exactly once: by the upstream's usage where it gave one, else by counting
 * what was sent and received (docs/chat.md).
 */
export class ChatMeter {
	readonly #deps: ChatMeterDeps;
	/** Set as soon as bytes went to an upstream: from then on leaving is billed. */
	sentTo: string | null = null;
	usage: TokenUsage | null = null;
	#before: TokenUsage | null = null;
	#more = "";
	#sources = 0;

	constructor(deps: ChatMeterDeps) {
		this.#deps = deps;
	}

	/**
	 * Notes a call of this request that is over, before the one that is posted at the end. `more`: what stands in the
	 * prompt of the next beside its own.
	 */
	add(usage: TokenUsage, more: string): void {
		this.#more = more;
		this.#before = this.#before === null ? usage : sumOf(this.#before, usage);
	}

	/** True where the usage that is posted is of several calls. */
	get isSum(): boolean {
		return this.#before !== null || (this.#deps.ranBefore?.usage ?? null) !== null;
	}

	/** The usage of one call: the upstream's where it can be, else counted. */
	reportedOrCounted(usage: TokenUsage | null, output: () => ReceivedOutput): TokenUsage | Promise<TokenUsage> {
		return usage !== null && this.#believable(usage) ? usage : this.#count(output());
	}

	/** Posts the calls before, where there were any, and nothing of one that failed. */
	postBefore(status: number): Posted | null {
		if (this.#before === null) return null;
		return this.#postAll(this.#before, status, this.#before.promptTokens);
	}

	/**
	 * Posts what was sent and received: of a whole answer, or (`partial`) of one that was broken off, where usage
	 * may have come before the rest of the words. `atMost` bounds the output tokens of a stream that was ended at
	 * its ceiling. null where it was settled before.
	 */
	async post(output: ReceivedOutput, status: number, end: { partial?: boolean; atMost?: number } = {}): Promise<Posted | null> {
		const told = this.usage !== null && this.#believable(this.usage) ? this.usage : null;
		let usage = told;
		if (usage === null || end.partial === true || usage.promptTokens === 0 || tellsTooFew(usage, output)) {
			const counted = await this.#count(output);
			usage = told === null ? counted : withCounted(told, counted);
		} else if (this.#deps.choices > 1) {
			// Some servers tell the tokens of one choice alone.
			usage = { ...usage, completionTokens: Math.max(usage.completionTokens, await this.#answerTokens(output.text)) };
		}
		if (end.atMost !== undefined) usage = { ...usage, completionTokens: Math.min(usage.completionTokens, Math.ceil(end.atMost)) };
		const rated = Math.max(usage.promptTokens, this.#before?.promptTokens ?? 0);
		this.#sources = output.sources;
		return this.#postAll(this.#before === null ? usage : sumOf(this.#before, usage), status, rated);
	}

	/**
	 * More tokens than the model's context holds, or far more than were asked for, are a fault of the upstream: they would
	 * be the caller's money.
	 */
	#believable(usage: TokenUsage): boolean {
		const { model, choices, maxTokens } = this.#deps;
		const most = model.contextTokens ?? LARGEST_CONTEXT;
		if (usage.promptTokens > most * COUNTING_SLACK || usage.completionTokens > most * choices) return false;
		if (maxTokens === null) return true;
		const largestText = Math.max(maxTokens + BEYOND_MAX_TOKENS, maxTokens * TIMES_MAX_TOKENS) * choices;
		return usage.completionTokens - usage.reasoningTokens <= largestText;
	}

	/** Tokens of what was said; 0 where they can only be estimated. */
	async #answerTokens(text: string): Promise<number> {
		if (text === "") return 0;
		const tokens = await this.#deps.countTokens(text);
		return tokens < estimateTokens(text) ? tokens : 0;
	}

	/** Output tokens so far by our own count; of what is sealed, which cannot be counted, by the cheap measure. */
	async answerTokens(output: ReceivedOutput): Promise<number> {
		const { text } = output;
		return text === "" ? output.tokensAtLeast : (await this.#deps.countTokens(text)) + output.discardedTokens;
	}

	async #count(output: ReceivedOutput): Promise<TokenUsage> {
		const { countTokens, promptText, promptOverheadTokens } = this.#deps;
		const [prompt, completion] = await Promise.all([
			promptText().tokens(countTokens, this.#more),
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

	/** With what ran before. `rated`: the longest prompt of a call, which decides between the model's rates. */
	#postAll(own: TokenUsage, status: number, rated: number): Posted | null {
		const { model, settlement, ranBefore, sources } = this.#deps;
		const before = ranBefore?.usage ?? null;
		const usage = before === null ? own : sumOf(before, own);
		this.usage = usage;
		const lines = [...chatLines(model, usage, Math.max(rated, before?.promptTokens ?? 0)), ...(ranBefore?.lines ?? [])];
		const told = Math.min(this.#sources, sources?.atMost ?? 0);
		if (sources !== undefined && told > 0) lines.push({ sku: sources.sku, units: told, picoPrice: sources.picoPrice });
		const input: PostInput = { lines, usage, status, upstream: this.sentTo };
		return settlement.post(input);
	}
}

/** A token has so many characters at most, but for long runs of the same one. */
const MOST_CHARACTERS = 32;
/** Who tells more than so many has counted. Pictures in a text are many characters of few tokens. */
const FEW_TOKENS = 100;

/** True where more was said than so few tokens can be: the count is missing, or of something else. */
function tellsTooFew({ completionTokens }: TokenUsage, output: ReceivedOutput): boolean {
	return completionTokens < FEW_TOKENS && output.length > completionTokens * MOST_CHARACTERS;
}

/** What was told, where it is not less than what was counted; a prompt has a token at least. */
function withCounted(told: TokenUsage, counted: TokenUsage): TokenUsage {
	return {
		...told,
		promptTokens: told.promptTokens === 0 ? counted.promptTokens : told.promptTokens,
		completionTokens: Math.max(told.completionTokens, counted.completionTokens),
	};
}

function sumOf(one: TokenUsage, other: TokenUsage): TokenUsage {
	return {
		promptTokens: one.promptTokens + other.promptTokens,
		completionTokens: one.completionTokens + other.completionTokens,
		cachedTokens: one.cachedTokens + other.cachedTokens,
		cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
		reasoningTokens: one.reasoningTokens + other.reasoningTokens,
		counted: one.counted || other.counted,
	};
}

/** A usage object in OpenAI's form, of tokens that we counted. */
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
 * The usage object of an answer: the upstream's own where it has OpenAI's three counts and they are paid as they are,
 * else ours beside what it says. `told` is null where we counted, or where several calls were paid for.
 */
export function shownUsage(told: Readonly<Record<string, unknown>> | null, usage: TokenUsage): Record<string, unknown> {
	if (told === null) return countedUsage(usage);
	if (agrees(told, usage)) return publicUsage(told);
	return {
		...publicUsage(told),
		...countedUsage(usage),
		completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
		prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_creation_input_tokens: usage.cacheWriteTokens },
	};
}

/** True where an upstream's usage has OpenAI's three counts, and they are those that are paid. */
export function agrees(told: Readonly<Record<string, unknown>>, { promptTokens, completionTokens }: TokenUsage): boolean {
	const { prompt_tokens, completion_tokens, total_tokens } = told;
	return prompt_tokens === promptTokens && completion_tokens === completionTokens && typeof total_tokens === "number";
}

/** An upstream's usage without what it cost the operator (OpenRouter's form). */
function publicUsage(usage: Readonly<Record<string, unknown>>): Record<string, unknown> {
	const { cost: _cost, cost_details: _details, is_byok: _own, ...rest } = usage;
	return rest;
}

/** The `cost` object of an answer: bundled credit counts as usd, and what the operator bears does not. */
export function costOf(posted: Posted): { usd: number; diem: number } {
	const { usd, diem, expected } = posted;
	return { usd: (usd + expected.usd) / 1e9, diem: (diem + expected.diem) / 1e9 };
}
