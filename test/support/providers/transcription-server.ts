/**
 * Providers of transcription in their own protocols behind one real socket, each below its own name: what a request must
 * be there, and how the answer is told.
 *
 * Sources: the public API references of Deepgram (listen), AssemblyAI (upload, transcript), Gladia (upload, pre-recorded),
 * Rev AI (jobs), ElevenLabs (speech to text), Groq and OpenAI (audio, transcriptions), fal (queue; fal-ai/wizper), Mistral
 * (audio transcriptions), xAI (speech to text).
 */
import type { ProviderName } from "../../../src/config/providers.ts";
import { PROVIDER_KEY } from "./speech-scripts.ts";

export interface ScriptedTranscriptionRequest {
	readonly provider: string;
	readonly method: string;
	readonly path: string;
	readonly query: Readonly<Record<string, string>>;
	readonly headers: Headers;
	/** Of JSON or a form; lists for names that come more than once. */
	readonly body: Readonly<Record<string, unknown>>;
	/** The audio, wherever it stood. */
	readonly audio: Uint8Array | null;
	readonly aborted: Promise<void>;
}

type Answers = (transcriptionRequest: ScriptedTranscriptionRequest) => object | null;

/** What all of them heard. */
export const SAID = {
	text: "Ship it now. On Friday.",
	language: "en",
	words: [
		{ word: "Ship", start: 0.1, end: 0.3 },
		{ word: "it", start: 0.3, end: 0.4 },
		{ word: "now.", start: 0.4, end: 0.8 },
		{ word: "On", start: 1.2, end: 1.3 },
		{ word: "Friday.", start: 1.3, end: 1.9 },
	],
	segments: [
		{ text: "Ship it now.", start: 0.1, end: 0.8 },
		{ text: "On Friday.", start: 1.2, end: 1.9 },
	],
} as const;

const { text, language, words, segments } = SAID;
const DURATION = 2.4;

/** The protocol of OpenAI: times where they were asked for. */
function likeOpenAi({ path, body }: ScriptedTranscriptionRequest, more: object): object | null {
	if (path !== "/audio/transcriptions" || typeof body.model !== "string") return null;
	const granularity = String(body["timestamp_granularities[]"]);
	if (body.response_format === "json" || body.response_format === undefined) return { text, ...more };
	return {
		...{ task: "transcribe", language: "english", duration: DURATION, text },
		...(granularity === "word" ? { words } : { segments: segments.map(whisperSegment) }),
		...more,
	};
}

const whisperSegment = (segment: object, id: number) => ({
	...{ id, seek: 0, tokens: [1], temperature: 0, avg_logprob: -0.2, compression_ratio: 1, no_speech_prob: 0 },
	...segment,
});

const PROVIDERS: Readonly<Record<string, { readonly key: readonly [string, string]; readonly answer: Answers }>> = {
	deepgram: {
		key: ["authorization", `Token ${PROVIDER_KEY}`],
		answer: ({ path, query }) =>
			path === "/v1/listen" && (query.language === undefined) !== (query.detect_language === undefined)
				? {
						metadata: { request_id: "r", duration: DURATION },
						results: { channels: [{ detected_language: language, alternatives: [{ transcript: text, words }] }] },
					}
				: null,
	},
	assemblyai: {
		key: ["authorization", PROVIDER_KEY],
		answer({ method, path, body }) {
			const ms = words.map(({ word, start, end }) => ({ text: word, start: start * 1_000, end: end * 1_000, confidence: 1 }));
			if (path === "/v2/upload") return { upload_url: "https://cdn.test/u/1" };
			if (method === "POST" && path === "/v2/transcript")
				return body.audio_url === "https://cdn.test/u/1" ? { id: "t1", status: "queued" } : null;
			return path === "/v2/transcript/t1"
				? { id: "t1", status: "completed", text, language_code: language, words: ms, audio_duration: DURATION }
				: null;
		},
	},
	gladia: {
		key: ["x-gladia-key", PROVIDER_KEY],
		answer({ method, path, body }) {
			if (path === "/v2/upload") return { audio_url: "https://api.gladia.io/file/1" };
			if (method === "POST" && path === "/v2/pre-recorded")
				return body.audio_url === "https://api.gladia.io/file/1"
					? { result_url: "https://api.gladia.io/v2/pre-recorded/1" }
					: null;
			if (path !== "/v2/pre-recorded/1") return null;
			const utterances = segments.map((segment) => ({
				...segment,
				words: words.filter(({ start, end }) => start >= segment.start && end <= segment.end),
			}));
			return {
				status: "done",
				result: {
					metadata: { audio_duration: DURATION },
					transcription: { full_transcript: text, languages: [language], utterances },
				},
			};
		},
	},
	revai: {
		key: ["authorization", `Bearer ${PROVIDER_KEY}`],
		answer({ method, path, body }) {
			const job = { id: "j1", status: "transcribed", language };
			if (method === "POST" && path === "/speechtotext/v1/jobs") return typeof body.config === "string" ? job : null;
			if (path === "/speechtotext/v1/jobs/j1") return job;
			if (path !== "/speechtotext/v1/jobs/j1/transcript") return null;
			const elements = words.flatMap(({ word, start, end }, index) => [
				...(index === 0 ? [] : [{ type: "punct", value: " " }]),
				{ type: "text", value: word, ts: start, end_ts: end, confidence: 1 },
			]);
			return { monologues: [{ speaker: 0, elements }] };
		},
	},
	elevenlabs: {
		key: ["xi-api-key", PROVIDER_KEY],
		answer({ path, body }) {
			if (path !== "/v1/speech-to-text" || typeof body.model_id !== "string") return null;
			const spaced = words.flatMap(({ word, start, end }, index) => [
				...(index === 0 ? [] : [{ text: " ", start, end: start, type: "spacing" }]),
				{ text: word, start, end, type: "word" },
			]);
			return {
				language_code: language,
				language_probability: 1,
				text,
				words: body.timestamps_granularity === "none" ? [] : spaced,
			};
		},
	},
	groq: {
		key: ["authorization", `Bearer ${PROVIDER_KEY}`],
		answer: (transcriptionRequest) => likeOpenAi(transcriptionRequest, { x_groq: { id: "req_1" } }),
	},
	openai: {
		key: ["authorization", `Bearer ${PROVIDER_KEY}`],
		answer: (transcriptionRequest) => likeOpenAi(transcriptionRequest, {}),
	},
	fal: {
		key: ["authorization", `Key ${PROVIDER_KEY}`],
		answer({ method, path, body }) {
			const chunks = (body.chunk_level === "word" ? [] : segments).map(({ start, end, text: said }) => ({
				text: said,
				timestamp: [start, end],
			}));
			if (method === "POST")
				return path === "/fal-ai/wizper" && "language" in body && body.task === "transcribe" ? { request_id: "q1" } : null;
			return path === "/fal-ai/wizper/requests/q1"
				? {
						text,
						chunks:
							chunks.length > 0
								? chunks
								: segments.map(({ start, end, text: said }) => ({ text: said, timestamp: [start, end] })),
						inferred_languages: [language],
					}
				: null;
		},
	},
	mistral: {
		key: ["authorization", `Bearer ${PROVIDER_KEY}`],
		answer: ({ path, body }) =>
			path === "/audio/transcriptions" && (body.language === undefined || body.timestamp_granularities === undefined)
				? { model: body.model, text, language: null, segments: body.timestamp_granularities === undefined ? [] : segments }
				: null,
	},
	xai: {
		key: ["authorization", `Bearer ${PROVIDER_KEY}`],
		answer: ({ path }) =>
			path === "/stt"
				? { text, language, duration: DURATION, words: words.map(({ word, ...times }) => ({ text: word, ...times })) }
				: null,
	},
};

/** The provider's own name of the model; the word times that it gives. */
export const TRANSCRIPTION_PROVIDERS: readonly { readonly provider: ProviderName; readonly model: string }[] = [
	{ provider: "deepgram", model: "nova-3" },
	{ provider: "assemblyai", model: "universal-3-5-pro" },
	{ provider: "gladia", model: "default" },
	{ provider: "revai", model: "machine" },
	{ provider: "elevenlabs", model: "scribe_v2" },
	{ provider: "groq", model: "whisper-large-v3" },
	{ provider: "openai", model: "whisper-1" },
	{ provider: "fal", model: "fal-ai/wizper" },
	{ provider: "mistral", model: "voxtral-mini-latest" },
	{ provider: "xai", model: "grok-stt" },
];

export interface TranscriptionServer {
	readonly requests: ScriptedTranscriptionRequest[];
	readonly complaints: string[];
	/** In place of the next answers; a promise is waited for. */
	next(...answers: readonly (Response | "hang")[]): void;
	readonly upstreams: Readonly<Record<string, object>>;
	reset(): void;
	stop(): Promise<void>;
}

export function startTranscriptionServer(): TranscriptionServer {
	const requests: ScriptedTranscriptionRequest[] = [];
	const complaints: string[] = [];
	const queue: (Response | "hang")[] = [];
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		idleTimeout: 0,
		development: false,
		async fetch(request) {
			const transcriptionRequest = await askedOf(request);
			const { provider, path, method } = transcriptionRequest;
			const script = PROVIDERS[provider];
			if (script === undefined) return new Response(null, { status: 404 });
			requests.push(transcriptionRequest);
			const [header, value] = script.key;
			if (transcriptionRequest.headers.get(header) !== value) complaints.push(`${provider}: no key in ${header}`);
			const played = queue.shift();
			if (played === "hang") await transcriptionRequest.aborted;
			if (played instanceof Response) return played;
			const answer = script.answer(transcriptionRequest);
			if (answer !== null) return Response.json(answer);
			complaints.push(`${provider}: ${method} ${path} ${JSON.stringify(transcriptionRequest.body)}`);
			return new Response(null, { status: 404 });
		},
	});
	const upstreams = Object.keys(PROVIDERS).map((provider) => [
		provider,
		{
			provider,
			url: `http://127.0.0.1:${server.port}/${provider}`,
			key: PROVIDER_KEY,
			dialect: "generic",
			discover: false,
			health: { failures: 1_000, probeEveryMs: 60_000 },
		},
	]);
	return {
		requests,
		complaints,
		next: (...answers) => void queue.push(...answers),
		upstreams: Object.fromEntries(upstreams),
		reset() {
			requests.length = 0;
			complaints.length = 0;
			queue.length = 0;
		},
		stop: () => server.stop(true),
	};
}

async function askedOf(request: Request): Promise<ScriptedTranscriptionRequest> {
	const { pathname, searchParams } = new URL(request.url);
	const [, provider = "", ...rest] = pathname.split("/");
	const aborted = Promise.withResolvers<void>();
	if (request.signal.aborted) aborted.resolve();
	request.signal.addEventListener("abort", () => aborted.resolve(), { once: true });
	const { method, headers } = request;
	const query = Object.fromEntries(searchParams);
	const head = { provider, method, path: `/${rest.join("/")}`, query, headers, aborted: aborted.promise };
	const type = headers.get("content-type") ?? "";
	if (type.startsWith("application/json")) {
		const body = (await request.json()) as Record<string, unknown>;
		const inline = /^data:[^,]+;base64,(.*)$/.exec(String(body.audio_url ?? ""))?.[1];
		return { ...head, body, audio: inline === undefined ? null : new Uint8Array(Buffer.from(inline, "base64")) };
	}
	if (!type.startsWith("multipart/form-data")) {
		const bytes = await request.bytes();
		return { ...head, body: {}, audio: bytes.length > 0 ? bytes : null };
	}
	const body: Record<string, unknown> = {};
	let audio: Uint8Array | null = null;
	for (const [name, value] of (await request.formData()).entries()) {
		if (typeof value === "string") body[name] = value;
		else audio = await value.bytes();
	}
	return { ...head, body, audio };
}
