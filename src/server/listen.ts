import { ApiError } from "../errors/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { App } from "./app.ts";
import type { Connection } from "./call.ts";
import { addressList, clientAddress } from "./client-address.ts";
import { IDLE_TIMEOUT_SECONDS } from "./idle-timeout.ts";
import { streamEnd } from "./stream-ends.ts";

/** Above the largest route limit, so that our own 413 comes first (the HTTP layer's is bare). */
const HTTP_BODY_LIMIT = 160 * 1_048_576;

export interface ListenSettings {
	readonly host: string;
	readonly port: number;
	readonly maxRunning: number;
	readonly drainMs: number;
}

export interface Listening {
	readonly url: string;
	readonly port: number;
	/** Requests under way. */
	readonly running: number;
	/** No new requests; running ones finish, `drainMs` at most. Resolves when all have ended. */
	drain(): Promise<void>;
}

/** The address or the port cannot be listened on (exit 1 with this text). */
export class ListenError extends Error {
	override readonly name: string = "ListenError";
}

/** The port is in use. */
export class PortTakenError extends ListenError {
	override readonly name = "PortTakenError";
}

/** A request's socket, as the pipeline sees it. */
class SocketConnection implements Connection {
	readonly #request: Request;
	readonly #socket: Bun.Server<undefined>;
	readonly #trusted: () => ReturnType<typeof addressList>;

	constructor(request: Request, socket: Bun.Server<undefined>, trusted: () => ReturnType<typeof addressList>) {
		this.#request = request;
		this.#socket = socket;
		this.#trusted = trusted;
	}

	address(): string {
		return clientAddress(this.#socket.requestIP(this.#request)?.address ?? "", this.#request.headers, this.#trusted());
	}

	setIdleTimeout(seconds: number): void {
		this.#socket.timeout(this.#request, seconds);
	}
}

/** Probes are answered by a full or stopping server too: being busy is no reason to be killed. */
function isProbe(request: Request): boolean {
	const { pathname } = new URL(request.url);
	return pathname === "/healthz" || pathname === "/readyz";
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

function listenError({ host, port }: ListenSettings, { code, message }: NodeJS.ErrnoException): ListenError {
	if (code === "EADDRINUSE")
		return new PortTakenError(
			`Port ${port} on ${host} is taken: stop what uses it, or choose another with --port or TURNPIKE_PORT`,
		);
	if (code === "EACCES" || code === "EPERM")
		return new ListenError(
			`Port ${port} on ${host} may not be used by this user (${code}): choose one above 1023 with --port or TURNPIKE_PORT`,
		);
	return new ListenError(
		`Cannot listen on ${host} (${code ?? message}): name an address of this machine with --host or TURNPIKE_HOST, like 127.0.0.1`,
	);
}

/** Serves an application on a socket: counts running requests, refuses above the bound, drains. Throws `ListenError`. */
export function listen(app: App, settings: ListenSettings, trustedProxies: () => readonly string[], log: Log): Listening {
	let running = 0;
	let draining = false;
	let idle: (() => void) | undefined;
	let trusted = { entries: trustedProxies(), list: addressList(trustedProxies()) };
	const trustedNow = () => {
		const entries = trustedProxies();
		if (entries !== trusted.entries) trusted = { entries, list: addressList(entries) };
		return trusted.list;
	};
	const leave = () => {
		running--;
		if (running === 0) idle?.();
	};
	let server: Bun.Server<undefined>;
	try {
		server = Bun.serve({
			hostname: settings.host,
			port: settings.port,
			idleTimeout: IDLE_TIMEOUT_SECONDS,
			maxRequestBodySize: HTTP_BODY_LIMIT,
			development: false,
			// Outside of development the runtime shares the port by default: a second server would take half of the requests.
			reusePort: false,
			async fetch(request, socket) {
				if ((draining || running >= settings.maxRunning) && !isProbe(request)) return app.refuse(request, refusal(draining));
				running++;
				let handedOver = false;
				try {
					const response = await app.fetch(request, new SocketConnection(request, socket, trustedNow));
					const end = streamEnd(response);
					handedOver = end !== undefined;
					end?.then(leave, leave);
					return response;
				} finally {
					if (!handedOver) leave();
				}
			},
			error(error) {
				log.error({ cause: error.stack ?? error.message }, "the HTTP layer caught an error");
				return app.refuse(new Request("http://localhost/"), new ApiError("UNKNOWN_ERROR"));
			},
		});
	} catch (error) {
		throw listenError(settings, error as NodeJS.ErrnoException);
	}
	const host =
		settings.host === "0.0.0.0" || settings.host === "::"
			? "localhost"
			: settings.host.includes(":")
				? `[${settings.host}]`
				: settings.host;
	return {
		url: `http://${host}:${server.port}`,
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
