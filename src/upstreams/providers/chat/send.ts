import { randomBytes } from "node:crypto";
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4Warning } from "@ai-sdk/provider";
import type { TextModel } from "../../../catalog/types.ts";
import { isRecord } from "../../../schema/is-record.ts";
import type { Log } from "../../../telemetry/log.ts";
import { upstreamOffline } from "../../failures.ts";
import type { Fetch } from "../../fetch.ts";
import type { PublicFetch } from "../../public-fetch/port.ts";
import { checkedAnswers } from "../checked-answer.ts";
import { loadProvider } from "../load-provider.ts";
import type { ProviderUpstream } from "../provider-upstream.ts";
import { streamResponse } from "./answers.ts";
import { callOptionsOf } from "./call-options.ts";
import { CHAT_CAPABILITIES } from "./chat-capabilities.ts";
import { type AnswerHead, completionOf } from "./completion.ts";
import { withLinkedFiles } from "./linked-files.ts";
import { packageFailure } from "./package-failure.ts";

/** Packages take 20 us for each value, and answers of providers have no log probabilities. */
const ANSWER_BOUNDS = { bytes: 16 << 20, keys: 16_000, differentKeys: 2_000, values: 16_000 };

/** A chat request to a provider, shaped in PROVIDER_DIALECT. */
export interface ProviderRequest {
	readonly upstream: string;
	readonly config: ProviderUpstream;
	readonly requestId: string;
	readonly model: TextModel;
	/** The provider's own name for the model. */
	readonly upstreamModel: string;
	readonly body: Uint8Array;
	readonly stream: boolean;
	readonly fetch: Fetch;
	/** Reads addresses that callers name, for providers that read none. */
	readonly fetchPublic?: (() => PublicFetch) | undefined;
	readonly log: Log;
}

/**
 * Sends a chat request through a provider's package. The answer has the form of an OpenAI-compatible upstream, so
 * attempts, time limits, metering and streaming are the same. Throws errors of the connection, UpstreamFailure, and
 * ApiError for requests that no provider supports.
 */
export async function sendToProvider(request: ProviderRequest, signal: AbortSignal): Promise<Response> {
	const stopper = new AbortController();
	const abortSignal = AbortSignal.any([signal, stopper.signal]);
	try {
		return await answer(request, abortSignal, () => stopper.abort());
	} catch (error) {
		stopper.abort();
		throw signal.aborted ? signal.reason : packageFailure(error);
	}
}

async function answer(request: ProviderRequest, abortSignal: AbortSignal, stop: () => void): Promise<Response> {
	const { config, upstreamModel, requestId, model } = request;
	const { provider } = config;
	const capabilities = CHAT_CAPABILITIES[provider];
	const checked = checkedAnswers(request.fetch, ANSWER_BOUNDS);
	const fetch = capabilities?.omitsUsage && request.stream ? withUsageRequested(checked) : checked;
	const { chat } = await loadProvider(config, { fetch });
	if (capabilities === undefined || chat === undefined) throw upstreamOffline(`${provider} offers no chat`);
	const body: unknown = JSON.parse(new TextDecoder().decode(request.body));
	const languageModel = chat(upstreamModel);
	const filled = async (prompt: LanguageModelV4Prompt, fetchPublic: PublicFetch) =>
		withLinkedFiles({ prompt, supported: await languageModel.supportedUrls, fetchPublic, signal: abortSignal });
	const callOptions = await callOptionsOf({ provider, capabilities, body: isRecord(body) ? body : {}, model, upstreamModel });
	const options: LanguageModelV4CallOptions = {
		...callOptions,
		...(capabilities.needsBytes && request.fetchPublic
			? { prompt: await filled(callOptions.prompt, request.fetchPublic()) }
			: {}),
		headers: { "x-request-id": requestId },
		abortSignal,
	};
	const head: AnswerHead = {
		id: `chatcmpl-${randomBytes(16).toString("hex")}`,
		created: Math.floor(Date.now() / 1000),
		model: model.id,
	};
	if (!request.stream) {
		const result = await languageModel.doGenerate(options);
		logWarnings(request, result.warnings);
		const completion = JSON.stringify(completionOf(head, provider, result));
		return new Response(completion, { headers: { "content-type": "application/json" } });
	}
	const { stream } = await languageModel.doStream(options);
	return streamResponse({
		head,
		provider,
		parts: stream,
		onPart: (part) => {
			if (part.type === "stream-start") logWarnings(request, part.warnings);
		},
		stop,
	});
}

/** Adds the request for usage, which decides the price, if a package omits it. */
function withUsageRequested(send: Fetch): Fetch {
	return (url, init) => {
		const { body } = init;
		const isMissing = typeof body === "string" && body.startsWith("{") && !body.includes('"stream_options"');
		return send(url, isMissing ? { ...init, body: `{"stream_options":{"include_usage":true},${body.slice(1)}` } : init);
	};
}

/** Warnings already logged, by upstream: each is logged once. */
const loggedWarnings = new Map<string, Set<string>>();
const MAX_LOGGED = 200;

/** Logs what a package leaves out of a request. Warnings contain names of settings, never the caller's text. */
function logWarnings({ log, upstream, upstreamModel }: ProviderRequest, warnings: readonly SharedV4Warning[]): void {
	for (const warning of warnings) {
		const feature = "feature" in warning ? warning.feature : warning.type;
		const known = loggedWarnings.get(upstream) ?? new Set();
		loggedWarnings.set(upstream, known);
		const text = `${upstreamModel} ${warning.type} ${feature}`;
		if (known.has(text) || known.size >= MAX_LOGGED) continue;
		known.add(text);
		log.info(
			{ upstream, model: upstreamModel, kind: warning.type, feature },
			"a provider does not take a part of requests as it is",
		);
	}
}
