/**
 * POST /embeddings: one vector for each text in its order, or an error without a charge. A text that is too long for
 * the model is refused, never cut. Texts are never logged or stored.
 */
import { hasFreeModel } from "../../catalog/index.ts";
import { type Endpoint, metered } from "../../server/endpoint.ts";
import { admitEmbeddings } from "./admit.ts";
import type { EmbeddingsDeps } from "./deps.ts";
import { EmbeddingsAnswerSchema, type EmbeddingsBody, EmbeddingsBodySchema } from "./schema.ts";

const MAX_BODY_BYTES = 16_777_216;

export function embeddings(deps: EmbeddingsDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/embeddings",
		name: "embeddings",
		tag: "Embeddings",
		summary: "Embed texts",
		description: "Up to 2048 texts. The price is by their tokens.",
		openAi: true,
		callers: ["key", "wallet"],
		body: { schema: EmbeddingsBodySchema, maxBytes: MAX_BODY_BYTES },
		codes: ["INVALID_MODEL", "MODEL_NOT_FOUND", "TOO_MANY_TOKENS", "INFERENCE_FAILED", "MODEL_OFFLINE"],
		answer: { type: "application/json", schema: EmbeddingsAnswerSchema, description: "The vectors, in the order of the texts" },
		mayBeFree: () => hasFreeModel(deps.catalog(), "embedding"),
		minuteWindow: () => ({ subject: null, limit: { requestsPerMinute: deps.config().limits.embeddingRequestsPerMinute } }),
		admit: (input, call) => admitEmbeddings({ ...input, body: input.body as EmbeddingsBody }, call, deps),
	});
}

export type { EmbeddingsDeps } from "./deps.ts";
