import type { EngineCheck } from "../engine-check.ts";
import type { EmbeddedEmbeddings } from "./embedded-embeddings.ts";

/** The embedding engine for `turnpike doctor`: starts it where its weights are there, and has it read a text. */
export async function checkEmbeddingEngine(engine: EmbeddedEmbeddings): Promise<EngineCheck> {
	const name = "embedding engine";
	const missing = await engine.missing();
	// Its files are fetched at the first request.
	if (missing !== null) return { name, ok: true, text: missing };
	const startedAt = performance.now();
	try {
		await engine.embed(["ready"], { tenant: "doctor", signal: AbortSignal.timeout(60_000) });
		return { name, ok: true, text: `gives a vector after ${Math.round(performance.now() - startedAt)} ms` };
	} catch (fault) {
		return { name, ok: false, text: fault instanceof Error ? fault.message : String(fault) };
	}
}
