import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import { EMBEDDED_SPEECH_MODEL, type EmbeddedSpeech } from "./embedded-speech.ts";

const MEND = "npm install, then npx --no turnpike doctor once more; or speech: {embedded: {enabled: false}}";

/** Checks the speech engine for `turnpike doctor`: if its weights are present, it starts the engine and speaks a word. */
export async function checkSpeechEngine(engine: EmbeddedSpeech): Promise<Finding> {
	const name = "speech engine";
	const state = await engine.state();
	// The files are fetched at the first request.
	if (state.state === "offline") return notice(name, state.text, `npx --no turnpike models pull ${EMBEDDED_SPEECH_MODEL}`);
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
		return ok(name, `speaks after ${Math.round(performance.now() - startedAt)} ms, ${rssMb} MB of memory`);
	} catch (error) {
		return fault(name, error instanceof Error ? error.message : String(error), MEND);
	}
}
