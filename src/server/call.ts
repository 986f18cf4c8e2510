import type { Caller, RateState } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import { type CallerKind, networkTenant, type Places } from "../fairness/index.ts";
import type { Connection } from "./connection.ts";
import type { Endpoint, MinuteWindow } from "./endpoint.ts";
import type { BodyShare } from "./read-body.ts";
import type { RequestObserver } from "./request-observer.ts";

/** One request under way: what every step may know of it, and the headers collected for its answer. */
export class Call {
	readonly requestId: string;
	readonly endpoint: Endpoint;
	readonly request: Request;
	readonly admittedAtMs: number;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	caller: Caller | null = null;
	rate: RateState | null = null;
	/** The minute window in which the request counts, once known. Refusals report it. */
	window: MinuteWindow | null = null;
	/** What is not known yet about its wallet: whether the signature is valid, or its accounts. */
	pendingWallet: "signing" | "unidentified" | undefined;
	/** The balance before the request, as the headers report it. */
	balanceUsd: number | null = null;
	balanceDiem: number | null = null;
	/** A wallet's balance after the request, in nano-USD. */
	balanceRemaining: number | null = null;
	readonly headers: Record<string, string> = {};
	/** Reports the request's progress; null if nothing observes it. */
	observer: RequestObserver | null = null;
	/** The body's share of the process's memory for bodies. It is released when the request ends. */
	bodyShare: BodyShare | null = null;
	/** Returns the request's place among those under way; null if it has none. */
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

	/** The client's address: the socket's, or the one that a trusted proxy reports. */
	get address(): string {
		return this.#connection.address();
	}

	/** The network of the client's address, which is a tenant of its own. */
	get network(): string {
		return networkTenant(this.address);
	}

	/** The tenant in whose share the request counts: the account, or its network where it has none (see src/fairness). */
	get tenant(): string {
		const { caller } = this;
		return caller === null || this.#isStranger ? this.network : caller.account.id;
	}

	/** True for unidentified callers and for wallets without an account, which cost nothing to create. */
	get #isStranger(): boolean {
		const { caller } = this;
		return caller === null || caller.account.id === caller.wallet;
	}

	/**
	 * Takes a place among the requests under way, in the share of the caller as far as it is known.
	 * @param pending the part of its credential that is still being checked
	 * @throws ApiError RATE_LIMIT_EXCEEDED if the tenant has used up its share, SERVICE_UNAVAILABLE if no place is left
	 */
	takePlace(places: Places, pending?: "unidentified" | "signing"): void {
		const { tenant } = this;
		const kind: CallerKind = pending ?? (this.#isStranger ? "stranger" : "account");
		const outcome = places.take(tenant, kind);
		if (outcome !== "taken") throw noPlace(outcome, places.usedBy(tenant, kind));
		this.#leavePlace = () => places.giveBack(tenant, kind);
	}

	/** Returns the place. Does nothing if the request has none. */
	leavePlace(): void {
		this.#leavePlace?.();
		this.#leavePlace = null;
	}

	/** Releases the request's shares of places and memory, and reports that it has ended. */
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

function noPlace(reason: "full" | "share", running: number): ApiError {
	if (reason === "full")
		return new ApiError("SERVICE_UNAVAILABLE", {
			message: "Too many requests are under way; try again shortly",
			retryAfterSeconds: 1,
		});
	return new ApiError("RATE_LIMIT_EXCEEDED", {
		message: `${running} requests of yours are under way, as many as one caller may have now; wait until one has ended`,
		retryAfterSeconds: 1,
	});
}
