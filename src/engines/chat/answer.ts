import { randomInt } from "node:crypto";
import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { invalidField } from "../../schema/index.ts";
import { type ChatRequest, contextExceeded } from "./chat-request.ts";
import type { LanguageModel } from "./language-model.ts";
import { StopScanner } from "./stop-scan.ts";
import { TokenText } from "./token-text.ts";

export type FinishReason = "stop" | "length";

/** The end of a choice, without its text. */
export interface ChoiceEnd {
	readonly finishReason: FinishReason;
	readonly completionTokens: number;
}

export interface PreparedChat {
	readonly request: ChatRequest;
	readonly prompt: readonly Token[];
	/** The limit of each choice. */
	readonly maxTokens: number;
	readonly seed: number;
	readonly grammar: ReturnType<LanguageModel["grammar"]> | null;
}

/**
 * Validates the whole request before it takes a lane.
 * @param defaultMaxTokens for a request without a limit
 * @throws {ApiError} TOO_MANY_TOKENS
 */
export function prepareChat(model: LanguageModel, request: ChatRequest, defaultMaxTokens: number): PreparedChat {
	const prompt = model.tokenize(request.prompt);
	// One place of the context always stays free for the model's next token.
	const freeTokens = model.contextTokens - 1 - (prompt?.length ?? Number.POSITIVE_INFINITY);
	if (prompt === null) throw contextExceeded(model.contextTokens + 1, null, model.contextTokens);
	if (freeTokens < (request.maxTokens ?? 1)) throw contextExceeded(prompt.length, request.maxTokens, model.contextTokens);
	return {
		request,
		prompt,
		maxTokens: request.maxTokens ?? Math.min(defaultMaxTokens, freeTokens),
		seed: request.seed ?? randomInt(2 ** 32),
		grammar: request.grammar === null ? null : grammarOf(model, request.grammar),
	};
}

/** Compiles a grammar. The grammar engine refuses rules that only refer to themselves. */
function grammarOf(model: LanguageModel, gbnf: string): ReturnType<LanguageModel["grammar"]> {
	try {
		return model.grammar(gbnf);
	} catch {
		throw invalidField(["response_format", "json_schema"], "this schema cannot be turned into a grammar");
	}
}

/** Returns true if the caller expects the same answer every time: then nothing of earlier requests may be reused. */
function wantsRepeatable({ seed, sampling }: ChatRequest): boolean {
	return seed !== null || sampling.temperature === 0;
}

export interface ChoiceRun {
	readonly index: number;
	readonly signal: AbortSignal;
	/** Receives new text, never empty, never part of a stop string. */
	onText(text: string): Promise<void>;
	/** After each token. */
	onToken(): void;
}

/** Writes one choice of an answer. Throws the signal's reason if the caller leaves. */
export async function writeChoice(
	model: LanguageModel,
	sequence: LlamaContextSequence,
	chat: PreparedChat,
	{ index, signal, onText, onToken }: ChoiceRun,
): Promise<ChoiceEnd> {
	const { request, prompt, maxTokens, grammar } = chat;
	const written: Token[] = [];
	const text = new TokenText<Token>(model.detokenize);
	const scanner = new StopScanner(request.stops);
	const tokens = model.run(sequence, {
		prompt,
		sampling: request.sampling,
		// Each choice has its own seed, otherwise all would be the same.
		seed: (chat.seed + index) % 2 ** 32,
		grammar,
		reuse: index > 0 || !wantsRepeatable(request),
		written,
		signal,
	});
	const give = async (piece: string) => {
		if (piece !== "") await onText(piece);
	};
	for await (const token of tokens) {
		signal.throwIfAborted();
		onToken();
		written.push(token);
		if (request.stopTokens.includes(token)) return { finishReason: "stop", completionTokens: written.length };
		const { text: ready, stopped } = scanner.push(text.push(token));
		await give(ready);
		if (stopped) return { finishReason: "stop", completionTokens: written.length };
		if (written.length >= maxTokens) {
			await give(scanner.push(text.end()).text + scanner.end());
			return { finishReason: "length", completionTokens: written.length };
		}
	}
	signal.throwIfAborted();
	const last = scanner.push(text.end());
	await give(last.stopped ? last.text : last.text + scanner.end());
	// The token that ended the answer counts, as on other servers.
	return { finishReason: "stop", completionTokens: written.length + 1 };
}
