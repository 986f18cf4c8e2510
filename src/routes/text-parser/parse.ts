import type { Budgets, HoldContext } from "../../budgets/port.ts";
import { callPrice, unitsNano } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import type { DocumentReader } from "../../engines/documents/port.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { type Admission, type Answer, type Input, json, type Settlement } from "../../server/endpoint.ts";
import { IDLE_TIMEOUT_SECONDS } from "../../server/idle-timeout.ts";
import type { TextParserBody } from "./schema.ts";

/** What the text parser works with: handed in once; functions where a reload changes the answer. */
export interface TextParserParts {
	readonly budgets: Budgets;
	readonly documents: DocumentReader;
	readonly countTokens: (text: string) => Promise<number>;
	readonly config: () => Config;
}

const WINDOW = "text-parser";
/** The status that a post records when the caller had left. */
const CLIENT_LEFT = 499;

/** One file: held at its price, read, and posted where it gave a text. */
export function admitFile({ body, file }: Input<TextParserBody, unknown>, call: Call, parts: TextParserParts): Admission {
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	if (file === null) throw invalidField(["file"], "is required: the document, as a file");
	const { documents, limits } = parts.config();
	const picoPrice = callPrice(documents.pricePerFileUsd);
	return {
		model: null,
		rate: { subject: WINDOW, limit: { requestsPerMinute: limits.augmentRequestsPerMinute }, promptTokens: 0 },
		hold: (context: HoldContext) => parts.budgets.hold(caller, context, unitsNano(1, picoPrice)),
		async work(settlement) {
			call.setIdleTimeout(0);
			try {
				const text = await parts.documents.read(file.bytes, file.name, call.signal);
				const answer = await answerWith(text, body.response_format ?? "json", parts);
				post(settlement, picoPrice, call.signal.aborted ? CLIENT_LEFT : 200);
				return answer;
			} finally {
				call.setIdleTimeout(IDLE_TIMEOUT_SECONDS);
			}
		},
	};
}

async function answerWith(text: string, format: "json" | "text", { countTokens }: TextParserParts): Promise<Answer> {
	if (format === "text") return { status: 200, type: "text/plain; charset=utf-8", body: text };
	return json({ text, tokens: await countTokens(text) });
}

function post(settlement: Settlement, picoPrice: ReturnType<typeof callPrice>, status: number): void {
	const posted = settlement.post({
		lines: [{ sku: "text-parser-file", units: 1, picoPrice }],
		usage: null,
		status,
		upstream: null,
	});
	if (posted === null) throw new ApiError("UNKNOWN_ERROR", { cause: new Error("a file was settled twice") });
}
