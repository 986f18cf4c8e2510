import type { SpeechModelV4CallOptions } from "@ai-sdk/provider";
import type { AudioFormatName } from "../../../catalog/types.ts";
import { nextTurn } from "../../../wire/index.ts";
import { upstreamOffline } from "../../failures.ts";
import type { Fetch } from "../../fetch.ts";
import { packageFailure } from "../chat/package-failure.ts";
import { loadProvider } from "../load-provider.ts";
import type { ProviderUpstream } from "../provider-upstream.ts";
import { AudioInJson } from "./audio-in-json.ts";
import { boundedAnswer } from "./bounded-answer.ts";
import { type SpeechCapabilities, type SpeechOptions, speechCapabilities } from "./speech-capabilities.ts";

/** A text to speak, with the provider's own name of the voice. */
export interface ProviderSpeech {
	readonly config: ProviderUpstream;
	readonly requestId: string;
	/** The provider's own name for the model. */
	readonly model: string;
	readonly text: string;
	/** null: the sample defines the voice. */
	readonly voice: string | null;
	readonly sample: { readonly bytes: Uint8Array; readonly type: string } | null;
	readonly format: AudioFormatName;
	/** The formats that the target is configured to make; undefined: all that its provider supports. */
	readonly formats: readonly AudioFormatName[] | undefined;
	readonly speed: number;
	readonly prompt?: string | undefined;
	readonly temperature?: number | undefined;
	readonly topP?: number | undefined;
	readonly language?: string | undefined;
	readonly fetch: Fetch;
}

export interface ProviderAudio {
	/** An answer like that of an OpenAI-compatible server. */
	readonly response: Response;
	/** The requested format. */
	readonly format: AudioFormatName;
	/** The factor of the speed that the provider does not support. */
	readonly tempo: number;
}

/** Limit of answers without audio: jobs and errors. */
const MAX_JSON_BYTES = 1 << 20;
/** Bytes of complete audio sent in one turn of the event loop. */
const STEP_BYTES = 1 << 20;

const TYPES: Readonly<Record<AudioFormatName, string>> = {
	mp3: "audio/mpeg",
	opus: "audio/ogg",
	aac: "audio/aac",
	flac: "audio/flac",
	wav: "audio/wav",
	pcm: "audio/pcm;rate=24000",
};

/**
 * Speaks through a provider's package. If the provider streams the audio, it is passed on as it arrives. Throws errors
 * of the connection, UpstreamFailure, and ApiError for requests that no provider supports.
 */
export async function speakByProvider(speech: ProviderSpeech, signal: AbortSignal): Promise<ProviderAudio> {
	const { config, model } = speech;
	const capabilities = speechCapabilities(config.provider, model);
	if (capabilities === undefined) throw upstreamOffline(`${config.provider} offers no speech`);
	if (speech.sample !== null && !capabilities.sample)
		throw upstreamOffline(`${config.provider} takes no samples with its requests`);
	const natural = capabilities.speed !== null && speech.speed >= capabilities.speed.min && speech.speed <= capabilities.speed.max;
	const format = requestedFormat(speech, capabilities);
	const tap = new AudioTap(speech.fetch, capabilities.audio);
	try {
		const makers = await loadProvider(config, { fetch: tap.fetch });
		if (makers.speech === undefined) throw upstreamOffline(`${config.provider} offers no speech`);
		const speed = natural && speech.speed !== 1 ? speech.speed : undefined;
		const result = await makers.speech(model).doGenerate(callOptions({ speech, capabilities, format, speed, signal }));
		return {
			response: tap.answer ?? new Response(await tap.soundIn(result.audio), { headers: { "content-type": TYPES[format] } }),
			format,
			tempo: natural ? 1 : speech.speed,
		};
	} catch (error) {
		tap.drop();
		throw signal.aborted ? signal.reason : packageFailure(error);
	}
}

function requestedFormat({ format, formats }: ProviderSpeech, capabilities: SpeechCapabilities): AudioFormatName {
	const makes = (name: AudioFormatName) => capabilities.formats[name] !== undefined && (formats?.includes(name) ?? true);
	if (makes(format)) return format;
	return formats?.find(makes) ?? capabilities.first;
}

interface CallContent {
	readonly speech: ProviderSpeech;
	readonly capabilities: SpeechCapabilities;
	readonly format: AudioFormatName;
	readonly speed: number | undefined;
	readonly signal: AbortSignal;
}

function callOptions({ speech, capabilities, format, speed, signal }: CallContent): SpeechModelV4CallOptions {
	const { text, voice, sample, prompt, language, requestId } = speech;
	const outputFormat = capabilities.formats[format];
	const details: SpeechOptions = { ...speech, speed, sample: sample === null ? null : encodeSample(sample) };
	return {
		text,
		...(voice === null ? {} : { voice: voiceFor(speech.config, voice) }),
		...(outputFormat === undefined ? {} : { outputFormat }),
		...(capabilities.prompt && prompt !== undefined ? { instructions: prompt } : {}),
		...(capabilities.language && language !== undefined ? { language } : {}),
		...(speed === undefined ? {} : { speed }),
		providerOptions: { ...capabilities.options?.(details) },
		headers: { "x-request-id": requestId },
		abortSignal: signal,
	};
}

/** Encodes the voice for ElevenLabs, whose package puts it into the URL as it is. */
function voiceFor({ provider }: ProviderUpstream, voice: string): string {
	return provider === "elevenlabs" ? encodeURIComponent(voice) : voice;
}

function encodeSample({ bytes, type }: { readonly bytes: Uint8Array; readonly type: string }) {
	const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
	return { base64, dataUrl: `data:${type};base64,${base64}` };
}

/** Takes the audio from a package's fetch, since the package would read it to its end first. */
class AudioTap {
	readonly #fetch: Fetch;
	readonly #audio: SpeechCapabilities["audio"];
	readonly #sound = new AudioInJson();
	#answer: Response | null = null;

	constructor(fetch: Fetch, audio: SpeechCapabilities["audio"]) {
		this.#fetch = fetch;
		this.#audio = audio;
	}

	/** The audio; null if it is inside JSON, which the package reads. */
	get answer(): Response | null {
		return this.#answer;
	}

	readonly fetch: Fetch = async (url, init) => {
		const response = await this.#fetch(url, init);
		const isAudio = this.#audio === "answer" || (this.#audio === "file" && (init.method ?? "GET") === "GET");
		if (response.ok && this.#audio === "json") return this.#sound.withStandIn(response);
		if (!response.ok || !isAudio) return boundedAnswer(response, MAX_JSON_BYTES);
		this.#answer = this.#audio === "file" ? asUnknownFile(response) : response;
		return new Response(new Uint8Array(1), { status: response.status, headers: response.headers });
	};

	/** Returns the audio of a JSON answer, from the package's result. */
	async soundIn(audio: string | Uint8Array): Promise<ReadableStream<Uint8Array>> {
		const sound = await this.#sound.restore(audio);
		let at = 0;
		return new ReadableStream({
			async pull(controller) {
				if (at > 0) await nextTurn();
				if (at < sound.length) controller.enqueue(sound.subarray(at, at + STEP_BYTES));
				else controller.close();
				at += STEP_BYTES;
			},
		});
	}

	drop(): void {
		void this.#answer?.body?.cancel().catch(() => {});
	}
}

/** Changes a file's type to an unknown one, since a file store may not know it. The file must then be decoded. */
function asUnknownFile(response: Response): Response {
	const type = response.headers.get("content-type") ?? "";
	if (/^(audio|video)\//i.test(type)) return response;
	return new Response(response.body, { status: response.status, headers: { "content-type": "audio/x-unknown" } });
}
