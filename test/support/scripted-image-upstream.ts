/**
 * A server of OpenAI's images protocol that does as it is told, written from its public reference (images: create, and create
 * edit as a form). It keeps what it receives.
 */

/** How one request is answered. Without any: a picture of the size that was asked for, in one colour. */
export interface ImageBehaviour {
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	/** In place of OpenAI's answer. */
	readonly raw?: string;
	/** In place of the pictures that were asked for. */
	readonly pictures?: readonly Uint8Array[];
	/** Pictures are not in the answer but at addresses of this server, or another. */
	readonly asUrl?: "own" | "other";
	/** Nothing is answered until the caller leaves. */
	readonly hang?: boolean;
}

export interface ReceivedFile {
	readonly field: string;
	readonly name: string;
	readonly type: string;
	readonly bytes: Uint8Array;
}

export interface ReceivedImageCall {
	readonly path: string;
	readonly headers: Headers;
	readonly body: Readonly<Record<string, unknown>>;
	/** In the order of the form. */
	readonly files: readonly ReceivedFile[];
	/** Resolves when the caller left before the answer was done. */
	readonly aborted: Promise<void>;
}

export interface ScriptedImageUpstream {
	/** Up to and including /v1. */
	readonly url: string;
	readonly requests: ReceivedImageCall[];
	/** Behaviours for the next requests, in order; then the default again. */
	next(...behaviours: readonly ImageBehaviour[]): void;
	always(behaviour: ImageBehaviour): void;
	reset(): void;
	stop(): Promise<void>;
}

/** A picture for a size like `1024x768`. */
export type Painter = (size: string) => Promise<Uint8Array>;

export function startScriptedImageUpstream(paint: Painter): ScriptedImageUpstream {
	const requests: ReceivedImageCall[] = [];
	const queue: ImageBehaviour[] = [];
	const stored = new Map<string, Uint8Array>();
	let standing: ImageBehaviour = {};

	const receive = async (request: Request): Promise<ReceivedImageCall> => {
		const aborted = Promise.withResolvers<void>();
		if (request.signal.aborted) aborted.resolve();
		request.signal.addEventListener("abort", () => aborted.resolve(), { once: true });
		const { headers } = request;
		const path = new URL(request.url).pathname;
		const received: ReceivedImageCall = { path, headers, aborted: aborted.promise, ...(await bodyOf(request)) };
		requests.push(received);
		return received;
	};

	const answer = async (received: ReceivedImageCall, behaviour: ImageBehaviour): Promise<Response> => {
		if (behaviour.hang) await received.aborted;
		if (behaviour.status !== undefined || behaviour.raw !== undefined)
			return new Response(behaviour.raw ?? "{}", {
				status: behaviour.status ?? 200,
				headers: { "content-type": "application/json", ...behaviour.headers },
			});
		const count = Number(received.body.n ?? 1);
		const size = String(received.body.size ?? "512x512");
		const pictures = behaviour.pictures ?? (await Promise.all(Array.from({ length: count }, () => paint(size))));
		const data = pictures.map((bytes, index) => {
			if (behaviour.asUrl === undefined) return { b64_json: Buffer.from(bytes).toString("base64") };
			const name = `/kept/${requests.length}-${index}.png`;
			stored.set(name, bytes);
			return { url: behaviour.asUrl === "own" ? `http://127.0.0.1:${server.port}${name}` : `http://elsewhere.example${name}` };
		});
		return Response.json({ created: 1, data });
	};

	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		idleTimeout: 0,
		maxRequestBodySize: 256 << 20,
		async fetch(request): Promise<Response> {
			const { pathname } = new URL(request.url);
			if (pathname === "/v1/models") return Response.json({ object: "list", data: [] });
			const picture = stored.get(pathname);
			if (picture !== undefined)
				return new Response(picture as Uint8Array<ArrayBuffer>, { headers: { "content-type": "image/png" } });
			if (pathname !== "/v1/images/edits" && pathname !== "/v1/images/generations") return new Response("no", { status: 404 });
			return answer(await receive(request), queue.shift() ?? standing);
		},
	});
	return {
		url: `http://127.0.0.1:${server.port}/v1`,
		requests,
		next: (...behaviours) => void queue.push(...behaviours),
		always: (behaviour) => {
			standing = behaviour;
		},
		reset() {
			requests.length = 0;
			queue.length = 0;
			standing = {};
		},
		stop: () => server.stop(true),
	};
}

async function bodyOf(request: Request): Promise<Pick<ReceivedImageCall, "body" | "files">> {
	if (request.headers.get("content-type")?.startsWith("application/json"))
		return { body: (await request.json()) as Record<string, unknown>, files: [] };
	const body: Record<string, unknown> = {};
	const files: ReceivedFile[] = [];
	for (const [field, value] of (await request.formData()).entries()) {
		if (typeof value === "string") body[field] = value;
		else files.push({ field, name: value.name, type: value.type, bytes: await value.bytes() });
	}
	return { body, files };
}
