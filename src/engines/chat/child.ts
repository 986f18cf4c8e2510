/** The chat engine's own process: loads the model, serves the API on the loopback interface. */
import { endNow, serveParent } from "../child-side.ts";
import { parseChildInit } from "./child-init.ts";
import { Lanes } from "./lanes.ts";
import { LanguageModel } from "./language-model.ts";
import { serveOpenAi } from "./openai-server.ts";

/** Native code that gives no token for this long while requests run will not give one any more. */
const STALL_MS = 180_000;

let lanes: Lanes<LanguageModel["sequences"][number]> | undefined;
let lastTokenAt = performance.now();

serveParent({
	async start(message) {
		const init = parseChildInit(message);
		const model = await LanguageModel.load({
			path: init.modelPath,
			threads: init.threads,
			contextTokens: init.contextTokens,
			// One more for a caller that has none under way, whatever the others ask.
			sequences: init.parallel + 1,
		});
		lanes = new Lanes(model.sequences, init.queue);
		const port = serveOpenAi({
			model,
			modelId: init.modelId,
			lanes,
			secret: init.secret,
			sealingKey: init.sealingKey,
			defaultMaxTokens: init.defaultMaxTokens,
			onToken: () => {
				lastTokenAt = performance.now();
			},
		});
		return { port, contextTokens: model.contextTokens };
	},
	busy: () => lanes?.busy ?? false,
});

setInterval(() => {
	if (!lanes?.busy) lastTokenAt = performance.now();
	else if (performance.now() - lastTokenAt > STALL_MS) endNow();
}, 1_000);
