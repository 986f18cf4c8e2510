import { EMBEDDED } from "../../catalog/index.ts";
import type { EmbeddingModel } from "../../catalog/types.ts";
import { ApiError } from "../../errors/index.ts";

/** No tokenizer in use averages more bytes per token over a whole text. */
const MOST_BYTES_PER_TOKEN = 16;

/**
 * Refuses a text that by our own count exceeds the model's limit. Only texts whose size does not decide are counted.
 * The built-in model counts by itself.
 * @param sizes bytes of each text, whole
 * @throws ApiError TOO_MANY_TOKENS, naming the text
 */
export async function requireShortTexts(
	texts: readonly string[],
	sizes: readonly number[],
	{ embedding: { maxInputTokens }, targets }: EmbeddingModel,
	countTokens: (text: string) => Promise<number>,
): Promise<void> {
	if (maxInputTokens === null || targets.every(({ upstream }) => upstream === EMBEDDED)) return;
	const long = texts.flatMap((text, index) => {
		const bytes = sizes[index] ?? 0;
		return bytes > maxInputTokens ? [{ text, index, atLeast: Math.floor(bytes / MOST_BYTES_PER_TOKEN) }] : [];
	});
	const tooLong = (index: number, tokens: string) => {
		const where = texts.length === 1 ? "The input" : `input[${index}]`;
		const message = `${where} has ${tokens} tokens by our count; the model reads at most ${maxInputTokens}. Send it in parts`;
		return new ApiError("TOO_MANY_TOKENS", { message, param: "input" });
	};
	// Texts that are too long by their bytes are refused before any text is counted.
	for (const { index, atLeast } of long) if (atLeast > maxInputTokens) throw tooLong(index, `at least ${atLeast}`);
	for (const { text, index } of long) {
		const tokens = await countTokens(text);
		if (tokens > maxInputTokens) throw tooLong(index, String(tokens));
	}
}
