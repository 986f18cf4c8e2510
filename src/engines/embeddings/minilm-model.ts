/**
 * The loaded model: returns a text's vector as all-MiniLM-L6-v2's card defines it: the mean of the last layer's rows,
 * normalised to length 1. The only file that uses onnxruntime and the tokenizer. Import it from the child only.
 */
import { readFile } from "node:fs/promises";
import { Tokenizer } from "@huggingface/tokenizers";
import { InferenceSession, Tensor } from "onnxruntime-node";

/** The number of dimensions of a vector. */
export const EMBEDDED_DIMENSIONS = 384;
/** The model's number of positions, including its two special tokens; it was trained on texts of up to 256. */
export const EMBEDDED_MAX_TOKENS = 512;

export class MiniLmModel {
	readonly #session: InferenceSession;
	readonly #tokenizer: Tokenizer;

	private constructor(session: InferenceSession, tokenizer: Tokenizer) {
		this.#session = session;
		this.#tokenizer = tokenizer;
	}

	static async load(
		paths: { readonly modelPath: string; readonly tokenizerPath: string },
		threads: number,
	): Promise<MiniLmModel> {
		const settings = JSON.parse(await readFile(paths.tokenizerPath, "utf8")) as object;
		const session = await InferenceSession.create(paths.modelPath, {
			executionProviders: ["cpu"],
			intraOpNumThreads: threads,
			interOpNumThreads: 1,
			executionMode: "sequential",
			graphOptimizationLevel: "all",
			logSeverityLevel: 3,
		});
		return new MiniLmModel(session, new Tokenizer(settings, {}));
	}

	/** Returns the numbers of a text's tokens, including the special tokens. */
	tokensOf(text: string): number[] {
		// The model's original tokenizer has no final sigma.
		return this.#tokenizer.encode(text.replaceAll("Σ", "σ")).ids;
	}

	/**
	 * Embeds one text at a time: the weights are quantised by the input's range, so in a batch the same text would get a slightly
	 * different vector.
	 */
	async embed(tokens: readonly number[]): Promise<Float32Array> {
		const shape = [1, tokens.length];
		const feeds = {
			input_ids: new Tensor("int64", BigInt64Array.from(tokens, BigInt), shape),
			attention_mask: new Tensor("int64", new BigInt64Array(tokens.length).fill(1n), shape),
			token_type_ids: new Tensor("int64", new BigInt64Array(tokens.length), shape),
		};
		const { last_hidden_state: rows } = await this.#session.run(feeds);
		if (!(rows?.data instanceof Float32Array)) throw new Error("the model gave no rows");
		return unit(sumOfRows(rows.data));
	}
}

/** The sum has the mean's direction, and only the direction counts. */
function sumOfRows(rows: Float32Array): Float32Array {
	const sum = new Float32Array(EMBEDDED_DIMENSIONS);
	for (let at = 0; at < rows.length; at += EMBEDDED_DIMENSIONS)
		for (let index = 0; index < EMBEDDED_DIMENSIONS; index++) sum[index] = (sum[index] ?? 0) + (rows[at + index] ?? 0);
	return sum;
}

function unit(vector: Float32Array): Float32Array {
	let squares = 0;
	for (const value of vector) squares += value * value;
	const length = Math.sqrt(squares) || 1;
	return vector.map((value) => value / length);
}
