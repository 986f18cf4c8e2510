import { isRecord } from "../../schema/is-record.ts";
import { nextTurn } from "../../wire/index.ts";
import { type AttemptCall, type AttemptDeps, Attempts } from "../attempts.ts";
import { readWhole } from "../chat/whole-answer.ts";
import { brokenAnswer, failureOfAnswer, isErrorBody } from "../failures.ts";
import { parsedAnswer } from "../parsed-answer.ts";
import type { Candidate } from "../pool.ts";
import { requestHeaders } from "../request-headers.ts";
import type { Endpoint } from "../upstream-server.ts";
import type { TimedText, TranscriptionAnswer, TranscriptionForward } from "./port.ts";

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** 50,000 words with their times (six hours of fast speech), and the segments with all that servers add to them. */
const ANSWER_BOUNDS = { bytes: MAX_ANSWER_BYTES, keys: 300_000, differentKeys: 2_000, values: 400_000 };
/** Number of entries read in one turn of the event loop. */
const STEP_ENTRIES = 10_000;
const NOTHING = new Uint8Array(0);

/**
 * Transcribes through one upstream after another, all attempts within `limitMs`.
 * Sources: OpenAI's API reference (audio, transcriptions), whose form whisper.cpp's server, speaches, vLLM and Groq
 * accept.
 */
export function transcribe(call: TranscriptionForward, deps: AttemptDeps, limitMs: number): Promise<TranscriptionAnswer> {
	const attemptCall: AttemptCall = {
		requestId: call.requestId,
		targets: call.targets,
		tenant: call.tenant,
		signal: call.signal,
		raw: NOTHING,
		stickyKey: () => undefined,
		onSent: (upstream) => call.onSent(upstream),
		send: (candidate, endpoint, signal) => send(call, candidate, endpoint, deps, signal),
	};
	const attempts = new Attempts(attemptCall, deps);
	const endMs = deps.clock.monotonicMs() + limitMs;
	return attempts.run(
		async (response, current) => {
			const bytes = await current.server.mask.answerBytes(await readWhole(response, MAX_ANSWER_BYTES));
			const answer = await answerOf(bytes, response.status);
			current.end("good");
			return { upstream: current.server.name, retries: attempts.retries, ...answer };
		},
		(timeout) => timeout.limit(Number.POSITIVE_INFINITY, "transcription", endMs),
	);
}

async function send(
	call: TranscriptionForward,
	{ model, server }: Candidate,
	endpoint: Endpoint,
	{ fetch }: AttemptDeps,
	signal: AbortSignal,
): Promise<Response> {
	if (server.provider !== null) {
		const { transcribeByProvider } = await import("../providers/audio/transcribe.ts");
		return transcribeByProvider({ ...call, config: server.provider, model, fetch }, signal);
	}
	return fetch(`${endpoint.url}/audio/transcriptions`, {
		...endpoint.init,
		method: "POST",
		headers: requestHeaders(endpoint, call.requestId, "application/json", null),
		body: formOf(call, model),
		signal,
	});
}

function formOf({ file, language, prompt, temperature, timings }: TranscriptionForward, model: string): FormData {
	const form = new FormData();
	form.set("model", model);
	if (language !== undefined) form.set("language", language);
	if (prompt !== undefined) form.set("prompt", prompt);
	if (temperature !== undefined) form.set("temperature", String(temperature));
	form.set("response_format", timings === "none" ? "json" : "verbose_json");
	if (timings !== "none") form.set("timestamp_granularities[]", timings);
	form.set("file", new Blob([file.bytes as Uint8Array<ArrayBuffer>], { type: file.type }), file.name);
	return form;
}

/** Reads a transcription. Throws UpstreamFailure for any other answer. */
async function answerOf(bytes: Uint8Array, status: number): Promise<Omit<TranscriptionAnswer, "upstream" | "retries">> {
	const { value: parsed, long } = await parsedAnswer(bytes, status, ANSWER_BOUNDS);
	if (!isRecord(parsed)) throw brokenAnswer(`status ${status}: the body is not a JSON object`, status);
	if (isErrorBody(parsed)) throw failureOfAnswer(200, parsed, null);
	if (typeof parsed.text !== "string") throw brokenAnswer(`status ${status}: the body is not a transcription`, status);
	return {
		text: long.textOf(parsed.text),
		language: typeof parsed.language === "string" ? parsed.language : null,
		segments: await timedTexts(parsed.segments, "text"),
		words: await timedTexts(parsed.words, "word"),
	};
}

/** No audio of a request is longer, in seconds. */
const MAX_SECONDS = 360_000;

/** Returns the entries that have a text and times. No entry begins before the audio, or ends before it begins. */
async function timedTexts(list: unknown, member: "text" | "word"): Promise<TimedText[]> {
	const texts: TimedText[] = [];
	for (const [index, entry] of Array.isArray(list) ? (list as unknown[]).entries() : []) {
		if (index > 0 && index % STEP_ENTRIES === 0) await nextTurn();
		const text = isRecord(entry) ? timedText(entry, member) : null;
		if (text !== null) texts.push(text);
	}
	return texts;
}

function timedText(entry: Readonly<Record<string, unknown>>, member: "text" | "word"): TimedText | null {
	const { start, end } = entry;
	const text = entry[member];
	if (typeof text !== "string" || typeof start !== "number" || typeof end !== "number") return null;
	if (!(start <= MAX_SECONDS && end <= MAX_SECONDS)) return null;
	const from = Math.max(0, start);
	return { text, start: from, end: Math.max(from, end) };
}
