/** All scripted providers of pictures behind one real socket: each below its own name. */
import { IMAGE_SCRIPTS, type ImageRequest, type ImageScript, type Understood } from "./image-scripts.ts";

export interface ImageBehaviour {
	readonly refuses?: boolean;
	/** In place of the provider's answer to the next request for a picture. */
	readonly answer?: () => Response;
	/** Jobs stay pending, single answers do not come, until the caller leaves. */
	readonly hangs?: boolean;
	/** Where made pictures are said to be, instead of this server. */
	readonly keptAt?: string;
	readonly picture?: Uint8Array;
}

export interface ImageProviderServer {
	readonly understood: Understood[];
	/** Faults in what came, with the provider's name. */
	readonly complaints: string[];
	/** Requests of every kind, like `GET /fal/kept/1`. */
	readonly paths: string[];
	/** Headers of requests for pictures. */
	readonly headers: Headers[];
	/** Resolves when a caller left before its answer was done. */
	left(): Promise<void>;
	behave(behaviour: ImageBehaviour): void;
	reset(): void;
	/** An entry under `upstreams`. */
	upstream(script: ImageScript): object;
	stop(): Promise<void>;
}

export const PROVIDER_KEY = "key-of-the-provider";

export function startImageProviderServer(picture: Uint8Array): ImageProviderServer {
	const state = { understood: [] as Understood[], complaints: [] as string[], paths: [] as string[], headers: [] as Headers[] };
	let behaviour: ImageBehaviour = {};
	let polls = 0;
	let left = Promise.withResolvers<void>();
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		development: false,
		async fetch(request) {
			const { pathname, searchParams } = new URL(request.url);
			const [, name = "", ...below] = pathname.split("/");
			const path = `/${below.join("/")}`;
			const script = IMAGE_SCRIPTS.find(({ provider }) => provider === name);
			if (script === undefined) return new Response(null, { status: 404 });
			state.paths.push(`${request.method} ${pathname}`);
			if (path.startsWith("/kept"))
				return new Response((behaviour.picture ?? picture) as Uint8Array<ArrayBuffer>, {
					headers: { "content-type": "image/png" },
				});
			const [header, value] = script.key;
			if (request.headers.get(header) !== value(PROVIDER_KEY)) state.complaints.push(`${name}: no key in ${header}`);
			const imageRequest: ImageRequest = {
				method: request.method,
				path,
				query: searchParams,
				headers: request.headers,
				body: await bodyOf(request),
			};
			const isAsking = request.method === "POST" && script.asks.test(path);
			if (isAsking) {
				state.headers.push(request.headers);
				const odd = Object.keys(imageRequest.body).filter((member) => !script.known.includes(member));
				if (odd.length > 0) state.complaints.push(`${name}: does not know ${odd.join(", ")}`);
				if (behaviour.answer) return behaviour.answer();
			}
			const address = `http://127.0.0.1:${server.port}/${name}`;
			let answer: Response;
			try {
				answer = script.answer(imageRequest, {
					picture: behaviour.picture ?? picture,
					keep: () => behaviour.keptAt ?? `${address}/kept/${state.paths.length}`,
					at: (below) => `${address}${below}`,
					refuses: behaviour.refuses ?? false,
					pending: () => behaviour.hangs === true || polls++ === 0,
					understood: (request) => void state.understood.push(request),
				});
			} catch (error) {
				state.complaints.push(`${name}: ${String(error)}`);
				return new Response(null, { status: 500 });
			}
			if (!behaviour.hangs) return answer;
			request.signal.addEventListener("abort", () => left.resolve());
			return isAsking && !/job|"urls"|request_id|queued/.test(await answer.clone().text())
				? new Promise<Response>(() => {})
				: answer;
		},
	});
	return {
		...state,
		left: () => left.promise,
		behave: (next) => {
			behaviour = next;
			polls = 0;
		},
		reset() {
			for (const list of Object.values(state)) list.length = 0;
			behaviour = {};
			polls = 0;
			left = Promise.withResolvers();
		},
		upstream: ({ provider, options }) => ({
			provider,
			url: `http://127.0.0.1:${server.port}/${provider}`,
			key: PROVIDER_KEY,
			dialect: "generic",
			discover: false,
			health: { failures: 3, probeEveryMs: 5_000 },
			...(options ? { options: { ...options } } : {}),
		}),
		stop: () => server.stop(true),
	};
}

async function bodyOf(request: Request): Promise<Record<string, unknown>> {
	if (request.method !== "POST") return {};
	if (request.headers.get("content-type")?.startsWith("application/json"))
		return (await request.json()) as Record<string, unknown>;
	const body: Record<string, unknown> = {};
	for (const [name, value] of (await request.formData()).entries()) {
		const read = typeof value === "string" ? value : await value.bytes();
		const before = body[name];
		body[name] = before === undefined ? read : [...(Array.isArray(before) ? before : [before]), read];
	}
	return body;
}
