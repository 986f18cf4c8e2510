/** The loaded model: tokenises text, and generates text token by token. The only file that uses node-llama-cpp. */
import {
	getLlama,
	type Llama,
	type LlamaContext,
	type LlamaContextSequence,
	LlamaGrammar,
	LlamaGrammarEvaluationState,
	LlamaLogLevel,
	type LlamaModel,
	type Token,
} from "node-llama-cpp";
import type { Sampling } from "./chat-request.ts";
import { isChatMl, type PromptPiece } from "./chat-template.ts";

export interface ModelOptions {
	readonly path: string;
	readonly threads: number;
	/** Tokens of each sequence. */
	readonly contextTokens: number;
	readonly sequences: number;
}

/** Tokens of one batch; it bounds how long other requests, and an abort, wait for a long prompt. */
const BATCH_TOKENS = 256;
/** The number of recent tokens of an answer to which penalties apply. */
const PENALTY_TOKENS = 512;

export interface TokenRun {
	readonly prompt: readonly Token[];
	readonly sampling: Sampling;
	readonly seed: number;
	readonly grammar: LlamaGrammar | null;
	/** False: the answer depends on this run only, to the last bit. */
	readonly reuse: boolean;
	/** Tokens generated so far, to which the model applies penalties. */
	readonly written: readonly Token[];
	readonly signal: AbortSignal;
}

export class LanguageModel {
	readonly contextTokens: number;
	readonly sequences: readonly LlamaContextSequence[];
	readonly #llama: Llama;
	readonly #model: LlamaModel;
	readonly #longestTokenBytes: number;

	private constructor(llama: Llama, model: LlamaModel, context: LlamaContext) {
		this.#llama = llama;
		this.#model = model;
		this.contextTokens = context.contextSize;
		this.sequences = Array.from({ length: context.totalSequences }, () => context.getSequence());
		this.#longestTokenBytes = longestTokenBytes(model);
	}

	static async load(options: ModelOptions): Promise<LanguageModel> {
		const llama = await getLlama({
			gpu: false,
			build: "never",
			maxThreads: options.threads,
			logLevel: LlamaLogLevel.error,
		});
		const model = await llama.loadModel({ modelPath: options.path });
		const template = model.fileInfo.metadata.tokenizer.chat_template;
		if (!isChatMl(template)) throw new Error("the model's chat template is not ChatML");
		const context = await model.createContext({
			sequences: options.sequences,
			contextSize: Math.min(options.contextTokens, model.trainContextSize),
			batchSize: BATCH_TOKENS,
			threads: options.threads,
			// One sequence a batch: sums in a shared batch round differently, so an answer would depend on concurrent requests. It
			// costs nothing: a batch of several is no faster on these CPUs.
			batching: {
				itemPrioritizationStrategy: ({ items, size }) => {
					const [item] = items;
					return item ? [{ item, processAmount: Math.min(item.tokens.length, size) }] : [];
				},
			},
		});
		return new LanguageModel(llama, model, context);
	}

	/** Returns the tokens of a prompt; null if its length already shows that it cannot fit. */
	tokenize(pieces: readonly PromptPiece[]): Token[] | null {
		const bytes = pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
		if (bytes > this.contextTokens * this.#longestTokenBytes) return null;
		return pieces.flatMap(({ text, control }) => this.#model.tokenize(text, control));
	}

	readonly detokenize = (tokens: Token[]): string => this.#model.detokenize(tokens);

	/**
	 * Compiles a grammar.
	 * @throws {Error} if the text is not a grammar
	 */
	grammar(gbnf: string): LlamaGrammar {
		return new LlamaGrammar(this.#llama, { grammar: gbnf });
	}

	/** Returns how many tokens of a prompt a sequence already holds in memory. */
	known(sequence: LlamaContextSequence, prompt: readonly Token[]): number {
		const tokens = sequence.contextTokens;
		let same = 0;
		while (same < tokens.length && same < prompt.length && tokens[same] === prompt[same]) same += 1;
		return same;
	}

	/** Generates the answer's tokens until the model ends it. A reader that stops earlier costs no further token. */
	async *run(sequence: LlamaContextSequence, run: TokenRun): AsyncGenerator<Token, void> {
		// At least the last token has to be evaluated again, because the next one follows from it.
		const head = run.prompt.slice(0, -1);
		if (run.reuse) await keepOnly(sequence, head);
		else await sequence.clearHistory();
		const { sampling } = run;
		const punish = sampling.frequencyPenalty !== 0 || sampling.presencePenalty !== 0 || sampling.repetitionPenalty !== 1;
		const rest = run.prompt.slice(sequence.nextTokenIndex);
		// Evaluates in batches, so that an abort does not wait for the whole prompt.
		while (rest.length > BATCH_TOKENS) {
			run.signal.throwIfAborted();
			await sequence.evaluateWithoutGeneratingNewTokens(rest.splice(0, BATCH_TOKENS));
		}
		run.signal.throwIfAborted();
		yield* sequence.evaluate(rest, {
			temperature: sampling.temperature,
			topP: sampling.topP,
			topK: sampling.topK,
			minP: sampling.minP,
			seed: run.seed,
			...(run.grammar
				? { grammarEvaluationState: new LlamaGrammarEvaluationState({ model: this.#model, grammar: run.grammar }) }
				: {}),
			...(punish
				? {
						repeatPenalty: {
							punishTokens: () => run.written.slice(-PENALTY_TOKENS),
							maxPunishTokens: PENALTY_TOKENS,
							penalty: sampling.repetitionPenalty,
							frequencyPenalty: sampling.frequencyPenalty,
							presencePenalty: sampling.presencePenalty,
						},
					}
				: {}),
		});
	}
}

/** Reduces the sequence's memory to a prefix of these tokens, and removes what it generated after them. */
async function keepOnly(sequence: LlamaContextSequence, tokens: Token[]): Promise<void> {
	await sequence.adaptStateToTokens(tokens);
	const end = sequence.nextTokenIndex;
	if (end > tokens.length) await sequence.eraseContextTokenRanges([{ start: tokens.length, end }]);
}

function longestTokenBytes(model: LlamaModel): number {
	let longest = 1;
	for (const token of model.iterateAllTokens()) longest = Math.max(longest, Buffer.byteLength(model.detokenize([token], true)));
	return longest;
}
