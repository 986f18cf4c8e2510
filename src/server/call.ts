import type { Caller, RateState } from "../budgets/port.ts";
import type { Endpoint } from "./endpoint.ts";
import type { BodyShare } from "./read-body.ts";
import type { Witness } from "./witness.ts";

/** The connection's side of a request, from the HTTP layer. */
export interface Connection {
	address(): string;
	setIdleTimeout(seconds: number): void;
	/** sha256 of the key whose signed-in session sent the request: it takes the place of any credential in the headers. */
	readonly sessionKeyHash?: string;
}

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
	/** Balances before the request, as the headers show them. */
	balanceUsd: number | null = null;
	balanceDiem: number | null = null;
	/** Of a wallet: what it has after the request, in nano-USD. */
	balanceRemaining: number | null = null;
	readonly headers: Record<string, string> = {};
	/** Tells what comes of the request; null where nobody watches. */
	witness: Witness | null = null;
	/** The body's share of the process's memory for bodies: released at the request's end. */
	bodyShare: BodyShare | null = null;
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

	/** See `Connection`. */
	get sessionKeyHash(): string | undefined {
		return this.#connection.sessionKeyHash;
	}

	/** Extends the connection's idle time-out (seconds; 0 is none): for silent long work. */
	setIdleTimeout(seconds: number): void {
		this.#connection.setIdleTimeout(seconds);
	}
}
