import { ApiError } from "../errors/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { App } from "./app.ts";
import { addressList, clientAddress, type ProxyTrust } from "./client-address.ts";
import type { Connection } from "./connection.ts";
import { checkTarget, pathOf, TARGET_PATTERNS, withAbsoluteUrl } from "./request-target.ts";
import { streamEnd } from "./stream-ends.ts";

/** The limit is above the largest route limit, so that our own 413 is sent: that of the HTTP layer has no body. */
const HTTP_BODY_LIMIT = 160 * 1_048_576;

export interface ListenSettings {
	readonly host: string;
	readonly port: number;
	readonly maxRunning: number;
	readonly drainMs: number;
	/** True where other processes of this server listen on the port too. */
	readonly sharesPort: boolean;
	/** Silence after which a connection is closed; 0: never. The runtime rounds to 4 s, and allows at most 255. */
	readonly idleTimeoutSeconds: number;
}

/** Settings for which proxies may report a client's address. */
export interface ForwardingSettings {
	/** Addresses and CIDR ranges. */
	readonly trustedProxies: readonly string[];
	readonly clientAddressHeader: string;
}

export interface Listening {
	readonly url: string;
	readonly port: number;
	/** Number of requests under way. */
	readonly running: number;
	/** Refuses new requests and waits for the running ones, `drainMs` at most. Resolves when all have ended. */
	drain(): Promise<void>;
}

/** Thrown if the server cannot listen on the address or the port (exit 1 with this text). */
export class ListenError extends Error {
	override readonly name: string = "ListenError";
}

/** Thrown if the port is in use. */
export class PortTakenError extends ListenError {
	override readonly name = "PortTakenError";
}

/** A request's socket, as the pipeline sees it. */
class SocketConnection implements Connection {
	readonly #request: Request;
	readonly #socket: Bun.Server<undefined>;
	readonly #trust: () => ProxyTrust;
	readonly #idleTimeoutSeconds: number;

	constructor(request: Request, socket: Bun.Server<undefined>, trust: () => ProxyTrust, idleTimeoutSeconds: number) {
		this.#request = request;
		this.#socket = socket;
		this.#trust = trust;
		this.#idleTimeoutSeconds = idleTimeoutSeconds;
	}

	address(): string {
		return clientAddress(this.#socket.requestIP(this.#request)?.address ?? "", this.#request.headers, this.#trust());
	}

	suspendIdleTimeout(): void {
		this.#socket.timeout(this.#request, 0);
	}

	resumeIdleTimeout(): void {
		this.#socket.timeout(this.#request, this.#idleTimeoutSeconds);
	}
}

/** Returns true for a probe. A full or stopping server answers probes too: being busy is no reason to be killed. */
function isProbe(request: Request): boolean {
	const path = pathOf(request.url);
	return path === "/healthz" || path === "/readyz";
}

function refusal(draining: boolean): ApiError {
	return new ApiError("SERVICE_UNAVAILABLE", {
		message: draining
			? "The service is stopping; try another node or try again shortly"
			: "Too many requests are under way; try again shortly",
		retryAfterSeconds: 1,
		...(draining ? { headers: { connection: "close" } } : {}),
	});
}

function listenError(
	{ host, port }: Pick<ListenSettings, "host" | "port">,
	{ code, message }: NodeJS.ErrnoException,
): ListenError {
	if (code === "EADDRINUSE")
		return new PortTakenError(
			`Port ${port} on ${host} is in use: stop the program that uses it, or choose another with --port or TURNPIKE_PORT`,
		);
	if (code === "EACCES" || code === "EPERM")
		return new ListenError(
			`Port ${port} on ${host} may not be used by this user (${code}): choose one above 1023 with --port or TURNPIKE_PORT`,
		);
	return new ListenError(
		`Cannot listen on ${host} (${code ?? message}): name an address of this machine with --host or TURNPIKE_HOST, like 127.0.0.1`,
	);
}

/** Tries to listen on an address and a port, and releases them again; returns null if it can. */
export async function listenProblem(hostname: string, port: number): Promise<ListenError | null> {
	try {
		await freePort(hostname, port);
		return null;
	} catch (error) {
		return error as ListenError;
	}
}

/**
 * Returns a port on which nothing listens: `port`, or any where that is 0.
 * @throws {ListenError}
 */
export async function freePort(hostname: string, port: number): Promise<number> {
	let server: Bun.Server<undefined>;
	try {
		server = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response() });
	} catch (error) {
		throw listenError({ host: hostname, port }, error as NodeJS.ErrnoException);
	}
	const free = server.port ?? port;
	await server.stop(true);
	return free;
}

/** Returns the trusted proxies as the settings have them now, rebuilt only after a reload has changed them. */
function currentTrust(read: () => ForwardingSettings): () => ProxyTrust {
	let settings = read();
	let trust = trustOf(settings);
	return () => {
		const current = read();
		if (current !== settings) {
			trust = trustOf(current);
			settings = current;
		}
		return trust;
	};
}

function trustOf({ trustedProxies, clientAddressHeader }: ForwardingSettings): ProxyTrust {
	return { proxies: addressList(trustedProxies), header: clientAddressHeader.toLowerCase() };
}

/** Returns the host for a URL that this machine can call. */
function urlHost(host: string): string {
	if (host === "0.0.0.0" || host === "::") return "localhost";
	return host.includes(":") ? `[${host}]` : host;
}

/**
 * Serves an application on a socket: counts running requests, refuses above the limit, drains.
 * @throws ListenError
 */
export function listen(app: App, settings: ListenSettings, forwarding: () => ForwardingSettings, log: Log): Listening {
	let running = 0;
	let draining = false;
	let idle: (() => void) | undefined;
	const trust = currentTrust(forwarding);
	const leave = () => {
		running--;
		if (running === 0) idle?.();
	};
	const answer = async (received: Bun.BunRequest, socket: Bun.Server<undefined>): Promise<Response> => {
		const request = withAbsoluteUrl(received);
		try {
			checkTarget(received.url, received.params);
		} catch (error) {
			return app.refuse(request, error as ApiError);
		}
		if ((draining || running >= settings.maxRunning) && !isProbe(request)) return app.refuse(request, refusal(draining));
		running++;
		let handedOver = false;
		try {
			const response = await app.fetch(request, new SocketConnection(received, socket, trust, settings.idleTimeoutSeconds));
			const end = streamEnd(response);
			handedOver = end !== undefined;
			end?.then(leave, leave);
			return response;
		} finally {
			if (!handedOver) leave();
		}
	};
	let server: Bun.Server<undefined>;
	try {
		server = Bun.serve({
			hostname: settings.host,
			port: settings.port,
			idleTimeout: settings.idleTimeoutSeconds,
			maxRequestBodySize: HTTP_BODY_LIMIT,
			development: false,
			// Outside of development the runtime shares the port by default; a second server would take half of the requests.
			reusePort: settings.sharesPort,
			routes: Object.fromEntries(TARGET_PATTERNS.map((pattern) => [pattern, answer])),
			// Handles paths with an empty segment, or with more segments than any route has.
			fetch(received) {
				return app.notFound(withAbsoluteUrl(received));
			},
			error(error) {
				log.error({ cause: error.stack ?? error.message }, "the HTTP layer caught an error");
				return app.refuse(new Request("http://localhost/"), new ApiError("UNKNOWN_ERROR"));
			},
		});
	} catch (error) {
		throw listenError(settings, error as NodeJS.ErrnoException);
	}
	return {
		url: `http://${urlHost(settings.host)}:${server.port}`,
		port: server.port ?? settings.port,
		get running() {
			return running;
		},
		async drain() {
			draining = true;
			const stopped = server.stop();
			let timer: ReturnType<typeof setTimeout> | undefined;
			const limit = new Promise<void>((resolve) => {
				timer = setTimeout(resolve, settings.drainMs);
			});
			const allEnded =
				running === 0
					? Promise.resolve()
					: new Promise<void>((resolve) => {
							idle = resolve;
						});
			await Promise.race([allEnded, limit]);
			clearTimeout(timer);
			if (running > 0) log.warn({ running }, "requests were still running at the end of the drain time; they are cut");
			await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, running > 0 ? 0 : 250))]);
			await server.stop(true);
		},
	};
}
