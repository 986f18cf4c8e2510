/** The process of the adult-content model. It receives pixels only: callers' data is decoded elsewhere. */
import { serveParent } from "../../child-side.ts";
import type { ScoreJob, ScoreStart } from "./child-work.ts";
import { NsfwModel } from "./nsfw-model.ts";

let model: NsfwModel | undefined;
let working = false;

serveParent({
	async start(init) {
		model = await NsfwModel.load((init as ScoreStart).modelPath);
		return null;
	},
	async work(work) {
		const { id, views } = work as ScoreJob;
		working = true;
		try {
			return { id, scores: (await model?.score(views)) ?? [] };
		} finally {
			working = false;
		}
	},
	busy: () => working,
});
