import { type ActiveSession, ConsoleSessions } from "../access/index.ts";
import { type AddressWindows, type NodeBudgets, OperatorReader } from "../budgets/index.ts";
import type { Config } from "../config/index.ts";
import { ApiError } from "../errors/index.ts";
import type { ReconcileReport, TopUpRows } from "../payments/index.ts";
import { CONSOLE_API, type ConsoleApiDeps, consoleRoutes } from "../routes/console/index.ts";
import {
	API_PREFIX,
	type App,
	addressList,
	type Connection,
	createApp,
	type PipelineDeps,
	type SidePage,
	wrongMethod,
} from "../server/index.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, systemTimers } from "../telemetry/clock.ts";
import type { ConsolePages } from "./console-pages.ts";

export interface ConsoleDeps extends Omit<ConsoleApiDeps, "sessions" | "live" | "reader" | "node" | "reconcile"> {
	readonly config: () => Config;
	readonly store: StorePort;
	readonly budgets: NodeBudgets;
	readonly pipeline: PipelineDeps;
	readonly clock: Clock;
	readonly addresses: AddressWindows;
	/** The whole API, for the endpoints that the console uses. */
	readonly api: () => App;
	/** The application's pages; null if this server has none. */
	readonly pages: ConsolePages | null;
}

/** The endpoint name under which a key's restrictions allow or deny the console. */
export const CONSOLE_NAME = "console";
const ROOT = "/console";
const SIGN_INS_PER_MINUTE = 10;
const PLAY = `${CONSOLE_API}/play/`;
const ACCOUNTS = `${CONSOLE_API}/accounts`;
/** The playground excludes these paths: keys, accounts and money have their own pages. */
const NOT_PLAYED = /^(?:admin|api_keys|x402)?(?:\/|$)/;
const READS = new Set(["GET", "HEAD"]);
/** Headers with the caller's credentials and origin are removed, because the session replaces them. */
const DROPPED = [
	"authorization",
	"cookie",
	"origin",
	"x-api-key",
	"x-csrf-token",
	"x-sign-in-with-x",
	"sign-in-with-x",
	"payment-signature",
	"x-402-payment",
	"x-payment",
];

/** Forbids resources from other origins, inline scripts and framing by other pages. */
const SECURITY_HEADERS = {
	"Content-Security-Policy":
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src blob:; connect-src 'self'; " +
		"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
	"Referrer-Policy": "no-referrer",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
} as const;

/**
 * Serves the console: its pages, and its API behind a session check. Changes need the session's CSRF token, too. Paths below
 * /play and /accounts run the API's own endpoints with the session's key, so money takes no second path.
 */
export class Console {
	readonly pages: readonly SidePage[];
	readonly #deps: ConsoleDeps;
	readonly #sessions: ConsoleSessions;
	readonly #records: OperatorReader;
	readonly #app: App;
	/** The sessions of requests that passed the session check. */
	readonly #sessionOf = new WeakMap<Request, ActiveSession>();

	constructor(deps: ConsoleDeps) {
		const { config, store, budgets, pipeline, clock, addresses } = deps;
		this.#deps = deps;
		this.#sessions = new ConsoleSessions({
			store,
			callers: budgets,
			takeSignIn: (address) => void addresses.take(address, "console-sign-in", SIGN_INS_PER_MINUTE),
			clock,
			publicUrl: () => config().server.publicUrl,
			inList: (address, list) => addressList(list).has(address),
		});
		const place = config().store ?? config().data;
		this.#records = new OperatorReader({ place, clock, timers: systemTimers });
		const apiDeps: ConsoleApiDeps = {
			...deps,
			sessions: this.#sessions,
			live: (request) => this.#liveOf(request),
			reader: this.#records,
			node: { id: store.node.id, startedAtMs: clock.wallMs(), store: store.kind },
			reconcile: reconciles(config().x402) ? () => reconcileTopUps(config().x402, store) : null,
		};
		const settings = () => ({ ...pipeline.settings(), corsOrigins: [] });
		const { traffic: _uncounted, ...rest } = pipeline;
		this.#app = createApp(consoleRoutes(apiDeps), [], { ...rest, settings }, CONSOLE_API);
		const answer = (request: Request, connection: Connection) => this.#answer(request, connection);
		this.pages = [
			{ path: ROOT, anyMethod: true, answer },
			{ path: `${ROOT}/*`, anyMethod: true, answer },
		];
	}

	close(): void {
		this.#records.close();
	}

	async #answer(request: Request, connection: Connection): Promise<Response> {
		const { pathname } = new URL(request.url);
		const isApi = pathname === CONSOLE_API || pathname.startsWith(`${CONSOLE_API}/`);
		const response = isApi ? await this.#enter(request, connection, pathname) : await this.#page(request, pathname);
		for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
		if (isApi) response.headers.set("Cache-Control", "no-store");
		return response;
	}

	async #page(request: Request, pathname: string): Promise<Response> {
		if (!READS.has(request.method)) return this.#app.refuse(request, wrongMethod(request.method, "GET, HEAD"));
		const { pages } = this.#deps;
		if (pages === null) return this.#app.refuse(request, new ApiError("NOT_FOUND", { message: "This server has no console" }));
		return pages.answer(pathname.slice(ROOT.length), request);
	}

	/** Checks the session. Refusals have the form of the API's errors. */
	async #enter(request: Request, connection: Connection, pathname: string): Promise<Response> {
		try {
			const changes = !READS.has(request.method);
			// Browsers send the request's origin; the cookie is not sent from other sites anyway.
			const site = request.headers.get("sec-fetch-site") ?? "same-origin";
			if (changes && site !== "same-origin") throw notOwn();
			if (pathname === `${CONSOLE_API}/session` && request.method === "POST") return await this.#app.fetch(request, connection);
			const session = await this.#sessions.of(request, () => connection.address());
			if (changes && !this.#sessions.isOwn(session, request)) throw notOwn();
			this.#sessionOf.set(request, session);
			const response = await this.#run(request, asSession(connection, session), pathname);
			if (session.setCookie !== null && !response.headers.has("set-cookie"))
				response.headers.set("Set-Cookie", session.setCookie);
			return response;
		} catch (error) {
			if (error instanceof ApiError) return this.#app.refuse(request, error);
			throw error;
		}
	}

	#run(request: Request, connection: Connection, pathname: string): Response | Promise<Response> {
		const target = apiPath(pathname, request.method);
		if (target === null) return this.#app.fetch(request, connection);
		const url = new URL(request.url);
		url.pathname = target;
		const headers = new Headers(request.headers);
		for (const name of DROPPED) headers.delete(name);
		const { method, signal } = request;
		const body = READS.has(method) ? null : request.body;
		return this.#deps.api().fetch(new Request(url.href, { method, headers, body, signal }), connection);
	}

	#liveOf(request: Request): ActiveSession {
		const live = this.#sessionOf.get(request);
		if (live === undefined) throw new ApiError("AUTHENTICATION_FAILED");
		return live;
	}
}

/**
 * Returns the API path that serves this request; null if it is the console's own endpoint.
 * @throws 404 for a path outside the playground
 */
function apiPath(pathname: string, method: string): string | null {
	if (pathname.startsWith(PLAY)) {
		const path = pathname.slice(PLAY.length);
		if (NOT_PLAYED.test(decodePath(path)))
			throw new ApiError("NOT_FOUND", { message: "This path is not part of the playground" });
		return `${API_PREFIX}/${path}`;
	}
	// The console has its own account list, because it can be searched.
	if (pathname === ACCOUNTS) return READS.has(method) ? null : `${API_PREFIX}/admin/accounts`;
	return pathname.startsWith(`${ACCOUNTS}/`) ? `${API_PREFIX}/admin${pathname.slice(CONSOLE_API.length)}` : null;
}

/** Decodes the path like the router; returns "" if it cannot be decoded. */
function decodePath(path: string): string {
	try {
		return decodeURIComponent(path);
	} catch {
		return "";
	}
}

function asSession(connection: Connection, { keyHash }: ActiveSession): Connection {
	return {
		address: () => connection.address(),
		suspendIdleTimeout: () => connection.suspendIdleTimeout(),
		resumeIdleTimeout: () => connection.resumeIdleTimeout(),
		sessionKeyHash: keyHash,
	};
}

function notOwn(): ApiError {
	return new ApiError("UNAUTHORIZED", { message: "A change needs the session's X-CSRF-Token, from the console's own pages" });
}

function reconciles({ payTo, solana }: Config["x402"]): boolean {
	return payTo !== undefined || solana.payTo !== undefined;
}

async function reconcileTopUps(config: Config["x402"], store: StorePort): Promise<ReconcileReport> {
	const { reconcile } = await import("../payments/index.ts");
	const rows: TopUpRows = {
		list: (page) => store.admin("listTopUps", page),
		find: (key) => store.admin("findTopUp", key),
	};
	return reconcile(config, rows, systemTimers);
}
