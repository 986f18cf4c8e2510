import type { Caller, RateState } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import { type CallerKind, networkTenant, type Places } from "../fairness/index.ts";
import type { Connection } from "./connection.ts";
import type { Endpoint, MinuteWindow } from "./endpoint.ts";
import type { BodyShare } from "./read-body.ts";
import type { RequestObserver } from "./request-observer.ts";

/** One request on its way: what every step may know of it, and the headers gathered for its answer. */
export class Call {
	readonly requestId: string;
	readonly endpoint: Endpoint;
	readonly request: Request;
	readonly admittedAtMs: number;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	caller: Caller | null = null;
	rate: RateState | null = null;
	/** Where the request counts, once that is known: what a refusal tells of. */
	window: MinuteWindow | null = null;
	/** What has to be found out about its wallet: a signature still to be checked, or, where that is known, the accounts. */
	pendingWallet: "signing" | "unidentified" | undefined;
	/** Balances before the request, as the headers show them. */
	balanceUsd: number | null = null;
	balanceDiem: number | null = null;
	/** Of a wallet: what it has after the request, in nano-USD. */
	balanceRemaining: number | null = null;
	readonly headers: Record<string, string> = {};
	/** Tells what comes of the request; null where nobody watches. */
	observer: RequestObserver | null = null;
	/** The body's share of the process's memory for bodies: released at the request's end. */
	bodyShare: BodyShare | null = null;
	/** Gives the request's place among those under way back; null where it has none. */
	#leavePlace: (() => void) | null = null;
	readonly #connection: Connection;

	constructor(requestId: string, endpoint: Endpoint, request: Request, admittedAtMs: number, connection: Connection) {
		this.requestId = requestId;
		this.endpoint = endpoint;
		this.request = request;
		this.admittedAtMs = admittedAtMs;
		this.signal = request.signal;
		this.#connection = connection;
	}

	/** The client's address: the socket's, or what a trusted proxy says. */
	get address(): string {
		return this.#connection.address();
	}

	/** The network of the client's address, as a tenant of its own. */
	get network(): string {
		return networkTenant(this.address);
	}

	/** Whose share the request counts in: the account's, or its network's where it has none (see src/fairness). */
	get tenant(): string {
		const { caller } = this;
		return caller === null || this.#isStranger ? this.network : caller.account.id;
	}

	/** Wallets without an account cost nothing to make. */
	get #isStranger(): boolean {
		const { caller } = this;
		return caller === null || caller.account.id === caller.wallet;
	}

	/**
	 * Takes a place among the requests under way, in the share of the caller as far as it is known.
	 * @param pending what is still looked up of its credential
	 * @throws ApiError RATE_LIMIT_EXCEEDED where the tenant has its share of them, SERVICE_UNAVAILABLE where none is left
	 */
	takePlace(places: Places, pending?: "unidentified" | "signing"): void {
		const { tenant } = this;
		const kind: CallerKind = pending ?? (this.#isStranger ? "stranger" : "account");
		const taken = places.take(tenant, kind);
		if (taken !== "taken") throw noPlace(taken, places.usedBy(tenant, kind));
		this.#leavePlace = () => places.giveBack(tenant, kind);
	}

	/** Gives the place back. Does nothing where there is none. */
	leavePlace(): void {
		this.#leavePlace?.();
		this.#leavePlace = null;
	}

	/** Gives back what the request has of what all share, and tells that it has ended. */
	end(): void {
		this.bodyShare?.release();
		this.leavePlace();
		this.observer?.ended();
	}

	/** See `Connection`. */
	get sessionKeyHash(): string | undefined {
		return this.#connection.sessionKeyHash;
	}

	/** See `Connection`. */
	suspendIdleTimeout(): void {
		this.#connection.suspendIdleTimeout();
	}

	resumeIdleTimeout(): void {
		this.#connection.resumeIdleTimeout();
	}
}

function noPlace(why: "full" | "share", running: number): ApiError {
	if (why === "full")
		return new ApiError("SERVICE_UNAVAILABLE", {
			message: "Too many requests are under way; try again shortly",
			retryAfterSeconds: 1,
		});
	return new ApiError("RATE_LIMIT_EXCEEDED", {
		message: `${running} requests of yours are under way, as many as one caller may have now; wait until one has ended`,
		retryAfterSeconds: 1,
	});
}
