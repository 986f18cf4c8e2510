import type { AudioFormatName } from "../../catalog/types.ts";
import type { AttemptDeps } from "../attempts.ts";
import { upstreamOffline } from "../failures.ts";
import type { Candidate } from "../pool.ts";
import type { ProviderUpstream } from "../providers/provider-upstream.ts";
import { requestHeaders } from "../request-headers.ts";
import type { Endpoint } from "../upstream-server.ts";
import type { SpeechForward, UpstreamVoices } from "./port.ts";
import { shapeSpeech, upstreamVoice } from "./speech-request.ts";
import { forgetWhereRefused, storedVoice } from "./stored-voice.ts";

export interface SpeechDeps extends AttemptDeps {
	readonly voices: UpstreamVoices;
}

export interface RequestedSpeech {
	readonly format: AudioFormatName;
	/** The factor of the speed that the upstream does not support. */
	readonly tempo: number;
}

type SentSpeech = RequestedSpeech & { readonly response: Response };

/** Sends the text to one upstream: in OpenAI's protocol to a server, through its package to a provider. */
export async function sendSpeech(
	call: SpeechForward,
	candidate: Candidate,
	endpoint: Endpoint,
	deps: SpeechDeps,
	signal: AbortSignal,
): Promise<SentSpeech> {
	const { server, target } = candidate;
	if (server.provider !== null) return sendToProvider(call, candidate, server.provider, deps, signal);
	if (call.sample !== null && target.cloning === "registered") throw upstreamOffline("it is a server, which keeps no voices");
	const { path, body, type, format } = await shapeSpeech(call, target);
	call.onSent(server.name);
	const response = await deps.fetch(`${endpoint.url}${path}`, {
		...endpoint.init,
		method: "POST",
		headers: requestHeaders(endpoint, call.requestId, "*/*", type),
		body,
		signal,
	});
	return { response, format, tempo: 1 };
}

async function sendToProvider(
	call: SpeechForward,
	candidate: Candidate,
	config: ProviderUpstream,
	deps: SpeechDeps,
	signal: AbortSignal,
): Promise<SentSpeech> {
	const { speakByProvider } = await import("../providers/audio/speak.ts");
	const { server, target } = candidate;
	const { sample } = call;
	const isStored = sample !== null && target.cloning === "registered";
	const own = sample === null ? upstreamVoice(call.voice, target) : null;
	const voice = isStored ? await storedVoice(sample, server, config, deps, signal) : own;
	const file = sample === null || isStored ? null : { bytes: await sample.bytes(), type: sample.type };
	signal.throwIfAborted();
	call.onSent(server.name);
	const { model, formats } = target;
	const speech = { ...call, config, model, text: call.input, voice, sample: file, formats, fetch: deps.fetch };
	try {
		return await speakByProvider(speech, signal);
	} catch (error) {
		if (isStored && voice !== null) await forgetWhereRefused(error, { handle: sample.handle, server, name: voice }, config, deps);
		throw error;
	}
}
