import type { TranscriptionModelV4Result } from "@ai-sdk/provider";
import { brokenAnswer, upstreamOffline, upstreamTimedOut } from "../../failures.ts";
import type { Fetch } from "../../fetch.ts";
import { packageFailure } from "../chat/package-failure.ts";
import { checkedAnswers } from "../checked-answer.ts";
import { loadProvider } from "../load-provider.ts";
import type { ProviderUpstream } from "../provider-upstream.ts";
import { segmentsOfWords, type TimedWord } from "./segments-of-words.ts";
import {
	type TranscriptionCapabilities,
	type TranscriptionOptions,
	transcriptionCapabilities,
} from "./transcription-capabilities.ts";

export interface ProviderTranscription extends TranscriptionOptions {
	readonly config: ProviderUpstream;
	readonly requestId: string;
	/** The provider's own name for the model. */
	readonly model: string;
	readonly file: { readonly bytes: Uint8Array; readonly type: string };
	readonly fetch: Fetch;
}

/** Five values for each of 40,000 words, which are five hours of fast speech. */
const ANSWER_BOUNDS = { bytes: 16 << 20, keys: 200_000, differentKeys: 2_000, values: 200_000 };

/**
 * Transcribes through a provider's package. The answer is in OpenAI's form with all times. Throws errors of the
 * connection, UpstreamFailure, and ApiError for requests that no provider supports.
 */
export async function transcribeByProvider(request: ProviderTranscription, signal: AbortSignal): Promise<Response> {
	const { config, model, file, requestId } = request;
	const capabilities = transcriptionCapabilities(config.provider);
	const fetch = checkedAnswers(request.fetch, ANSWER_BOUNDS);
	try {
		const { transcription } = await loadProvider(config, { fetch });
		if (capabilities === undefined || transcription === undefined)
			throw upstreamOffline(`${config.provider} offers no transcription`);
		const { prefix = "" } = capabilities;
		const result = transcription(model.startsWith(prefix) ? model.slice(prefix.length) : model).doGenerate({
			audio: file.bytes,
			mediaType: file.type,
			providerOptions: { ...capabilities.options(request) },
			headers: { "x-request-id": requestId },
			abortSignal: signal,
		});
		return Response.json(answerOf(await unlessAborted(result, signal), capabilities, request));
	} catch (error) {
		throw signal.aborted ? signal.reason : jobFault(error);
	}
}

/**
 * Rejects when the signal aborts. Packages that poll for a result once a second notice an abort only at the next poll.
 */
async function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
	const aborted = Promise.withResolvers<never>();
	const onAbort = () => aborted.reject(signal.reason);
	if (signal.aborted) onAbort();
	else signal.addEventListener("abort", onAbort, { once: true });
	try {
		return await Promise.race([work, aborted.promise]);
	} finally {
		signal.removeEventListener("abort", onAbort);
	}
}

/** Returns the failure of an accepted job. Packages distinguish these errors by name. */
function jobFault(error: unknown): unknown {
	const name = error instanceof Error ? error.name : "";
	if (/TimedOut$/.test(name)) return upstreamTimedOut("the provider's job took too long");
	if (/Job.*Failed$|Empty$/.test(name)) return brokenAnswer(`the provider's job failed: ${name}`);
	return packageFailure(error);
}

function answerOf(
	result: TranscriptionModelV4Result,
	{ times, glue = " " }: TranscriptionCapabilities,
	options: TranscriptionOptions,
) {
	const areWords = times === "word" || (times === "asked" && options.timings === "word");
	const words = (result.words ?? (areWords ? result.segments : wordsOfUtterances(result))).map(partOf);
	const segments = areWords ? segmentsOfWords(words, glue) : result.segments.map(partOf);
	return {
		text: result.text,
		...(result.language === undefined ? {} : { language: result.language }),
		...(options.timings === "none"
			? {}
			: {
					segments,
					words: words.filter(({ text }) => text.trim() !== "").map(({ text, start, end }) => ({ word: text, start, end })),
				}),
	};
}

function partOf({ text, startSecond, endSecond }: TranscriptionModelV4Result["segments"][number]): TimedWord {
	return { text, start: startSecond, end: endSecond };
}

/** Returns Gladia's words, which its package leaves in the metadata. */
function wordsOfUtterances({ providerMetadata }: TranscriptionModelV4Result): TranscriptionModelV4Result["segments"] {
	const metadata = providerMetadata?.gladia as { result?: { transcription?: { utterances?: unknown } } } | undefined;
	const utterances = metadata?.result?.transcription?.utterances;
	if (!Array.isArray(utterances)) return [];
	return (utterances as { words?: { word: string; start: number; end: number }[] | null }[]).flatMap(({ words }) =>
		(words ?? []).map(({ word, start, end }) => ({ text: word.trim(), startSecond: start, endSecond: end })),
	);
}
