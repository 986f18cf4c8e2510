/** All scripted providers behind one real socket: each below its own name. */
import { pricedModel } from "../chat-bodies.ts";
import { type ProviderRequest, type ProviderScript, SCRIPTS, type Scene, TALK } from "./index.ts";
import { type Play, playOf } from "./upstream.ts";

/** A request that came, and what became of it. */
export interface SocketRequest extends ProviderRequest {
	readonly provider: string;
	/** Resolves when the other side closed before the answer was done. */
	readonly aborted: Promise<void>;
}

/** What the next request gets in place of a whole answer with the scene TALK. */
export type Behaviour = Scene | Play | ((script: ProviderScript, stream: boolean) => Play);

export interface ProviderServer {
	readonly requests: SocketRequest[];
	/** Complaints of the scripts about what came, with the provider's name. */
	readonly complaints: string[];
	next(...behaviours: readonly Behaviour[]): void;
	/** `upstreams` and `models.entries` of a configuration: a priced model for each provider, named like it. */
	readonly upstreams: Readonly<Record<string, object>>;
	readonly models: Readonly<Record<string, object>>;
	stop(): Promise<void>;
}

export function startProviderServer(): ProviderServer {
	const requests: SocketRequest[] = [];
	const complaints: string[] = [];
	const queue: Behaviour[] = [];
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		development: false,
		error: () => new Response(null, { status: 500 }),
		async fetch(request) {
			const { pathname } = new URL(request.url);
			const [, name = "", ...rest] = pathname.split("/");
			const script = SCRIPTS.find(({ provider }) => provider === name);
			if (script === undefined || request.method !== "POST") return new Response(null, { status: 404 });
			const aborted = Promise.withResolvers<void>();
			request.signal.addEventListener("abort", () => aborted.resolve());
			const body = (await request.json()) as Record<string, unknown>;
			const received = { provider: name, path: `/${rest.join("/")}`, headers: request.headers, body, aborted: aborted.promise };
			requests.push(received);
			complaints.push(...script.complaints(received).map((complaint) => `${name}: ${complaint}`));
			const stream = body.stream === true || /stream/i.test(received.path);
			return answer(playFor(queue.shift() ?? TALK, script, stream), aborted.promise);
		},
	});
	const named = SCRIPTS.map((script) => [script.provider, script] as const);
	const address = (name: string) => `http://127.0.0.1:${server.port}/${name}`;
	return {
		requests,
		complaints,
		next: (...behaviours) => void queue.push(...behaviours),
		upstreams: Object.fromEntries(
			named.map(([name, { provider, settings }]) => [
				name,
				{
					provider,
					url: address(name),
					dialect: "generic",
					discover: false,
					health: { failures: 3, probeEveryMs: 5_000 },
					...settings,
				},
			]),
		),
		models: Object.fromEntries(
			named.map(([name, { model }]) => [
				name,
				pricedModel([], {
					price: { input: 1, output: 4, cacheInput: 0.1, cacheWrite: 2 },
					capabilities: { supportsReasoning: true, supportsFunctionCalling: true, supportsVision: true },
					upstreams: [{ upstream: name, model, weight: 1, order: 0 }],
				}),
			]),
		),
		stop: () => server.stop(true),
	};
}

function playFor(behaviour: Behaviour, script: ProviderScript, stream: boolean): Play {
	if (typeof behaviour === "function") return behaviour(script, stream);
	return "bytes" in behaviour ? behaviour : playOf(script, stream, behaviour);
}

function answer({ bytes, status = 200, headers = {}, breaks, hangs, after }: Play, aborted: Promise<void>): Response {
	const body = new ReadableStream({
		async start(controller) {
			controller.enqueue(bytes);
			await Promise.race([hangs ? new Promise(() => {}) : after, aborted]);
			if (breaks) controller.error(new Error("scripted cut"));
			else controller.close();
		},
	});
	return new Response(body, { status, headers });
}
