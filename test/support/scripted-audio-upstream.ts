/**
 * A server of OpenAI's audio protocol that does as it is told: forms from its public reference (audio, speech and
 * transcriptions), and those of servers that clone voices. It keeps what it receives.
 */

/** How one speech request is answered. Without any: the bytes of `audioOf`, typed as asked. */
export interface SpeechBehaviour {
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	/** In place of audio. */
	readonly raw?: string | Uint8Array;
	/** In place of the type of the format that was asked for. */
	readonly type?: string;
	/** Nothing is answered until the caller leaves. */
	readonly hang?: boolean;
	/** The second half waits for it. */
	readonly beforeSecondHalf?: Promise<unknown>;
	/** The connection is cut after the first half. */
	readonly dieInTheMiddle?: boolean;
}

export interface ReceivedSpeech {
	readonly path: string;
	readonly headers: Headers;
	/** Of JSON; of a form its texts. */
	readonly body: Readonly<Record<string, unknown>>;
	/** Files of a form. */
	readonly files: Readonly<Record<string, Uint8Array>>;
	/** Resolves when the caller left before the answer was done. */
	readonly aborted: Promise<void>;
}

export interface ScriptedAudioUpstream {
	/** Up to and including /v1. */
	readonly url: string;
	readonly requests: ReceivedSpeech[];
	/** Behaviours for the next requests, in order; then the default again. */
	next(...behaviours: readonly SpeechBehaviour[]): void;
	always(behaviour: SpeechBehaviour): void;
	/** What transcriptions are answered with; a function sees the form. */
	transcribes(answer: object | ((request: ReceivedSpeech) => object)): void;
	reset(): void;
	stop(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
	mp3: "audio/mpeg",
	opus: "audio/opus",
	aac: "audio/aac",
	flac: "audio/flac",
	wav: "audio/wav",
	pcm: "audio/pcm",
};

/** The head of each frame, as the standards have it, and how many bytes of payload follow. */
const FRAMES: Readonly<Record<string, readonly [head: string, payload: number]>> = {
	// Layer III of MPEG-2 at 8 kbit/s and 24 kHz: 24 bytes.
	mp3: ["\xff\xf3\x14\xc0", 20],
	// 32 bytes, 24 kHz, one channel.
	aac: ["\xff\xf1\x58\x40\x04\x1f\xfc", 25],
};

/** A page of a stream of Ogg with one packet. */
function oggPage(flags: number, number: number, packet: Uint8Array): Uint8Array {
	const sizes = [...Array<number>(Math.floor(packet.length / 255)).fill(255), packet.length % 255];
	const head = Buffer.from(`OggS\0${String.fromCharCode(flags)}${"\0".repeat(21)}`, "latin1");
	head[18] = number;
	head[26] = sizes.length;
	return Buffer.concat([head, Uint8Array.from(sizes), packet]);
}

/** What stands before the payload of formats that have one head for all. */
function headOf(format: string): Uint8Array {
	if (format === "opus") {
		const head = oggPage(2, 0, Buffer.from("OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0", "latin1"));
		return Buffer.concat([head, oggPage(0, 1, Buffer.from("OpusTags\0\0\0\0\0\0\0\0", "latin1")), Buffer.from("OggS\0\x04")]);
	}
	if (format === "flac") {
		const info = "\x10\0\x10\0\0\0\0\0\0\0\x05\xdc\0\xf0\0\0\0\0";
		return Buffer.from(`fLaC\x80\0\0\x22${info}${"\0".repeat(16)}\xff\xf8`, "latin1");
	}
	if (format !== "wav") return Buffer.from("\0\0\x01\0", "latin1");
	const form = "fmt \x10\0\0\0\x01\0\x01\0\xc0\x5d\0\0\x80\xbb\0\0\x02\0\x10\0";
	return Buffer.from(`RIFF\xff\xff\xff\xffWAVE${form}data\xff\xff\xff\xff`, "latin1");
}

/**
 * What the server says for a text: frames of the format with bytes in them that tell it apart from any other, 64 bytes a
 * character where the format's head leaves so many.
 */
export function audioOf(text: string, format = "mp3"): Uint8Array {
	const length = 64 * Math.max(1, text.length);
	// Sound is never letters alone.
	const said = Buffer.from(`${format}:${text}`.padEnd(length, ".")).map((byte, at) => (at % 2 === 0 ? byte : byte ^ 0x80));
	const frame = FRAMES[format];
	if (frame === undefined) {
		const head = headOf(format);
		return Buffer.concat([head, said]).subarray(0, Math.max(length, head.length));
	}
	const [head, payload] = frame;
	const frames: Uint8Array[] = [];
	for (let at = 0; at < said.length; at += payload) frames.push(Buffer.from(head, "latin1"), said.subarray(at, at + payload));
	return Buffer.concat(frames).subarray(0, length);
}

export function startScriptedAudioUpstream(): ScriptedAudioUpstream {
	const requests: ReceivedSpeech[] = [];
	const queue: SpeechBehaviour[] = [];
	let standing: SpeechBehaviour = {};
	let transcription: object | ((request: ReceivedSpeech) => object) = { text: "Hello there." };

	const receive = async (request: Request): Promise<ReceivedSpeech> => {
		const aborted = Promise.withResolvers<void>();
		if (request.signal.aborted) aborted.resolve();
		request.signal.addEventListener("abort", () => aborted.resolve(), { once: true });
		const { headers } = request;
		const path = new URL(request.url).pathname;
		const received: ReceivedSpeech = { path, headers, aborted: aborted.promise, ...(await bodyOf(request)) };
		requests.push(received);
		return received;
	};

	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		idleTimeout: 0,
		async fetch(request): Promise<Response> {
			const { pathname } = new URL(request.url);
			if (pathname === "/v1/models") return Response.json({ object: "list", data: [] });
			if (request.method !== "POST") return new Response("not found", { status: 404 });
			if (pathname === "/v1/audio/speech" || pathname === "/v1/audio/speech/upload")
				return speak(await receive(request), queue.shift() ?? standing);
			if (pathname === "/v1/audio/transcriptions") {
				const received = await receive(request);
				const behaviour = queue.shift() ?? standing;
				if (behaviour.hang) await received.aborted;
				if (behaviour.status !== undefined || behaviour.raw !== undefined) return refusal(behaviour);
				return Response.json(typeof transcription === "function" ? transcription(received) : transcription);
			}
			return new Response("not found", { status: 404 });
		},
	});
	return {
		url: `http://127.0.0.1:${server.port}/v1`,
		requests,
		next: (...behaviours) => void queue.push(...behaviours),
		always: (behaviour) => {
			standing = behaviour;
		},
		transcribes: (answer) => {
			transcription = answer;
		},
		reset() {
			requests.length = 0;
			queue.length = 0;
			standing = {};
			transcription = { text: "Hello there." };
		},
		stop: () => server.stop(true),
	};
}

async function bodyOf(request: Request): Promise<Pick<ReceivedSpeech, "body" | "files">> {
	if (request.headers.get("content-type")?.startsWith("application/json"))
		return { body: (await request.json()) as Record<string, unknown>, files: {} };
	const body: Record<string, unknown> = {};
	const files: Record<string, Uint8Array> = {};
	for (const [name, value] of (await request.formData()).entries()) {
		if (typeof value === "string") body[name] = value;
		else files[name] = await value.bytes();
	}
	return { body, files };
}

function refusal({ status = 200, headers, raw = "{}", type = "application/json" }: SpeechBehaviour): Response {
	return new Response(raw as string, { status, headers: { "content-type": type, ...headers } });
}

async function speak(request: ReceivedSpeech, behaviour: SpeechBehaviour): Promise<Response> {
	if (behaviour.hang) await request.aborted;
	if (behaviour.status !== undefined || (behaviour.raw !== undefined && typeof behaviour.raw === "string"))
		return refusal(behaviour);
	const format = String(request.body.response_format ?? "mp3");
	const audio = behaviour.raw instanceof Uint8Array ? behaviour.raw : audioOf(String(request.body.input), format);
	const type = behaviour.type ?? TYPES[format] ?? "application/octet-stream";
	const half = Math.floor(audio.length / 2);
	const body = new ReadableStream({
		async pull(controller) {
			controller.enqueue(audio.subarray(0, half));
			if (behaviour.beforeSecondHalf !== undefined) await behaviour.beforeSecondHalf;
			if (behaviour.dieInTheMiddle) {
				controller.error(new Error("cut"));
				return;
			}
			controller.enqueue(audio.subarray(half));
			controller.close();
		},
	});
	return new Response(body, { headers: { "content-type": type, ...behaviour.headers } });
}
