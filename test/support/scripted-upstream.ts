/**
 * A model server that does as it is told, one behaviour a request: OpenAI's chat protocol from its public
 * reference, and the ways in which real servers break it. It checks what it receives and keeps it.
 */
import { chunksOf, completionOf, PLAIN_SPEECH, type Speech, usageChunk, usageOfSpeech } from "./chat-answers.ts";

/** How one request is answered. Without any: a plain answer, streamed if asked. */
export interface Behaviour {
	readonly speech?: Speech;
	/** Before the first byte of the answer. */
	readonly thinkMs?: number;
	/** Waited for before the first byte of the answer. */
	readonly after?: Promise<unknown>;
	/** Headers go out, then nothing; `true`: not even those. */
	readonly hang?: boolean | "after-headers" | "after-first-chunk";
	/** In place of an answer. */
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	/** A body to send as it is (with `status`, default 200). */
	readonly raw?: string | Uint8Array;
	readonly usage?: "once" | "never" | "twice" | "late" | "every-chunk" | object;
	/** Chunks of a stream before its socket is cut; unary: half of the body is sent. */
	readonly dieAfterChunks?: number;
	/** Chunks before the stream ends properly, as HTTP goes, without a finish_reason and `[DONE]`. */
	readonly endAfterChunks?: number;
	/** A chunk that is no JSON, after that many good ones. */
	readonly brokenChunkAt?: number;
	/** An error event inside a 200 stream, after that many good chunks. */
	readonly errorEventAt?: number;
	readonly errorEvent?: object;
	readonly omitDone?: boolean;
	/** One byte a write, so that borders fall everywhere. */
	readonly byteByByte?: boolean;
	/** Line ends and comments between events. */
	readonly framing?: "lf" | "crlf" | "cr" | "comments";
	/** The stream waits for it between its first and its second chunk. */
	readonly beforeSecondChunk?: Promise<unknown>;
	/** Between chunks. */
	readonly chunkDelayMs?: number;
}

export interface ReceivedRequest {
	readonly path: string;
	readonly method: string;
	readonly headers: Headers;
	readonly bytes: Uint8Array;
	readonly text: string;
	readonly body: Record<string, unknown>;
	/** What OpenAI's reference does not allow in this body; empty where it is a good request. */
	readonly complaints: readonly string[];
	/** Resolves when the connection is closed by the other side before the answer was done. */
	readonly aborted: Promise<void>;
	isAborted: boolean;
	/** The answer was written to its end. */
	isDone: boolean;
}

export interface ScriptedUpstream {
	/** Base address up to and including /v1. */
	readonly url: string;
	readonly requests: ReceivedRequest[];
	/** Chat requests that are being answered now. */
	readonly open: number;
	/** Behaviours for the next requests, in order; then the default again. */
	next(...behaviours: readonly Behaviour[]): void;
	/** The behaviour of every request that has none of its own; a function chooses by what came. */
	always(behaviour: Behaviour | ((request: ReceivedRequest) => Behaviour)): void;
	/** What GET /models answers. */
	models(ids: readonly string[], status?: number): void;
	readonly modelListRequests: number;
	/** Forgets behaviours and requests: between two tests. */
	reset(): void;
	stop(): Promise<void>;
}

const encoder = new TextEncoder();
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function startScriptedUpstream(options: { readonly port?: number } = {}): ScriptedUpstream {
	const requests: ReceivedRequest[] = [];
	const queue: Behaviour[] = [];
	let standing: Behaviour | ((request: ReceivedRequest) => Behaviour) = {};
	let modelIds: readonly string[] = ["scripted"];
	let modelStatus = 200;
	let modelListRequests = 0;
	let open = 0;
	const server = Bun.serve({
		port: options.port ?? 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		development: false,
		// A scripted cut is no fault to report.
		error: () => new Response(null, { status: 500 }),
		async fetch(request) {
			const path = new URL(request.url).pathname;
			if (path === "/v1/models" && request.method === "GET") {
				modelListRequests++;
				const data = modelIds.map((id) => ({ id, object: "model", created: 1_767_225_600, owned_by: "scripted" }));
				return Response.json({ object: "list", data }, { status: modelStatus });
			}
			const received = await receive(request, path);
			requests.push(received);
			if (path !== CHAT && path !== TEXT) return Response.json({ error: { message: "no such path" } }, { status: 404 });
			const behaviour = queue.shift() ?? (typeof standing === "function" ? standing(received) : standing);
			open++;
			let counted = true;
			const close = (): void => {
				if (counted) open--;
				counted = false;
			};
			void received.aborted.then(close);
			return answer(received, behaviour, close);
		},
	});
	return {
		url: `http://127.0.0.1:${server.port}/v1`,
		requests,
		get open() {
			return open;
		},
		get modelListRequests() {
			return modelListRequests;
		},
		next: (...behaviours) => void queue.push(...behaviours),
		always: (behaviour) => {
			standing = behaviour;
		},
		models: (ids, status = 200) => {
			modelIds = ids;
			modelStatus = status;
		},
		reset() {
			queue.length = 0;
			requests.length = 0;
			standing = {};
		},
		stop: () => server.stop(true),
	};
}

const CHAT = "/v1/chat/completions";
const TEXT = "/v1/completions";

async function receive(request: Request, path: string): Promise<ReceivedRequest> {
	const bytes = await request.bytes();
	const text = new TextDecoder().decode(bytes);
	let body: Record<string, unknown> = {};
	const complaints: string[] = [];
	try {
		body = JSON.parse(text);
	} catch {
		complaints.push("the body is no JSON");
	}
	complaints.push(...complaintsOf(body, request.headers, path));
	const aborted = Promise.withResolvers<void>();
	const received: ReceivedRequest = {
		path,
		method: request.method,
		headers: request.headers,
		bytes,
		text,
		body,
		complaints,
		aborted: aborted.promise,
		isAborted: false,
		isDone: false,
	};
	request.signal.addEventListener("abort", () => {
		if (received.isDone) return;
		received.isAborted = true;
		aborted.resolve();
	});
	return received;
}

const ROLES = new Set(["developer", "system", "user", "assistant", "tool"]);

/** What must hold of any chat request by OpenAI's reference, whatever else a server may know. */
function complaintsOf(body: Record<string, unknown>, headers: Headers, path: string): string[] {
	const complaints: string[] = [];
	const { model, messages, stream, stream_options, tools, tool_choice, response_format } = body;
	if (!headers.get("content-type")?.startsWith("application/json")) complaints.push("content-type is not application/json");
	if (typeof model !== "string" || model === "") complaints.push("model is no string");
	if (path === TEXT) complaints.push(...textComplaints(body));
	else if (!Array.isArray(messages) || messages.length === 0) complaints.push("messages is no filled array");
	else if (messages.some((message) => !ROLES.has(message?.role))) complaints.push("a message has no role of the five");
	if (stream_options !== undefined && stream !== true) complaints.push("stream_options is only allowed when stream is true");
	if (tools !== undefined && (!Array.isArray(tools) || tools.length === 0)) complaints.push("tools is no filled array");
	for (const tool of Array.isArray(tools) ? tools : []) {
		if (tool?.type !== "function" || typeof tool?.function?.name !== "string")
			complaints.push("a tool is no function with a name");
	}
	if (tools === undefined && (tool_choice !== undefined || body.parallel_tool_calls !== undefined)) {
		complaints.push("tool_choice and parallel_tool_calls are only allowed with tools");
	}
	if (path !== TEXT && body.top_logprobs !== undefined && body.logprobs !== true) complaints.push("top_logprobs needs logprobs");
	if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined) complaints.push("both output maxima are set");
	const format = response_format as { type?: string; json_schema?: { name?: unknown; schema?: unknown } } | undefined;
	if (
		format?.type === "json_schema" &&
		(typeof format.json_schema?.name !== "string" || typeof format.json_schema?.schema !== "object")
	) {
		complaints.push("response_format.json_schema lacks name or schema");
	}
	for (const key of ["service_parameters", "user", "store", "fallbacks"])
		if (key in body) complaints.push(`${key} must not be forwarded`);
	return complaints;
}

/** Of OpenAI's older form: a text, and a maximum under its one name. */
function textComplaints(body: Record<string, unknown>): string[] {
	const faults: readonly (readonly [boolean, string])[] = [
		[typeof body.prompt !== "string", "prompt is no string"],
		[typeof body.max_tokens !== "number", "max_tokens is no number"],
		["messages" in body || "tools" in body, "a conversation beside a prompt"],
		["max_completion_tokens" in body, "max_completion_tokens is no name of this form"],
	];
	return faults.filter(([isFault]) => isFault).map(([, complaint]) => complaint);
}

/** A chat answer, or a chunk of one, as OpenAI's older form has it; null for a chunk that says nothing there. */
function inTextForm({ id: _, choices, ...rest }: Record<string, unknown>): object | null {
	const texts = (choices as Record<string, { content?: string | null }>[]).map(({ message, delta, ...choice }) => ({
		...choice,
		text: (message ?? delta)?.content ?? "",
	}));
	const head = { id: "cmpl-scripted", ...rest, object: "text_completion" };
	const isSilent =
		texts.length > 0 && texts.every((choice) => choice.text === "" && !("finish_reason" in choice && choice.finish_reason));
	return isSilent ? null : { ...head, choices: texts };
}

async function answer(received: ReceivedRequest, behaviour: Behaviour, close: () => void): Promise<Response> {
	if (behaviour.thinkMs) await Promise.race([sleep(behaviour.thinkMs), received.aborted]);
	if (behaviour.after !== undefined) await behaviour.after;
	if (behaviour.hang === true) await received.aborted;
	const finish = (): void => {
		received.isDone = true;
		close();
	};
	const isError = behaviour.status !== undefined && (behaviour.status < 200 || behaviour.status >= 300);
	if (behaviour.raw !== undefined || isError) {
		finish();
		const type = { "content-type": "application/json" };
		const body =
			behaviour.raw ?? JSON.stringify({ error: { message: `scripted ${behaviour.status}`, type: "scripted", code: null } });
		return new Response(body as Uint8Array<ArrayBuffer>, {
			status: behaviour.status ?? 200,
			headers: { ...type, ...behaviour.headers },
		});
	}
	const model = String(received.body.model);
	const speech = behaviour.speech ?? PLAIN_SPEECH;
	if (received.body.stream === true) return stream(received, behaviour, speech, model, finish);
	const usage =
		typeof behaviour.usage === "object" ? behaviour.usage : behaviour.usage === "never" ? null : usageOfSpeech(speech);
	const completion = completionOf(speech, model, usage);
	const text = JSON.stringify(received.path === TEXT ? inTextForm({ ...completion }) : completion);
	const headers = { "content-type": "application/json", ...behaviour.headers };
	if (behaviour.dieAfterChunks !== undefined) {
		const half = encoder.encode(text.slice(0, text.length >> 1));
		return new Response(cutAfter(half, finish), { headers });
	}
	finish();
	return new Response(text, { headers });
}

function cutAfter(bytes: Uint8Array, finish: () => void): ReadableStream {
	return new ReadableStream({
		async start(controller) {
			controller.enqueue(bytes);
			await sleep(5);
			finish();
			controller.error(new Error("scripted cut"));
		},
	});
}

/** The events of a stream in the order in which they are written. */
function* eventsOf(
	behaviour: Behaviour,
	speech: Speech,
	{ model, includeUsage, isText }: { readonly model: string; readonly includeUsage: boolean; readonly isText: boolean },
): Generator<string> {
	const inForm = (chunk: object) => (isText ? inTextForm({ ...chunk } as Record<string, unknown>) : chunk);
	const chunks = chunksOf(speech, model)
		.map(inForm)
		.filter((chunk) => chunk !== null);
	const usage = typeof behaviour.usage === "object" ? behaviour.usage : usageOfSpeech(speech);
	for (const [index, chunk] of chunks.entries()) {
		if (index === behaviour.endAfterChunks) return;
		if (index === behaviour.brokenChunkAt) yield '{"id":"chatcmpl-scripted","choices":[{"delta":{"conte';
		if (index === behaviour.errorEventAt) {
			yield JSON.stringify(behaviour.errorEvent ?? { error: { message: "scripted error", type: "server_error", code: 500 } });
			return;
		}
		yield JSON.stringify(
			behaviour.usage === "every-chunk" ? { ...chunk, usage: usageOfSpeech({ content: speech.content.slice(0, index) }) } : chunk,
		);
	}
	const wanted =
		behaviour.usage === "never" ? 0 : behaviour.usage === "twice" ? 2 : Number(includeUsage || behaviour.usage !== undefined);
	for (let count = wanted; count > 0; count--) {
		const first = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
		yield JSON.stringify(inForm(usageChunk(count === 2 ? first : usage, model)));
	}
	if (!behaviour.omitDone) yield "[DONE]";
}

const FRAMINGS: Readonly<Record<NonNullable<Behaviour["framing"]>, (data: string) => string>> = {
	lf: (data) => `data: ${data}\n\n`,
	crlf: (data) => `data: ${data}\r\n\r\n`,
	cr: (data) => `data:${data}\r\r`,
	comments: (data) => `: keep-alive\n\nevent: message\nid: 1\ndata: ${data}\n\n`,
};

function stream(received: ReceivedRequest, behaviour: Behaviour, speech: Speech, model: string, finish: () => void): Response {
	const options = received.body.stream_options as { include_usage?: boolean } | undefined;
	const isText = received.path === TEXT;
	const events = [...eventsOf(behaviour, speech, { model, includeUsage: options?.include_usage === true, isText })];
	const frame = FRAMINGS[behaviour.framing ?? "lf"];
	const body = new ReadableStream<Uint8Array>({
		async start(controller) {
			try {
				await write(controller);
				finish();
				if (behaviour.dieAfterChunks !== undefined) controller.error(new Error("scripted cut"));
				else controller.close();
			} catch {
				// The other side has left.
			}
		},
	});
	async function write(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
		if (behaviour.hang === "after-headers") {
			controller.enqueue(encoder.encode(": headers\n\n"));
			await received.aborted;
		}
		for (const [index, event] of events.entries()) {
			if (index === behaviour.dieAfterChunks) {
				await sleep(5);
				return;
			}
			if (index === 1) await behaviour.beforeSecondChunk;
			if (index === 1 && behaviour.hang === "after-first-chunk") await received.aborted;
			if (index > 0 && behaviour.chunkDelayMs) await Promise.race([sleep(behaviour.chunkDelayMs), received.aborted]);
			if (behaviour.usage === "late" && index >= events.length - 2) await sleep(30);
			if (received.isAborted) throw new Error("the caller has left");
			const bytes = encoder.encode(frame(event));
			if (!behaviour.byteByByte) controller.enqueue(bytes);
			else for (const byte of bytes) await enqueueAlone(controller, byte);
		}
	}
	return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8", ...behaviour.headers } });
}

/** A turn of the loop between two bytes, so that they are two writes. */
async function enqueueAlone(controller: ReadableStreamDefaultController<Uint8Array>, byte: number): Promise<void> {
	controller.enqueue(Uint8Array.of(byte));
	await new Promise<void>((resolve) => setImmediate(resolve));
}
