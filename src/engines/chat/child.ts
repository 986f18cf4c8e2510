/** The chat engine's own process: loads the model, and serves the API on the loopback interface. */
import { endNow, serveParent } from "../child-side.ts";
import { ownCpuMs, WorkMeter } from "../work-meter.ts";
import { parseChildInit } from "./child-init.ts";
import { LanguageModel } from "./language-model.ts";
import { serveOpenAi } from "./openai-server.ts";
import { SequencePool } from "./sequence-pool.ts";

/** Native code that works this long on requests without a token is considered stuck. Processor time (`WorkMeter`). */
const SILENT_LIMIT_MS = 180_000;

let lanes: SequencePool<LanguageModel["sequences"][number]> | undefined;
/** Work since the last token; null if no request runs, or a token has just come. */
let silence: WorkMeter | null = null;

serveParent({
	async start(message) {
		const init = parseChildInit(message);
		const model = await LanguageModel.load({
			path: init.modelPath,
			threads: init.threads,
			contextTokens: init.contextTokens,
			// One extra sequence for a caller without a running request, whatever the load.
			sequences: init.parallel + 1,
		});
		lanes = new SequencePool(model.sequences, init.queue);
		const port = serveOpenAi({
			model,
			modelId: init.modelId,
			lanes,
			secret: init.secret,
			sealingKey: init.sealingKey,
			defaultMaxTokens: init.defaultMaxTokens,
			onToken: () => {
				silence = null;
			},
		});
		return { port, contextTokens: model.contextTokens };
	},
	busy: () => lanes?.busy ?? false,
});

setInterval(() => {
	if (!lanes?.busy) {
		silence = null;
		return;
	}
	silence ??= new WorkMeter(SILENT_LIMIT_MS, performance.now(), ownCpuMs());
	if (silence.look(performance.now(), ownCpuMs()) !== null) endNow();
}, 1_000);
