/**
 * Who is signed in to the console. A session begins with an ADMIN key of the operator's account; its cookie is a random
 * secret with a proof that a node of this store made it, so that a made-up one costs no look into the store. It holds on
 * all nodes, ends on all of them, moves on while it is used, and is worth no more than its key is at the moment.
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

/** Without use a session lives so long. */
const SESSION_MS = 12 * 3_600_000;
/** However much it is used, it ends then. */
const LONGEST_SESSION_MS = 7 * 24 * 3_600_000;
/** It is moved on at most this often. */
const PROLONG_EVERY_MS = 10 * 60_000;

const COOKIE = "turnpike_console";
const SECRET = /^[A-Za-z0-9_-]{43}\.[A-Za-z0-9_-]{43}$/;

export interface ConsoleSessionsDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly callers: { caller(hash: string): Caller | null | Promise<Caller | null> };
	/** Counts a sign-in of an address. Throws RATE_LIMIT_EXCEEDED. */
	readonly takeSignIn: (address: string) => void;
	readonly clock: Clock;
	/** `server.publicUrl`: cookies go over https alone where it says so. */
	readonly publicUrl: () => string | undefined;
	/** Whether an address is in a key's list of addresses. */
	readonly inList: (address: string, list: readonly string[]) => boolean;
}

/** A session at one of its requests. */
export interface ActiveSession {
	readonly keyHash: string;
	readonly expiresAtMs: number;
	/** What changing requests carry in X-CSRF-Token. */
	readonly csrfToken: string;
	/** The cookie, where it has to be set again. */
	readonly setCookie: string | null;
}

export class ConsoleSessions {
	readonly #deps: ConsoleSessionsDeps;
	readonly #secret: SecretReader;

	constructor(deps: ConsoleSessionsDeps) {
		this.#deps = deps;
		this.#secret = new SecretReader(deps.store, "console-session");
	}

	/** Begins a session. Throws 401 for what is no key, 403 for a key that is not the operator's, 429, 503. */
	async signIn(key: string, address: () => string): Promise<{ readonly session: ActiveSession; readonly caller: Caller }> {
		const { store, callers, takeSignIn, clock } = this.#deps;
		takeSignIn(address());
		const hash = keyHash(key);
		const caller = await callers.caller(hash);
		if (caller === null) throw new ApiError("AUTHENTICATION_FAILED", { message: "This is no key, or it has ended" });
		this.#check(caller, address);
		const random = randomBytes(32).toString("base64url");
		const token = `${random}.${await this.#mac(`cookie ${random}`)}`;
		const createdAtMs = clock.wallMs();
		const expiresAtMs = createdAtMs + SESSION_MS;
		const begun = { hash: hashOf(token), keyHash: hash, createdAtMs, expiresAtMs };
		await orApiError(store.admin("beginConsoleSession", begun));
		return { session: await this.#live(token, hash, expiresAtMs, true), caller };
	}

	/**
	 * The session of a request with its cookie. Throws 401 where there is none, it has ended, or its key has; 403 where
	 * the key is not the operator's any more, or this address is none of its; 503.
	 */
	async of(request: Request, address: () => string): Promise<ActiveSession> {
		const { store, callers, clock } = this.#deps;
		const token = cookieOf(request);
		const [random = "", proof = ""] = token?.split(".") ?? [];
		if (token === null || !same(proof, await this.#mac(`cookie ${random}`))) throw signedOut();
		const hash = hashOf(token);
		const nowMs = clock.wallMs();
		const found = await orApiError(store.admin("findConsoleSession", { hash, nowMs }));
		if (found === null) throw signedOut();
		const caller = await callers.caller(found.keyHash);
		if (caller === null) throw signedOut();
		this.#check(caller, address);
		const expiresAtMs = Math.min(nowMs + SESSION_MS, found.createdAtMs + LONGEST_SESSION_MS);
		const moves = expiresAtMs - found.expiresAtMs >= PROLONG_EVERY_MS;
		if (moves) await orApiError(store.admin("prolongConsoleSession", { hash, expiresAtMs }));
		return this.#live(token, found.keyHash, moves ? expiresAtMs : found.expiresAtMs, moves);
	}

	/** Whether a changing request shows that it comes from the console's own pages. */
	isOwn(session: ActiveSession, request: Request): boolean {
		return same(request.headers.get("x-csrf-token") ?? "", session.csrfToken);
	}

	/** Ends the session of a request; returns the cookie that takes the browser's away. */
	async signOut(request: Request): Promise<string> {
		const token = cookieOf(request);
		if (token !== null) await orApiError(this.#deps.store.admin("endConsoleSession", { hash: hashOf(token) }));
		return this.#cookie("", 0);
	}

	#check(caller: Caller, address: () => string): void {
		checkRules(caller, { endpoint: "console", right: "OPERATOR", address, inList: this.#deps.inList });
	}

	async #live(token: string, ofKey: string, expiresAtMs: number, set: boolean): Promise<ActiveSession> {
		const lastsSeconds = Math.max(0, Math.floor((expiresAtMs - this.#deps.clock.wallMs()) / 1_000));
		return {
			keyHash: ofKey,
			expiresAtMs,
			csrfToken: await this.#mac(`csrf ${token}`),
			setCookie: set ? this.#cookie(token, lastsSeconds) : null,
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

/** The session's secret as the browser sends it; null for none, or what cannot be one. */
function cookieOf(request: Request): string | null {
	for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
		const [name, value] = pair.trim().split("=", 2);
		if (name === COOKIE && value !== undefined && SECRET.test(value)) return value;
	}
	return null;
}

function same(given: string, wanted: string): boolean {
	const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
	return a.length === b.length && timingSafeEqual(a, b);
}

function signedOut(): ApiError {
	return new ApiError("AUTHENTICATION_FAILED", { message: "Sign in: there is no session, or it has ended" });
}
