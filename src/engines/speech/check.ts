import type { EngineCheck } from "../engine-check.ts";
import type { EmbeddedSpeech } from "./embedded-speech.ts";

/** The speech engine for `turnpike doctor`: starts it where its weights are there, and has it say a word. */
export async function checkSpeechEngine(engine: EmbeddedSpeech): Promise<EngineCheck> {
	const name = "speech engine";
	const state = await engine.state();
	// Its files are fetched at the first request.
	if (state.state === "offline") return { name, ok: true, text: state.text };
	const startedAt = performance.now();
	try {
		for await (const _ of engine.synthesize({
			text: "Ready.",
			voice: "af_sky",
			speed: 1,
			tenant: "doctor",
			signal: AbortSignal.timeout(60_000),
		}))
			break;
		const rssMb = Math.round(((await engine.rssBytes()) ?? 0) / 1e6);
		return { name, ok: true, text: `speaks after ${Math.round(performance.now() - startedAt)} ms, ${rssMb} MB of memory` };
	} catch (fault) {
		return { name, ok: false, text: fault instanceof Error ? fault.message : String(fault) };
	}
}
