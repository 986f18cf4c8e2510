import type { TokenUsage } from "../journal/records.ts";
import { isRecord } from "../schema/is-record.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Token usage of a chat completion or a chunk of one, in any of the spellings that servers use: OpenAI
 * (`prompt_tokens`, `*_details`), DeepSeek (`prompt_cache_hit_tokens`), Anthropic's names
 * (`input_tokens`, `cache_read_input_tokens`, `cache_creation_input_tokens`), OpenRouter
 * (`cache_write_tokens`), Groq (`x_groq.usage`), Ollama (`prompt_eval_count`, `eval_count`).
 * null where there is none, or where it counts no tokens at all: a prompt has at least one.
 * Cached and cache-write tokens are parts of the prompt and never pass it.
 */
export function usageOf(body: Fields): TokenUsage | null {
	const usage = fields(body.usage) ?? fields(fields(body.x_groq)?.usage) ?? ollamaFields(body);
	return usage ? tokenUsageOf(usage) : null;
}

/** The same of a usage object by itself. */
export function tokenUsageOf(usage: Fields): TokenUsage | null {
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
	const total = count(usage.total_tokens) ?? 0;
	const promptTokens = first(usage.prompt_tokens, usage.input_tokens, usage.prompt_eval_count);
	const completion =
		count(usage.completion_tokens) ?? count(usage.output_tokens) ?? count(usage.eval_count) ?? Math.max(0, total - promptTokens);
	if (promptTokens + completion === 0) return null;
	const cachedTokens = Math.min(cached, promptTokens);
	return {
		promptTokens,
		completionTokens: completion,
		cachedTokens,
		cacheWriteTokens: Math.min(written, promptTokens - cachedTokens),
		reasoningTokens: Math.min(first(completionDetails.reasoning_tokens, usage.reasoning_tokens), completion),
		counted: false,
	};
}

function fields(value: unknown): Fields | undefined {
	return isRecord(value) ? value : undefined;
}

function ollamaFields(body: Fields): Fields | undefined {
	return count(body.prompt_eval_count) !== undefined || count(body.eval_count) !== undefined ? body : undefined;
}

/** The first that is a count; 0 where none is. */
function first(...values: readonly unknown[]): number {
	for (const value of values) {
		const number = count(value);
		if (number !== undefined) return number;
	}
	return 0;
}

/** More tokens than any context holds are no usage but a fault of the server: they would be money. */
const MAX_TOKENS = 1_000_000_000;

function count(value: unknown): number | undefined {
	if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
	return Math.min(Math.round(value), MAX_TOKENS);
}
