import type { TokenUsage } from "../../journal/records.ts";
import { isRecord } from "../../schema/is-record.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the token usage of a chat completion or chunk, in any of the spellings that servers use: OpenAI
 * (`prompt_tokens`, `*_details`), DeepSeek (`prompt_cache_hit_tokens`), Anthropic's names (`input_tokens`,
 * `cache_read_input_tokens`, `cache_creation_input_tokens`), OpenRouter (`cache_write_tokens`), Groq (`x_groq.usage`),
 * Ollama (`prompt_eval_count`, `eval_count`). null if there is none, or if it counts no tokens at all: a prompt
 * has at least one. Cached and cache-write tokens are parts of the prompt and never exceed it. Thinking is part of the
 * output, even where a server counts it only in `total_tokens`.
 */
export function usageOf(body: Fields): TokenUsage | null {
	const usage = fields(body.usage) ?? fields(fields(body.x_groq)?.usage) ?? choiceUsage(body.choices) ?? ollamaFields(body);
	return usage ? tokenUsageOf(usage) : null;
}

/** Returns the usage in the choice that ends, where Moonshot reports it. */
export function choiceUsage(choices: unknown): Fields | undefined {
	if (!Array.isArray(choices)) return undefined;
	for (const choice of choices as unknown[]) {
		const usage = isRecord(choice) ? fields(choice.usage) : undefined;
		if (usage !== undefined) return usage;
	}
	return undefined;
}

/** Returns the token usage of a usage object. */
export function tokenUsageOf(usage: Fields): TokenUsage | null {
	if (PROMPT_COUNTS.some((name) => isNegative(usage[name]))) return null;
	const promptDetails = fields(usage.prompt_tokens_details) ?? fields(usage.input_tokens_details) ?? {};
	const completionDetails = fields(usage.completion_tokens_details) ?? fields(usage.output_tokens_details) ?? {};
	const cached = first(
		promptDetails.cached_tokens,
		usage.prompt_cache_hit_tokens,
		usage.cache_read_input_tokens,
		usage.cached_tokens,
	);
	const written = first(
		promptDetails.cache_creation_input_tokens,
		promptDetails.cache_creation_tokens,
		promptDetails.cache_write_tokens,
		usage.cache_creation_input_tokens,
	);
	const reasoning = first(completionDetails.reasoning_tokens, usage.reasoning_tokens);
	const output = first(usage.completion_tokens, usage.output_tokens, usage.eval_count);
	const prompt = first(usage.prompt_tokens, usage.input_tokens, usage.prompt_eval_count);
	const total = count(usage.total_tokens);
	// A total alone does not show which tokens were counted.
	if (prompt + output === 0) return null;
	const { ofPrompt, ofOutput } = unplacedTokens({ prompt, output, total, reasoning, cached: cached + written, usage });
	const promptTokens = prompt + ofPrompt;
	const completion = output + ofOutput;
	const cachedTokens = Math.min(cached, promptTokens);
	return {
		promptTokens,
		completionTokens: completion,
		cachedTokens,
		cacheWriteTokens: Math.min(written, promptTokens - cachedTokens),
		reasoningTokens: Math.min(reasoning, completion),
		counted: false,
	};
}

interface ReportedCounts {
	/** Reported tokens of the prompt and of the output. */
	readonly prompt: number;
	readonly output: number;
	readonly total: number | undefined;
	readonly reasoning: number;
	/** Tokens read from a cache or written to it. */
	readonly cached: number;
	readonly usage: Fields;
}

/** Returns the tokens that are only in the total, split between prompt and output. */
function unplacedTokens({ prompt, output, total, reasoning, cached, usage }: ReportedCounts): {
	ofPrompt: number;
	ofOutput: number;
} {
	// Anthropic counts cached tokens beside the prompt. No part of the prompt exceeds it.
	const namesCaches = "cache_read_input_tokens" in usage || "cache_creation_input_tokens" in usage;
	const cachedBeside = namesCaches && cached > prompt ? cached : 0;
	// Thinking within the output never exceeds it, so a larger count is separate from it.
	const thoughtBeside = reasoning > output ? reasoning : 0;
	if (total === undefined) return { ofPrompt: cachedBeside, ofOutput: thoughtBeside };
	const unplaced = Math.max(0, total - prompt - output);
	if (prompt === 0) return { ofPrompt: unplaced, ofOutput: 0 };
	if (unplaced === 0) return { ofPrompt: cachedBeside, ofOutput: thoughtBeside };
	const isCached = (namesCaches || cached > prompt) && (unplaced === cached || unplaced === cached + reasoning);
	return isCached ? { ofPrompt: cached, ofOutput: unplaced - cached } : { ofPrompt: 0, ofOutput: unplaced };
}

function fields(value: unknown): Fields | undefined {
	return isRecord(value) ? value : undefined;
}

function ollamaFields(body: Fields): Fields | undefined {
	return count(body.prompt_eval_count) !== undefined || count(body.eval_count) !== undefined ? body : undefined;
}

/** Returns the first value that is a count; 0 if none is. */
function first(...values: readonly unknown[]): number {
	for (const value of values) {
		const number = count(value);
		if (number !== undefined) return number;
	}
	return 0;
}

/** More tokens than any context holds are a fault of the server, which would cost money. */
const MAX_TOKENS = 1_000_000_000;

function count(value: unknown): number | undefined {
	if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
	return Math.min(Math.round(value), MAX_TOKENS);
}

const PROMPT_COUNTS = ["prompt_tokens", "input_tokens", "prompt_eval_count"];

/**
 * Returns true for a negative count, which servers report when they do not know; `ChatMeter` then counts the output.
 */
function isNegative(value: unknown): boolean {
	return typeof value === "number" && value < 0;
}
