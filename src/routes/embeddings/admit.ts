import type { HoldContext } from "../../budgets/port.ts";
import { unitsNano } from "../../catalog/index.ts";
import type { EmbeddingModel } from "../../catalog/types.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { recordModel } from "../../server/call-headers.ts";
import type { Admission, Input } from "../../server/endpoint.ts";
import { inTurns } from "../../wire/index.ts";
import type { EmbeddingsDeps } from "./deps.ts";
import { requireShortTexts } from "./input-limit.ts";
import { EmbeddingRun } from "./run.ts";
import type { EmbeddingsBody } from "./schema.ts";

/** Tokens of the marks that a model adds to each text. */
const MARKS_A_TEXT = 4;

/** Checks a request and returns its admission; nothing is sent anywhere yet. */
export async function admitEmbeddings(
	input: Input<EmbeddingsBody, unknown>,
	call: Call,
	deps: EmbeddingsDeps,
): Promise<Admission> {
	const { body, long, raw } = input;
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const catalog = deps.catalog();
	const { model } = catalog.resolve(body.model, "embedding", call.admittedAtMs);
	checkDimensions(body.dimensions, model);
	const texts = typeof body.input === "string" ? [body.input] : body.input;
	const sizes: number[] = [];
	for (const text of texts) sizes.push(await inTurns(long.textBytesOf(text)));
	const bytes = sizes.reduce((sum, size) => sum + size, 0);
	// No tokenizer makes more tokens of a text than it has bytes.
	const mostTokens = bytes + texts.length * MARKS_A_TEXT;
	recordModel(call, model, catalog.deprecationHeaders(model, call.admittedAtMs));
	const { tokenPrice } = model.embedding;
	return {
		model: model.id,
		rate: {
			subject: model.id,
			limit: { requestsPerMinute: deps.config().limits.embeddingRequestsPerMinute },
			promptTokens: 0,
		},
		async hold(context: HoldContext) {
			const count = (text: string) => deps.countTokens(long.textOf(text), call.tenant);
			await requireShortTexts(texts, sizes, model, count);
			return deps.budgets.hold(caller, context, unitsNano(mostTokens, tokenPrice));
		},
		work: (settlement) => new EmbeddingRun({ body, raw, long, texts, bytes, call, settlement, model, mostTokens }, deps).answer(),
	};
}

function checkDimensions(dimensions: number | undefined, { id, embedding }: EmbeddingModel): void {
	if (dimensions === undefined || (!embedding.customDimensions && dimensions === embedding.dimensions)) return;
	if (!embedding.customDimensions)
		throw invalidField(
			["dimensions"],
			`the model ${id} gives ${embedding.dimensions ?? "its own number of"} dimensions and no other`,
		);
	if (embedding.dimensions !== null && dimensions > embedding.dimensions)
		throw invalidField(["dimensions"], `must be at most ${embedding.dimensions}`);
}
