import { isRecord } from "../../schema/is-record.ts";
import { documentStart, inTurns, type JsonMember, lastMember, objectMembersInSteps } from "../../wire/index.ts";
import { type AttemptCall, type AttemptDeps, Attempts } from "../attempts.ts";
import { tokenUsageOf } from "../chat/usage.ts";
import { readWhole } from "../chat/whole-answer.ts";
import { brokenAnswer, failureOfAnswer, isErrorBody } from "../failures.ts";
import { requestHeaders } from "../request-headers.ts";
import type { EmbeddingAnswer, EmbeddingForward } from "./port.ts";
import { vectorsIn } from "./vectors.ts";

/** 2,048 vectors of 4,096 numbers as JSON. */
const MAX_ANSWER_BYTES = 192 * 1024 * 1024;
/** Numbers of a vector if the size is not configured; no model's vectors have more. */
const MOST_NUMBERS = 16_384;
/** Bytes of a number as JSON. */
const NUMBER_BYTES = 32;
/** Members beside the vectors, such as an error or the usage, are small. */
const MAX_SMALL_BYTES = 64 * 1024;

/**
 * Requests embeddings from one upstream after another, all attempts within `limitMs`.
 * Sources: OpenAI's API reference (embeddings, create), which vLLM, llama.cpp, Ollama and text-embeddings-inference
 * follow.
 */
export function embed(call: EmbeddingForward, deps: AttemptDeps, limitMs: number): Promise<EmbeddingAnswer> {
	const attemptCall: AttemptCall = {
		requestId: call.requestId,
		targets: call.targets,
		tenant: call.tenant,
		signal: call.signal,
		raw: call.raw,
		stickyKey: () => undefined,
		onSent: (upstream) => call.onSent(upstream),
		send: async ({ model }, endpoint, signal) =>
			deps.fetch(`${endpoint.url}/embeddings`, {
				...endpoint.init,
				method: "POST",
				headers: requestHeaders(endpoint, call.requestId, "application/json", "application/json"),
				body: (await bodyOf(call, model)) as Uint8Array<ArrayBuffer>,
				signal,
			}),
	};
	const attempts = new Attempts(attemptCall, deps);
	const endMs = deps.clock.monotonicMs() + limitMs;
	return attempts.run(
		async (response, current) => {
			const answer = await answerOf(await readWhole(response, mostBytes(call)), response.status, call);
			current.end("good");
			return { upstream: current.server.name, retries: attempts.retries, ...answer };
		},
		(timeout) => timeout.limit(Number.POSITIVE_INFINITY, "embeddings", endMs),
	);
}

function bodyOf({ input, long, format, dimensions }: EmbeddingForward, model: string): Promise<Uint8Array> {
	const body = { model, input, encoding_format: format, ...(dimensions !== undefined && { dimensions }) };
	return inTurns(long.whole(Buffer.from(JSON.stringify(body))));
}

/** Returns the maximum size of an answer with a vector for each text. */
function mostBytes(call: EmbeddingForward): number {
	return Math.min(MAX_ANSWER_BYTES, MAX_SMALL_BYTES + textsOf(call) * mostVectorBytes(call));
}

/** Returns the maximum size of one vector with the JSON around it. */
function mostVectorBytes({ dimensions, modelDimensions }: EmbeddingForward): number {
	return 1_024 + (dimensions ?? modelDimensions ?? MOST_NUMBERS) * NUMBER_BYTES;
}

function textsOf({ input }: EmbeddingForward): number {
	return typeof input === "string" ? 1 : input.length;
}

/** Reads an answer. Throws UpstreamFailure unless it has one vector for each text. */
async function answerOf(
	bytes: Uint8Array,
	status: number,
	call: EmbeddingForward,
): Promise<Pick<EmbeddingAnswer, "data" | "tokens">> {
	let members: readonly JsonMember[];
	try {
		members = await inTurns(objectMembersInSteps(bytes, documentStart(bytes)));
	} catch {
		throw brokenAnswer(`status ${status}: the body is not a JSON object`, status);
	}
	const data = lastMember(members, "data");
	if (data === undefined) throw withoutData(bytes, status);
	const usage = lastMember(members, "usage");
	const texts = textsOf(call);
	const vectors = await vectorsIn(bytes.subarray(data.valueStart, data.valueEnd), call.format, {
		count: texts,
		bytes: mostVectorBytes(call),
		dimensions: call.dimensions ?? call.modelDimensions,
	});
	if (vectors.count !== texts)
		throw brokenAnswer(`status ${status}: ${vectors.count ?? "no list of"} vectors for ${texts} texts`, status);
	return { data: vectors.pieces, tokens: usage === undefined ? null : tokensOf(bytes, usage) };
}

function withoutData(bytes: Uint8Array, status: number): Error {
	const body = bytes.length > MAX_SMALL_BYTES ? null : parseOrNull(bytes);
	if (isRecord(body) && isErrorBody(body)) return failureOfAnswer(200, body, null);
	return brokenAnswer(`status ${status}: the body has no embeddings`, status);
}

function tokensOf(bytes: Uint8Array, { valueStart, valueEnd }: { valueStart: number; valueEnd: number }): number | null {
	const usage = valueEnd - valueStart > MAX_SMALL_BYTES ? null : parseOrNull(bytes.subarray(valueStart, valueEnd));
	if (!isRecord(usage)) return null;
	const counted = tokenUsageOf(usage);
	// Some servers report the tokens as prompt, some as output; all are tokens of the texts.
	if (counted !== null) return counted.promptTokens + counted.completionTokens;
	const { total_tokens: total } = usage;
	return Number.isSafeInteger(total) && Number(total) > 0 ? Number(total) : null;
}

function parseOrNull(bytes: Uint8Array): unknown {
	try {
		return JSON.parse(new TextDecoder().decode(bytes));
	} catch {
		return null;
	}
}
