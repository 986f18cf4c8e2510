import { retryAfterSeconds } from "../failures.ts";
import type { RpcOutcome } from "./port.ts";

type RpcError = Extract<RpcOutcome, { kind: "error" }>;

/**
 * `unreachable`: no connection, nothing was sent. `busy`: the upstream requests a pause, nothing was done. `full`: our
 * own limit of concurrent calls. `unsupported`: it does not have the method. `refused`: it refuses the HTTP request, or
 * accepts no such batch. `broken`: its answer is invalid, or ended early. `timeout`: it was silent for too long.
 */
export type RpcFaultKind = "unreachable" | "busy" | "full" | "unsupported" | "refused" | "broken" | "timeout";

interface FaultDetails {
	readonly busySeconds?: number;
	readonly fallback?: RpcError | undefined;
	/** False for faults that a caller's request can cause. */
	readonly counts?: boolean;
	/** True if the connection broke before a byte of the answer arrived. Often it was reused and had just been closed. */
	readonly beforeAnswer?: boolean;
}

/**
 * A call without an answer, so that the next upstream is tried (docs/rpc.md). The message never contains a byte that a
 * caller sent.
 */
export class RpcFault extends Error {
	override readonly name = "RpcFault";
	readonly kind: RpcFaultKind;
	/** The pause that the upstream requests, in seconds. */
	readonly busySeconds: number | null;
	/** A JSON-RPC error. It is the answer if no upstream has a better one. */
	readonly fallback: RpcError | null;
	/** True if the fault counts towards ejecting the upstream. */
	readonly isFault: boolean;
	readonly beforeAnswer: boolean;

	constructor(kind: RpcFaultKind, message: string, details: FaultDetails = {}) {
		const { busySeconds, fallback, counts = true, beforeAnswer = false } = details;
		super(message);
		this.kind = kind;
		this.busySeconds = kind === "busy" ? (busySeconds ?? 1) : null;
		this.fallback = fallback ?? null;
		this.beforeAnswer = beforeAnswer;
		this.isFault = counts && kind !== "busy" && kind !== "full" && kind !== "unsupported";
	}

	/** True if the send may have been accepted. */
	get mayBeAccepted(): boolean {
		return this.kind === "timeout" || (this.kind === "broken" && this.fallback === null);
	}
}

export function brokenAnswer(message: string): RpcFault {
	return new RpcFault("broken", message);
}

/** Error codes of fetch that mean no request was sent. */
const NOT_CONNECTED =
	/^(?:ConnectionRefused|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_FAIL|ENETUNREACH|EHOSTUNREACH|EPROTO|ERR_TLS_.*|UNABLE_TO_.*|.*_CERT.*|CERT_.*)$/i;

/**
 * Returns the fault of an error of fetch or of a body: no connection, or a broken one. Only the error code is used,
 * because its text may quote a header.
 */
export function faultOfConnection(error: unknown): RpcFault {
	if (error instanceof RpcFault) return error;
	const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
	const detail = String(code ?? name ?? "no connection").slice(0, 100);
	return new RpcFault(NOT_CONNECTED.test(detail) ? "unreachable" : "broken", detail);
}

/** Statuses about the upstream or our account with it, not about the request. */
const STANDING: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410]);

/**
 * Returns the fault of a status, whatever its body is. If Retry-After is an instant, the pause is counted from the
 * server's own Date.
 */
export function faultOfStatus(status: number, headers?: Headers): RpcFault {
	const message = `status ${status}`;
	if (status === 429) {
		const servedMs = Date.parse(headers?.get("date") ?? "");
		const pause = retryAfterSeconds(headers?.get("retry-after") ?? "1", Number.isNaN(servedMs) ? Date.now() : servedMs);
		return new RpcFault("busy", message, { busySeconds: pause });
	}
	if (status >= 500) return brokenAnswer(message);
	if (status >= 300 && status < 400) return new RpcFault("refused", `${message}: a redirect`);
	return new RpcFault("refused", message, { counts: STANDING.has(status) });
}

/** Error codes of providers that mean 429 inside a 200. */
const BUSY_CODES: ReadonlySet<number> = new Set([429, -32005, -32007, -32011, -32012, -32016]);

/**
 * Matches messages about the request. Providers use some of these codes also for too many logs, too wide a range of
 * blocks, or a transaction that does not fit a block. The caller gets these messages and can act on them.
 */
const ABOUT_THE_REQUEST =
	/more than \d|(?:number of|too many) (?:results|logs|blocks)|block range|range (?:is )?too|response size|result window|nonce|gas limit|not authorized|underpriced/i;

/** Error codes of nodes and gateways for a method that they do not have. */
const UNSUPPORTED_CODES: ReadonlySet<number> = new Set([-32601, -32004]);
const UNSUPPORTED_WORDS =
	/method\b.{0,80}\b(?:not (?:found|supported|available|allowed|enabled|whitelisted)|does not exist|unsupported|disabled)|(?:unsupported|unknown|unavailable) method|method handler crashed/i;

/** Returns the fault of a JSON-RPC error; null if it is an answer. */
export function faultOfError(error: RpcError, message: string): RpcFault | null {
	const { code } = error;
	if (code === null) return null;
	if (BUSY_CODES.has(code) && !ABOUT_THE_REQUEST.test(message)) return new RpcFault("busy", `error ${code}`);
	if (UNSUPPORTED_CODES.has(code) && (code === -32601 || UNSUPPORTED_WORDS.test(message)))
		return new RpcFault("unsupported", `error ${code}`, { fallback: error });
	return null;
}
