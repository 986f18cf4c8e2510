/** All scripted providers of speech behind one real socket: each below its own name. */
import type { AudioFormatName } from "../../../src/catalog/types.ts";
import { PROVIDER_KEY, type ScriptedSpeechRequest, SPEECH_SCRIPTS, type SpeechScript } from "./speech-scripts.ts";

/** What the next request gets in place of its audio. */
export interface SpeechPlay {
	readonly status?: number;
	readonly body?: object | string;
	readonly headers?: Readonly<Record<string, string>>;
	/** In place of audio. */
	readonly audio?: Uint8Array;
	readonly type?: string;
	/** Nothing is answered until the caller leaves. */
	readonly hang?: boolean;
	/** The second half of the audio waits for it. */
	readonly beforeSecondHalf?: Promise<unknown>;
	/** The connection is cut after the first half. */
	readonly cut?: boolean;
}

export interface SpeechServer {
	readonly requests: ScriptedSpeechRequest[];
	/** What came that the references do not know. */
	readonly complaints: string[];
	next(...plays: readonly SpeechPlay[]): void;
	/** Answers requests below a provider's address that are no speech; undefined: not its matter. */
	also(answer: (speechRequest: ScriptedSpeechRequest) => Response | undefined | Promise<Response | undefined>): void;
	/** Of a configuration: one for each provider, named like it. */
	readonly upstreams: Readonly<Record<string, object>>;
	reset(): void;
	stop(): Promise<void>;
}

const TYPES: Readonly<Record<AudioFormatName, string>> = {
	mp3: "audio/mpeg",
	opus: "audio/ogg",
	aac: "audio/aac",
	flac: "audio/flac",
	wav: "audio/wav",
	pcm: "application/octet-stream",
};

/** `sounds`: what is said, in every format. */
export function startSpeechServer(sounds: Readonly<Record<AudioFormatName, Uint8Array>>): SpeechServer {
	const requests: ScriptedSpeechRequest[] = [];
	const complaints: string[] = [];
	const queue: SpeechPlay[] = [];
	let also: Parameters<SpeechServer["also"]>[0] = () => undefined;
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		idleTimeout: 0,
		development: false,
		error: () => new Response(null, { status: 500 }),
		async fetch(request) {
			const speechRequest = await askedOf(request);
			const script = SPEECH_SCRIPTS.find(({ provider }) => provider === speechRequest.provider);
			if (script === undefined) return new Response(null, { status: 404 });
			requests.push(speechRequest);
			const other = await also(speechRequest);
			if (other !== undefined) return other;
			const [header, value] = script.key;
			const isFile = speechRequest.method === "GET";
			if (!isFile && speechRequest.headers.get(header) !== value)
				complaints.push(`${speechRequest.provider}: no key in ${header}`);
			const format = script.format(speechRequest);
			if (format !== null) return speak(script, speechRequest, format, sounds[format], queue);
			complaints.push(
				`${speechRequest.provider}: ${speechRequest.method} ${speechRequest.path} ${JSON.stringify(speechRequest.body)}`,
			);
			return new Response(null, { status: 400 });
		},
	});
	const upstreams = SPEECH_SCRIPTS.map(({ provider }) => [
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
		next: (...plays) => void queue.push(...plays),
		also: (answer) => {
			also = answer;
		},
		upstreams: Object.fromEntries(upstreams),
		reset() {
			requests.length = 0;
			complaints.length = 0;
			queue.length = 0;
			also = () => undefined;
		},
		stop: () => server.stop(true),
	};
}

async function askedOf(request: Request): Promise<ScriptedSpeechRequest> {
	const { pathname, searchParams } = new URL(request.url);
	const [, provider = "", ...rest] = pathname.split("/");
	const aborted = Promise.withResolvers<void>();
	if (request.signal.aborted) aborted.resolve();
	request.signal.addEventListener("abort", () => aborted.resolve(), { once: true });
	const { method, headers } = request;
	const head = { provider, method, path: `/${rest.join("/")}`, query: searchParams, headers, aborted: aborted.promise };
	if (headers.get("content-type")?.startsWith("application/json"))
		return { ...head, body: (await request.json()) as Record<string, unknown>, files: {} };
	const body: Record<string, unknown> = {};
	const files: Record<string, Uint8Array> = {};
	if (headers.get("content-type")?.startsWith("multipart/form-data"))
		for (const [name, value] of (await request.formData()).entries()) {
			if (typeof value === "string") body[name] = value;
			else files[name] = await value.bytes();
		}
	else if (method === "POST") files.body = await request.bytes();
	return { ...head, body, files };
}

async function speak(
	script: SpeechScript,
	speechRequest: ScriptedSpeechRequest,
	format: AudioFormatName,
	sound: Uint8Array,
	queue: SpeechPlay[],
): Promise<Response> {
	const isFile = script.provider === "fal" && speechRequest.method === "GET";
	// The audio of fal is a file that the answer names.
	if (script.provider === "fal" && !isFile && queue[0]?.audio !== undefined)
		return Response.json(script.json?.("", speechRequest));
	const play = queue.shift() ?? {};
	if (play.hang) await speechRequest.aborted;
	if (play.body !== undefined || play.status !== undefined) {
		const { status = 200, body = {}, headers = {} } = play;
		const text = typeof body === "string" ? body : JSON.stringify(body);
		return new Response(text, { status, headers: { "content-type": "application/json", ...headers } });
	}
	const audio = play.audio ?? sound;
	if (script.json !== undefined && !isFile)
		return Response.json(script.json(Buffer.from(audio).toString("base64"), speechRequest));
	const half = Math.floor(audio.length / 2);
	const body = new ReadableStream({
		async pull(controller) {
			controller.enqueue(audio.subarray(0, half));
			await play.beforeSecondHalf;
			if (play.cut) return controller.error(new Error("cut"));
			controller.enqueue(audio.subarray(half));
			controller.close();
		},
	});
	return new Response(body, { headers: { "content-type": play.type ?? TYPES[format] } });
}
