import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import { EMBEDDED_EMBEDDING_MODEL, type EmbeddedEmbeddings } from "./embedded-embeddings.ts";

const MEND = "npm install, then npx --no turnpike doctor once more; or embeddings: {embedded: {enabled: false}}";

/** Checks the embedding engine for `turnpike doctor`: if its weights are present, it starts the engine and embeds a text. */
export async function checkEmbeddingEngine(engine: EmbeddedEmbeddings): Promise<Finding> {
	const name = "embedding engine";
	const missing = await engine.missing();
	// The files are fetched at the first request.
	if (missing !== null) return notice(name, missing, `npx --no turnpike models pull ${EMBEDDED_EMBEDDING_MODEL}`);
	const startedAt = performance.now();
	try {
		await engine.embed(["ready"], { tenant: "doctor", signal: AbortSignal.timeout(60_000) });
		return ok(name, `gives a vector after ${Math.round(performance.now() - startedAt)} ms`);
	} catch (error) {
		return fault(name, error instanceof Error ? error.message : String(error), MEND);
	}
}
