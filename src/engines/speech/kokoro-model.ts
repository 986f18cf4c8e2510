/** The loaded model: turns symbols into sound. The only file that uses onnxruntime. Import it from the child only. */
import { InferenceSession, Tensor } from "onnxruntime-node";
import { tokensOf } from "./kokoro-vocabulary.ts";

/** The length of a style vector; a voice has one style for each text length, from one symbol on. */
const STYLE_SIZE = 256;

export class KokoroModel {
	readonly #session: InferenceSession;

	private constructor(session: InferenceSession) {
		this.#session = session;
	}

	static async load(path: string, threads: number): Promise<KokoroModel> {
		const session = await InferenceSession.create(path, {
			executionProviders: ["cpu"],
			intraOpNumThreads: threads,
			interOpNumThreads: 1,
			executionMode: "sequential",
			graphOptimizationLevel: "all",
			logSeverityLevel: 3,
		});
		return new KokoroModel(session);
	}

	/**
	 * Speaks phonemes.
	 * @param phonemes known symbols, at most `MAX_TOKENS`
	 * @param voice the styles of a voice, one after the other
	 * @returns samples at 24 kHz, -1 to 1
	 */
	async speak(phonemes: string, voice: Float32Array, speed: number): Promise<Float32Array> {
		const tokens = tokensOf(phonemes);
		const symbols = tokens.length - 2;
		const styles = voice.length / STYLE_SIZE;
		const at = Math.min(Math.max(symbols, 1), styles) - 1;
		const feeds = {
			tokens: new Tensor("int64", tokens, [1, tokens.length]),
			style: new Tensor("float32", voice.slice(at * STYLE_SIZE, (at + 1) * STYLE_SIZE), [1, STYLE_SIZE]),
			speed: new Tensor("float32", Float32Array.of(speed), [1]),
		};
		const { audio } = await this.#session.run(feeds);
		if (!(audio?.data instanceof Float32Array)) throw new Error("the model gave no audio");
		return audio.data;
	}
}
