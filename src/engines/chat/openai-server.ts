/**
 * Serves the engine as an OpenAI-compatible server on the loopback interface, so that the gateway uses it like any other
 * upstream. Requests need the secret of this start.
 */

import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import type { LlamaContextSequence } from "node-llama-cpp";
import { ApiError } from "../../errors/index.ts";
import { type Requester, TENANT_HEADER } from "../../fairness/index.ts";
import { type ChoiceEnd, type PreparedChat, prepareChat, writeChoice } from "./answer.ts";
import { type ChatRequest, parseChatRequest, parseTextRequest } from "./chat-request.ts";
import type { LanguageModel } from "./language-model.ts";
import { SealedConversation } from "./sealed/sealed-conversation.ts";
import { SoftwareKey } from "./sealed/software-key.ts";
import type { SequencePool } from "./sequence-pool.ts";

export interface OpenAiServerOptions {
	readonly model: LanguageModel;
	readonly modelId: string;
	readonly lanes: SequencePool<LlamaContextSequence>;
	readonly secret: string;
	/** The private key for sealed conversations: 32 bytes, as hex. */
	readonly sealingKey: string;
	/** For requests without a limit. */
	readonly defaultMaxTokens: number;
	/** Called at each token, as a sign that the native part works. */
	onToken(): void;
}

/** The limit of a request's body; the model's whole context is far smaller. */
const MAX_BODY_BYTES = 8 * 2 ** 20;

const encoder = new TextEncoder();
const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

const ERROR_TYPES: Readonly<Record<number, string>> = { 401: "authentication_error", 429: "rate_limit_error" };

function errorBody(error: ApiError): object {
	const type = ERROR_TYPES[error.status] ?? (error.status < 500 ? "invalid_request_error" : "server_error");
	const { param = null, openAiCode = error.publicCode } = error.options;
	return { error: { message: error.message, type, param, code: openAiCode }, code: error.publicCode };
}

function errorResponse(fault: unknown): Response {
	const error = asApiError(fault);
	const { retryAfterSeconds } = error.options;
	const headers: Record<string, string> = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
	return Response.json(errorBody(error), { status: error.status, headers });
}

function asApiError(fault: unknown): ApiError {
	if (fault instanceof ApiError) return fault;
	// The client left, so no one reads this error, and it is not a failure.
	if (fault instanceof DOMException && fault.name === "AbortError") return new ApiError("INFERENCE_FAILED");
	console.error("generation failed:", fault);
	return new ApiError("INFERENCE_FAILED", { cause: fault });
}

interface Usage {
	readonly prompt_tokens: number;
	readonly completion_tokens: number;
	readonly total_tokens: number;
}

/** Returns the usage. A prompt counts once, however many choices follow it. */
function usageOf(chat: PreparedChat, ends: readonly ChoiceEnd[]): Usage {
	const completion = ends.reduce((sum, end) => sum + end.completionTokens, 0);
	return { prompt_tokens: chat.prompt.length, completion_tokens: completion, total_tokens: chat.prompt.length + completion };
}

class ChatCall {
	readonly #options: OpenAiServerOptions;
	readonly #chat: PreparedChat;
	readonly #requester: Requester;
	readonly #sealed: SealedConversation | null;
	readonly #head: { id: string; created: number; model: string };

	constructor(options: OpenAiServerOptions, chat: PreparedChat, requester: Requester, sealed: SealedConversation | null) {
		this.#options = options;
		this.#chat = chat;
		this.#requester = requester;
		this.#sealed = sealed;
		this.#head = {
			id: `${chat.request.isText ? "cmpl" : "chatcmpl"}-${randomUUID()}`,
			created: Math.floor(Date.now() / 1000),
			model: options.modelId,
		};
	}

	/** Generates all choices one after the other on one lane, so that the later ones reuse the evaluated prompt. */
	onLane<T>(work: (sequence: LlamaContextSequence) => Promise<T>): Promise<T> {
		const { model, lanes } = this.#options;
		const { prompt } = this.#chat;
		const knowsMost = (free: readonly LlamaContextSequence[]) =>
			free.toSorted((one, two) => model.known(two, prompt) - model.known(one, prompt))[0];
		return lanes.run(this.#requester, knowsMost, work);
	}

	#write(sequence: LlamaContextSequence, index: number, onText: (text: string) => Promise<void>): Promise<ChoiceEnd> {
		const { model, onToken } = this.#options;
		return writeChoice(model, sequence, this.#chat, { index, signal: this.#requester.signal, onText, onToken });
	}

	async unary(sequence: LlamaContextSequence): Promise<Response> {
		const ends: ChoiceEnd[] = [];
		const choices: object[] = [];
		for (let index = 0; index < this.#chat.request.n; index += 1) {
			let content = "";
			const end = await this.#write(sequence, index, async (text) => {
				content += text;
			});
			ends.push(end);
			const message = { role: "assistant", content, reasoning_content: null, tool_calls: [], refusal: null };
			const answerMembers = this.#chat.request.isText ? { text: content } : { message };
			choices.push({ index, ...answerMembers, logprobs: null, finish_reason: end.finishReason, stop_reason: null });
		}
		const usage = usageOf(this.#chat, ends);
		const object = this.#chat.request.isText ? "text_completion" : "chat.completion";
		return Response.json({ ...this.#head, object, choices, usage, prompt_logprobs: null });
	}

	/**
	 * Streams the answer.
	 * @param send writes one event's JSON; resolves when the client can take more
	 */
	async stream(sequence: LlamaContextSequence, send: (event: object) => Promise<void>): Promise<void> {
		const { n, includeUsage, isText } = this.#chat.request;
		const object = isText ? "text_completion" : "chat.completion.chunk";
		const usage = includeUsage ? { usage: null } : {};
		const chunk = (index: number, delta: { readonly content?: string }, finish_reason: string | null) => ({
			...this.#head,
			object,
			choices: [{ index, ...(isText ? { text: delta.content ?? "" } : { delta }), logprobs: null, finish_reason }],
			...usage,
		});
		const ends: ChoiceEnd[] = [];
		for (let index = 0; index < n; index += 1) {
			const opening = { role: "assistant", content: "" };
			if (!isText) await send(chunk(index, opening, null));
			const sealer = this.#sealed?.sealer();
			const deltaOf = (text: string) => ({ content: sealer === undefined ? text : sealer.seal(text) });
			const end = await this.#write(sequence, index, (text) => send(chunk(index, deltaOf(text), null)));
			ends.push(end);
			await send(chunk(index, {}, end.finishReason));
		}
		if (includeUsage) await send({ ...this.#head, object, choices: [], usage: usageOf(this.#chat, ends) });
	}
}

/**
 * Returns a stream answer. Its head is sent once a lane is taken, so that a full queue is still a 429. The lane is released
 * when the stream ends, in any way.
 */
function streamResponse(call: ChatCall, signal: AbortSignal): Promise<Response> {
	return new Promise((resolve, reject) => {
		call
			.onLane(
				(sequence) =>
					new Promise<void>((release) => {
						let hasStarted = false;
						// A client that leaves before it reads never pulls.
						signal.addEventListener("abort", () => hasStarted || release(), { once: true });
						const body = new ReadableStream({
							type: "direct",
							async pull(controller) {
								hasStarted = true;
								const write = async (text: string) => {
									const written = controller.write(encoder.encode(text));
									if (typeof written !== "number") await written;
								};
								try {
									await call.stream(sequence, (event) => write(`data: ${JSON.stringify(event)}\n\n`));
									await write("data: [DONE]\n\n");
								} catch (fault) {
									// After the first byte an error can only be an event; no [DONE] follows it.
									await write(`data: ${JSON.stringify(errorBody(asApiError(fault)))}\n\n`).catch(() => {});
								} finally {
									release();
									controller.close();
								}
							},
						});
						resolve(new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } }));
					}),
			)
			.catch(reject);
	});
}

async function readJson(request: Request): Promise<unknown> {
	try {
		return await request.json();
	} catch (fault) {
		throw new ApiError("INVALID_REQUEST", { message: "The body is not valid JSON", cause: fault });
	}
}

async function chatCompletions(request: Request, options: OpenAiServerOptions, sealingKey: () => SoftwareKey): Promise<Response> {
	const sealed = SealedConversation.of(request.headers, sealingKey);
	const receivedBody = await readJson(request);
	const body = sealed === null ? receivedBody : await sealed.open(receivedBody, request.signal);
	return answerCall(parseChatRequest(body), request, options, sealed);
}

async function completions(request: Request, options: OpenAiServerOptions): Promise<Response> {
	return answerCall(parseTextRequest(await readJson(request)), request, options, null);
}

function answerCall(
	chatRequest: ChatRequest,
	request: Request,
	options: OpenAiServerOptions,
	sealed: SealedConversation | null,
): Promise<Response> {
	const chat = prepareChat(options.model, chatRequest, options.defaultMaxTokens);
	const call = new ChatCall(options, chat, { tenant: request.headers.get(TENANT_HEADER) ?? "", signal: request.signal }, sealed);
	return chat.request.stream ? streamResponse(call, request.signal) : call.onLane((sequence) => call.unary(sequence));
}

/** Returns the key's attestation: docs/sealed-chat.md */
function attestation(request: Request, key: SoftwareKey, modelId: string): Response {
	const query = new URL(request.url).searchParams;
	return Response.json(key.attestation(query.get("model") ?? modelId, query.get("nonce") ?? ""));
}

/** Signs a text of the gateway, because only the gateway knows the bytes that a caller sent and received. */
async function signature(request: Request, key: SoftwareKey): Promise<Response> {
	const text = await request.text();
	return Response.json({ text, signature: key.sign(text), signing_address: key.address, signing_algo: "ecdsa" });
}

/**
 * Starts the server.
 * @returns the port, chosen by the system
 */
export function serveOpenAi(options: OpenAiServerOptions): number {
	const expected = sha256(`Bearer ${options.secret}`);
	const guard = (handler: (request: Request) => Promise<Response>) => async (request: Request) => {
		try {
			if (!timingSafeEqual(sha256(request.headers.get("authorization") ?? ""), expected))
				throw new ApiError("AUTHENTICATION_FAILED");
			return await handler(request);
		} catch (fault) {
			return errorResponse(fault);
		}
	};
	const list = { object: "list", data: [{ id: options.modelId, object: "model", created: 0, owned_by: "embedded" }] };
	let key: SoftwareKey | undefined;
	// Created at first use, because the curve's tables take a moment.
	const sealingKey = () => {
		key ??= new SoftwareKey(options.sealingKey);
		return key;
	};
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		maxRequestBodySize: MAX_BODY_BYTES,
		idleTimeout: 120,
		routes: {
			"/v1/models": { GET: guard(async () => Response.json(list)) },
			"/v1/chat/completions": { POST: guard((request) => chatCompletions(request, options, sealingKey)) },
			"/v1/completions": { POST: guard((request) => completions(request, options)) },
			"/v1/attestation/report": { GET: guard(async (request) => attestation(request, sealingKey(), options.modelId)) },
			"/v1/signature": { POST: guard((request) => signature(request, sealingKey())) },
		},
		fetch: guard(async () => {
			throw new ApiError("NOT_FOUND");
		}),
	});
	if (server.port === undefined) throw new Error("no port");
	return server.port;
}
