/**
 * Sessions of the console. A session starts with an ADMIN key of the operator's account. Its cookie is a random secret with a
 * proof that a node of this store made it, so a forged one costs no store query. A session is valid on all nodes, ends on all
 * of them, is extended while it is used, and has the current rights of its key.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Caller } from "../../budgets/port.ts";
import { ApiError } from "../../errors/index.ts";
import { orApiError } from "../../store/api-refusal.ts";
import type { StorePort } from "../../store/port.ts";
import { SecretReader } from "../../store/secret-reader.ts";
import type { Clock } from "../../telemetry/clock.ts";
import { keyHash } from "../bearer.ts";
import { checkRules } from "../rules.ts";

/** A session ends after this time without use. */
const SESSION_MS = 12 * 3_600_000;
/** A session ends after this time even if it is used. */
const LONGEST_SESSION_MS = 7 * 24 * 3_600_000;
/** A session is extended at most this often. */
const PROLONG_EVERY_MS = 10 * 60_000;

const COOKIE = "turnpike_console";
const SECRET = /^[A-Za-z0-9_-]{43}\.[A-Za-z0-9_-]{43}$/;

export interface ConsoleSessionsDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly callers: { caller(hash: string): Caller | null | Promise<Caller | null> };
	/**
	 * Counts a sign-in from an address.
	 * @throws RATE_LIMIT_EXCEEDED
	 */
	readonly takeSignIn: (address: string) => void;
	readonly clock: Clock;
	/** `server.publicUrl`: if it is https, cookies are sent over https only. */
	readonly publicUrl: () => string | undefined;
	/** Returns true if the address is in a key's list of addresses. */
	readonly inList: (address: string, list: readonly string[]) => boolean;
}

/** A session during one of its requests. */
export interface ActiveSession {
	readonly keyHash: string;
	readonly expiresAtMs: number;
	/** The X-CSRF-Token that changing requests send. */
	readonly csrfToken: string;
	/** The Set-Cookie header if the cookie has to be renewed; otherwise null. */
	readonly setCookie: string | null;
}

export class ConsoleSessions {
	readonly #deps: ConsoleSessionsDeps;
	readonly #secret: SecretReader;

	constructor(deps: ConsoleSessionsDeps) {
		this.#deps = deps;
		this.#secret = new SecretReader(deps.store, "console-session");
	}

	/**
	 * Starts a session.
	 * @throws 401 for an invalid key, 403 for a key that is not the operator's, 429, 503
	 */
	async signIn(key: string, address: () => string): Promise<{ readonly session: ActiveSession; readonly caller: Caller }> {
		const { store, callers, takeSignIn, clock } = this.#deps;
		takeSignIn(address());
		const hash = keyHash(key);
		const caller = await callers.caller(hash);
		if (caller === null) throw new ApiError("AUTHENTICATION_FAILED", { message: "This is not a valid key, or it has expired" });
		this.#check(caller, address);
		const random = randomBytes(32).toString("base64url");
		const token = `${random}.${await this.#mac(`cookie ${random}`)}`;
		const createdAtMs = clock.wallMs();
		const expiresAtMs = createdAtMs + SESSION_MS;
		const session = { hash: hashOf(token), keyHash: hash, createdAtMs, expiresAtMs };
		await orApiError(store.admin("beginConsoleSession", session));
		return { session: await this.#live(token, hash, expiresAtMs, true), caller };
	}

	/**
	 * Returns the session of a request's cookie.
	 * @throws 401 if there is no session or it or its key has ended; 403 if the key is no longer the operator's or does not allow
	 * this address; 503
	 */
	async of(request: Request, address: () => string): Promise<ActiveSession> {
		const { store, callers, clock } = this.#deps;
		const token = cookieOf(request);
		const [random = "", proof = ""] = token?.split(".") ?? [];
		if (token === null || !same(proof, await this.#mac(`cookie ${random}`))) throw signedOut();
		const hash = hashOf(token);
		const nowMs = clock.wallMs();
		const storedSession = await orApiError(store.admin("findConsoleSession", { hash, nowMs }));
		if (storedSession === null) throw signedOut();
		const caller = await callers.caller(storedSession.keyHash);
		if (caller === null) throw signedOut();
		this.#check(caller, address);
		const expiresAtMs = Math.min(nowMs + SESSION_MS, storedSession.createdAtMs + LONGEST_SESSION_MS);
		const extend = expiresAtMs - storedSession.expiresAtMs >= PROLONG_EVERY_MS;
		if (extend) await orApiError(store.admin("prolongConsoleSession", { hash, expiresAtMs }));
		return this.#live(token, storedSession.keyHash, extend ? expiresAtMs : storedSession.expiresAtMs, extend);
	}

	/** Returns true if a changing request comes from the console's own pages. */
	isOwn(session: ActiveSession, request: Request): boolean {
		return same(request.headers.get("x-csrf-token") ?? "", session.csrfToken);
	}

	/** Ends the session of a request; returns the Set-Cookie header that removes the browser's cookie. */
	async signOut(request: Request): Promise<string> {
		const token = cookieOf(request);
		if (token !== null) await orApiError(this.#deps.store.admin("endConsoleSession", { hash: hashOf(token) }));
		return this.#cookie("", 0);
	}

	#check(caller: Caller, address: () => string): void {
		checkRules(caller, { endpoint: "console", right: "OPERATOR", address, inList: this.#deps.inList });
	}

	async #live(token: string, ofKey: string, expiresAtMs: number, renewCookie: boolean): Promise<ActiveSession> {
		const lastsSeconds = Math.max(0, Math.floor((expiresAtMs - this.#deps.clock.wallMs()) / 1_000));
		return {
			keyHash: ofKey,
			expiresAtMs,
			csrfToken: await this.#mac(`csrf ${token}`),
			setCookie: renewCookie ? this.#cookie(token, lastsSeconds) : null,
		};
	}

	#cookie(token: string, seconds: number): string {
		const secure = this.#deps.publicUrl()?.startsWith("https:") === true ? "; Secure" : "";
		return `${COOKIE}=${token}; Path=/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
	}

	async #mac(text: string): Promise<string> {
		return createHmac("sha256", await this.#secret.read())
			.update(text)
			.digest("base64url");
	}
}

function hashOf(token: string): string {
	return createHash("sha256").update(token).digest("hex");
}

/** Returns the session's secret from the cookie; null if there is none or it is malformed. */
function cookieOf(request: Request): string | null {
	for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
		const [name, value] = pair.trim().split("=", 2);
		if (name === COOKIE && value !== undefined && SECRET.test(value)) return value;
	}
	return null;
}

function same(left: string, right: string): boolean {
	const [a, b] = [Buffer.from(left), Buffer.from(right)];
	return a.length === b.length && timingSafeEqual(a, b);
}

function signedOut(): ApiError {
	return new ApiError("AUTHENTICATION_FAILED", { message: "Sign in: there is no session, or it has ended" });
}
