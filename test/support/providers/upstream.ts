/** A provider's upstream over a fetch that a test plays: what is asked, and an answer cut into pieces as it likes. */
import type { UpstreamConfig } from "../../../src/config/index.ts";
import type { Fetch } from "../../../src/upstreams/index.ts";
import type { ProviderRequest, ProviderScript, ScriptedError } from "./script.ts";

export const ADDRESS = "http://provider.test/base";

/** The entry of an upstream that this script plays. */
export function upstreamOf({ provider, settings }: ProviderScript, more: Partial<UpstreamConfig> = {}): UpstreamConfig {
	return {
		provider,
		url: ADDRESS,
		dialect: "generic",
		discover: false,
		health: { failures: 3, probeEveryMs: 5_000 },
		...settings,
		...(settings.options ? { options: { ...settings.options } } : {}),
		...more,
	};
}

/** How one request is answered. */
export interface Play {
	readonly bytes: Uint8Array;
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	/** Where the bytes are cut; default: nowhere. */
	readonly cuts?: readonly number[];
	/** Ends the body with a broken connection. */
	readonly breaks?: boolean;
	/** What the body's end waits for after its bytes. */
	readonly after?: Promise<unknown>;
	/** The body stays open after its bytes. */
	readonly hangs?: boolean;
}

export interface PlayedProvider {
	readonly fetch: Fetch;
	readonly requests: (ProviderRequest & { readonly signal: AbortSignal })[];
	/** Plays for the next requests, in order; the last one stays. */
	next(...plays: readonly Play[]): void;
}

export function playedProvider(): PlayedProvider {
	const requests: PlayedProvider["requests"] = [];
	let plays: readonly Play[] = [];
	return {
		requests,
		next(...more) {
			plays = more;
		},
		async fetch(url, init) {
			const signal = init.signal ?? new AbortController().signal;
			signal.throwIfAborted();
			const path = url.startsWith(ADDRESS) ? url.slice(ADDRESS.length).replace(/\?.*$/, "") : url;
			const text = init.body == null ? "{}" : await new Response(init.body as string).text();
			requests.push({ path, headers: new Headers(init.headers as Headers), body: JSON.parse(text), signal });
			const play = plays.length > 1 ? plays[0] : plays.at(-1);
			plays = plays.length > 1 ? plays.slice(1) : plays;
			if (play === undefined) throw new Error("nothing to play");
			return answerOf(play, signal);
		},
	};
}

function answerOf({ bytes, status = 200, headers = {}, cuts = [], breaks, hangs, after }: Play, signal: AbortSignal): Response {
	const borders = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
	const pieces = borders.slice(1).map((end, index) => bytes.slice(borders[index], end));
	const body = new ReadableStream<Uint8Array>({
		start: (controller) =>
			signal.addEventListener("abort", () => {
				try {
					controller.error(signal.reason);
				} catch {
					// It has ended already.
				}
			}),
		async pull(controller) {
			const piece = pieces.shift();
			if (piece !== undefined) return controller.enqueue(piece);
			await after;
			if (breaks) controller.error(Object.assign(new Error("the socket was closed"), { code: "ECONNRESET" }));
			else if (hangs) await new Promise(() => {});
			else controller.close();
		},
	});
	return new Response(body, { status, headers });
}

export function playOf(script: ProviderScript, stream: boolean, scene: Parameters<ProviderScript["stream"]>[0]): Play {
	return stream
		? { bytes: script.stream(scene), headers: { "content-type": script.streamType } }
		: { bytes: json(script.whole(scene)), headers: { "content-type": "application/json" } };
}

export function errorPlay({ status, body, headers }: ScriptedError): Play {
	const bytes = typeof body === "string" ? new TextEncoder().encode(body) : json(body);
	return { bytes, status, headers: { "content-type": "application/json", ...headers } };
}

function json(value: object): Uint8Array {
	return new TextEncoder().encode(JSON.stringify(value));
}
