import type { Budgets } from "../../budgets/port.ts";
import { callPrice, unitsNano } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import type { DocumentReader } from "../../engines/documents/port.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { type Admission, type Answer, type Input, largeJson } from "../../server/endpoint.ts";
import { flatPriced } from "../../server/flat-price.ts";
import type { TextParserBody } from "./schema.ts";

/** The dependencies of the text parser. They are functions if a reload changes the result. */
export interface TextParserDeps {
	readonly budgets: Budgets;
	readonly documents: DocumentReader;
	readonly countTokens: (text: string, tenant: string) => Promise<number>;
	readonly config: () => Config;
}

const WINDOW = "text-parser";

/** Admits one file. Its price is held, the file is read, and the price is posted if there is a text. */
export function admitFile({ body, file }: Input<TextParserBody, unknown>, call: Call, parts: TextParserDeps): Admission {
	if (file === null) throw invalidField(["file"], "is required: the document, as a file");
	const { documents, limits } = parts.config();
	const picoPrice = callPrice(documents.pricePerFileUsd);
	return flatPriced(call, {
		budgets: parts.budgets,
		window: WINDOW,
		requestsPerMinute: limits.augmentRequestsPerMinute,
		line: { sku: "text-parser-file", units: 1, picoPrice },
		priceNano: unitsNano(1, picoPrice),
		async work() {
			const text = await parts.documents.read(file.bytes, file.name, call);
			return answerWith(text, body.response_format ?? "json", (counted) => parts.countTokens(counted, call.tenant));
		},
	});
}

async function answerWith(
	text: string,
	format: "json" | "text",
	countTokens: (text: string) => Promise<number>,
): Promise<Answer> {
	if (format === "text") return { status: 200, type: "text/plain; charset=utf-8", body: text };
	return largeJson({ text, tokens: await countTokens(text) });
}
