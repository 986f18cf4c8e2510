import { isRecord } from "../../schema/is-record.ts";
import { type Attempt, type AttemptCall, type AttemptDeps, Attempts, logFailure } from "../attempts.ts";
import { readWhole } from "../chat/whole-answer.ts";
import { asFailure, type BodyReader, cancelBody } from "../connect.ts";
import { errorBody } from "../error-text.ts";
import { brokenAnswer, failureOfAnswer, isErrorBody, type UpstreamFailure, withoutSecrets } from "../failures.ts";
import { formatOfBytes, readFirstBytes } from "./first-bytes.ts";
import type { SpeechAnswer, SpeechForward } from "./port.ts";
import { type RequestedSpeech, type SpeechDeps, sendSpeech } from "./send-speech.ts";
import { formatOfType, rateOfType } from "./speech-request.ts";

const MAX_ERROR_BYTES = 64 * 1024;
/** No text of 4096 characters makes more audio, in any format. */
const MAX_AUDIO_BYTES = 256 << 20;

/** Speaks through one upstream after another until one sends a first byte within `limitMs` of the call. */
export function speak(call: SpeechForward, deps: SpeechDeps, limitMs: number): Promise<SpeechAnswer> {
	let requested: RequestedSpeech = { format: call.format, tempo: 1 };
	const attemptCall: AttemptCall = {
		requestId: call.requestId,
		targets: call.targets,
		tenant: call.tenant,
		signal: call.signal,
		raw: call.raw,
		stickyKey: () => undefined,
		// sendSpeech calls it when the text goes out: the sample may have to be uploaded first.
		onSent: () => {},
		async send(candidate, endpoint, signal) {
			const sent = await sendSpeech(call, candidate, endpoint, deps, signal);
			requested = sent;
			return sent.response;
		},
	};
	const attempts = new Attempts(attemptCall, deps);
	const endMs = deps.clock.monotonicMs() + limitMs;
	return attempts.run(
		async (response, current) => {
			const type = response.headers.get("content-type");
			const format = formatOfType(type, requested.format);
			if (format === "none") throw await noAudio(response);
			const reader = response.body?.getReader();
			const first = reader === undefined ? null : await readFirstBytes(reader);
			if (reader === undefined || first === null) throw brokenAnswer("an answer without a byte", response.status);
			const real = formatOfBytes(first, format);
			if (real === "none") throw brokenAnswer(`status ${response.status}: no audio, though it is said to be`, response.status);
			current.timeout.limit(limitMs, "next piece of audio");
			return {
				upstream: current.server.name,
				retries: attempts.retries,
				format: real,
				sampleRate: rateOfType(type),
				tempo: requested.tempo,
				bytes: rest(first.bytes, reader, current, call, deps),
				cancel: () => drop(reader, current),
			};
		},
		(timeout) => timeout.limit(Number.POSITIVE_INFINITY, "audio", endMs),
	);
}

async function noAudio(response: Response): Promise<UpstreamFailure> {
	const { status } = response;
	const body = errorBody(await readWhole(response, MAX_ERROR_BYTES), undefined);
	return isRecord(body) && isErrorBody(body)
		? failureOfAnswer(status, body, null)
		: brokenAnswer(`status ${status}: the answer is not audio`, status);
}

/** Yields the whole body from its first piece on. However it ends, the upstream's place is released once. */
async function* rest(
	first: Uint8Array,
	reader: BodyReader,
	current: Attempt,
	call: SpeechForward,
	deps: AttemptDeps,
): AsyncGenerator<Uint8Array, void> {
	const { timeout, server } = current;
	const secrets = server.mask.soundPieces();
	let isWhole = false;
	let length = 0;
	try {
		let piece: Uint8Array | undefined = first;
		for (;;) {
			if (piece !== undefined) {
				length += piece.length;
				if (length > MAX_AUDIO_BYTES) throw brokenAnswer("audio without an end");
				// While our own reader is slow, the upstream is not silent.
				timeout.pause();
				yield secrets === null ? piece : secrets.take(piece);
				timeout.resume();
			}
			const read = await reader.read();
			if (read.done) break;
			timeout.onBytes();
			piece = read.value;
		}
		if (secrets !== null) yield secrets.end();
		isWhole = true;
		current.end("good");
	} catch (error) {
		if (call.signal.aborted) throw call.signal.reason;
		const failure = withoutSecrets(asFailure(error, timeout), server.mask);
		current.end(failure);
		logFailure(deps.log, call.requestId, server.name, failure);
		throw failure.answer;
	} finally {
		if (!isWhole) drop(reader, current);
	}
}

function drop(reader: BodyReader, current: Attempt): void {
	current.timeout.abort(new Error("the rest is not wanted"));
	cancelBody(reader);
	current.end(null);
}
