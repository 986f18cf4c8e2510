/**
 * A model server for benches: it answers with bytes that are made once, so that what is measured is the road
 * to it. A stream where the request asks for one. As little work as the runtime allows.
 */
import { chunksOf, completionOf, type Speech, usageChunk, usageOfSpeech } from "./chat-answers.ts";

export interface FastUpstreamOptions {
	readonly port?: number;
	/** Chunks of content of each stream; default 50. */
	readonly chunks?: number;
	/** Between chunks; default none: all are written at once, one write each. */
	readonly chunkDelayMs?: number;
}

export interface FastUpstream {
	/** Base address up to and including /v1. */
	readonly url: string;
	stop(): Promise<void>;
}

interface DirectSink {
	write(bytes: Uint8Array): number | Promise<number>;
	flush(): void;
	close(): void;
}

const encoder = new TextEncoder();
const STREAM_MARK = encoder.encode('"stream":true');

export function startFastUpstream(options: FastUpstreamOptions = {}): FastUpstream {
	const speech: Speech = { content: Array.from({ length: options.chunks ?? 50 }, (_, index) => ` word${index}`) };
	const whole = encoder.encode(JSON.stringify(completionOf(speech, "fast")));
	const frame = (event: object | string) =>
		encoder.encode(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
	const frames = [...chunksOf(speech, "fast"), usageChunk(usageOfSpeech(speech), "fast"), "[DONE]"].map(frame);
	const jsonHeaders = { headers: { "content-type": "application/json" } };
	const streamHeaders = { headers: { "content-type": "text/event-stream" } };
	const models = JSON.stringify({ object: "list", data: [{ id: "fast", object: "model", created: 0, owned_by: "bench" }] });
	const server = Bun.serve({
		port: options.port ?? 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		development: false,
		async fetch(request) {
			if (request.method === "GET") return new Response(models, jsonHeaders);
			const body = await request.bytes();
			if (!Buffer.from(body.buffer, body.byteOffset, body.length).includes(STREAM_MARK)) return new Response(whole, jsonHeaders);
			return new Response(streamOf(frames, options.chunkDelayMs), streamHeaders);
		},
	});
	return { url: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) };
}

function streamOf(frames: readonly Uint8Array[], delayMs: number | undefined): ReadableStream {
	return new ReadableStream({
		type: "direct",
		async pull(controller) {
			const sink = controller as unknown as DirectSink;
			for (const bytes of frames) {
				const written = sink.write(bytes);
				sink.flush();
				if (typeof written !== "number") await written;
				if (delayMs !== undefined) await Bun.sleep(delayMs);
			}
			sink.close();
		},
	});
}
