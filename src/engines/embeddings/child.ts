/** The embedding model's own process. */
import { serveParent } from "../child-side.ts";
import type { ChildStart, EmbedDone, EmbedJob } from "./child-work.ts";
import { EMBEDDED_DIMENSIONS, EMBEDDED_MAX_TOKENS, MiniLmModel } from "./minilm-model.ts";

let model: MiniLmModel | undefined;
let working = false;

async function embed({ id, texts }: EmbedJob): Promise<EmbedDone> {
	if (model === undefined) throw new Error("not started yet");
	const read = texts.map((text) => model?.tokensOf(text) ?? []);
	const index = read.findIndex(({ length }) => length > EMBEDDED_MAX_TOKENS);
	if (index >= 0) return { id, tooLong: { index, tokens: read[index]?.length ?? 0 } };
	const vectors = new Float32Array(texts.length * EMBEDDED_DIMENSIONS);
	for (const [at, tokens] of read.entries()) vectors.set(await model.embed(tokens), at * EMBEDDED_DIMENSIONS);
	const tokens = read.reduce((sum, { length }) => sum + length, 0);
	return { id, vectors: new Uint8Array(vectors.buffer), tokens };
}

serveParent({
	async start(message) {
		const { threads, ...paths } = message as ChildStart;
		model = await MiniLmModel.load(paths, threads);
		return null;
	},
	async work(message) {
		working = true;
		try {
			return await embed(message as EmbedJob);
		} finally {
			working = false;
		}
	},
	busy: () => working,
});
