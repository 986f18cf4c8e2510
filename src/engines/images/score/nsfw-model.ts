/** The loaded model: scores how likely a view is adult content. Import it from the child only. */
import { InferenceSession, Tensor } from "onnxruntime-node";
import { VIEW_BYTES, VIEW_SIDE } from "./child-work.ts";

/** The mean colour of the model's training images: blue, green, red. */
const MEANS = [104, 117, 123] as const;

export class NsfwModel {
	readonly #session: InferenceSession;
	readonly #input: string;
	readonly #output: string;

	private constructor(session: InferenceSession, input: string, output: string) {
		this.#session = session;
		this.#input = input;
		this.#output = output;
	}

	static async load(path: string): Promise<NsfwModel> {
		const session = await InferenceSession.create(path, {
			executionProviders: ["cpu"],
			intraOpNumThreads: 1,
			interOpNumThreads: 1,
			executionMode: "sequential",
			graphOptimizationLevel: "all",
			logSeverityLevel: 3,
		});
		const [input] = session.inputNames;
		const [output] = session.outputNames;
		if (input === undefined || output === undefined) throw new Error("the model has no input or no output");
		return new NsfwModel(session, input, output);
	}

	/**
	 * Scores views.
	 * @param views of `VIEW_BYTES`, one after the other
	 * @returns 0 to 1 for each
	 */
	async score(views: Uint8Array): Promise<number[]> {
		const scores: number[] = [];
		for (let at = 0; at + VIEW_BYTES <= views.length; at += VIEW_BYTES)
			scores.push(await this.#scoreOf(views.subarray(at, at + VIEW_BYTES)));
		return scores;
	}

	async #scoreOf(view: Uint8Array): Promise<number> {
		const tensor = new Tensor("float32", bgrLessMeans(view), [1, VIEW_SIDE, VIEW_SIDE, 3]);
		const { [this.#output]: output } = await this.#session.run({ [this.#input]: tensor });
		// There are two classes: safe for work, and not.
		const score = output?.data[1];
		if (typeof score !== "number") throw new Error("the model gave no score");
		return score;
	}
}

function bgrLessMeans(rgb: Uint8Array): Float32Array {
	const bgr = new Float32Array(rgb.length);
	for (let at = 0; at < rgb.length; at += 3)
		for (const [channel, mean] of MEANS.entries()) bgr[at + channel] = (rgb[at + 2 - channel] ?? 0) - mean;
	return bgr;
}
