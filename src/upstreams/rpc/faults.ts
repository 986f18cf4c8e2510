import { retryAfterSeconds } from "../failures.ts";
import type { RpcOutcome } from "./port.ts";

type RpcError = Extract<RpcOutcome, { kind: "error" }>;

/**
 * `unreachable`: no connection, nothing was sent. `busy`: it asks for a pause, nothing was done. `full`: our own bound of
 * concurrent calls. `unsupported`: it does not have the method. `refused`: it says no to the HTTP request, or takes no such
 * batch. `broken`: what it sent is no answer, or ended early. `timeout`: it was silent for too long.
 */
export type RpcFaultKind = "unreachable" | "busy" | "full" | "unsupported" | "refused" | "broken" | "timeout";

interface FaultDetails {
	readonly busySeconds?: number;
	readonly fallback?: RpcError | undefined;
	/** False for what a caller can bring about by what they ask for. */
	readonly counts?: boolean;
	/** The connection broke before a byte of the answer: often one that was kept and just closed. */
	readonly beforeAnswer?: boolean;
}

/** What is no answer, so that the next upstream is asked (docs/rpc.md). Its message never has a byte that a caller sent. */
export class RpcFault extends Error {
	override readonly name = "RpcFault";
	readonly kind: RpcFaultKind;
	/** The pause that it asked for. */
	readonly busySeconds: number | null;
	/** A JSON-RPC error all the same: the answer, where no upstream has a better one. */
	readonly fallback: RpcError | null;
	/** Counts towards taking the upstream out. */
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

	/** What was sent may have been taken all the same. */
	get mayBeTaken(): boolean {
		return this.kind === "timeout" || (this.kind === "broken" && this.fallback === null);
	}
}

export function brokenAnswer(message: string): RpcFault {
	return new RpcFault("broken", message);
}

/** Codes by which fetch tells that no request was sent. */
const NOT_CONNECTED =
	/^(?:ConnectionRefused|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_FAIL|ENETUNREACH|EHOSTUNREACH|EPROTO|ERR_TLS_.*|UNABLE_TO_.*|.*_CERT.*|CERT_.*)$/i;

/** What fetch or a body threw: no connection, or one that broke. The code alone: a text may quote a header. */
export function faultOfConnection(error: unknown): RpcFault {
	if (error instanceof RpcFault) return error;
	const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
	const detail = String(code ?? name ?? "no connection").slice(0, 100);
	return new RpcFault(NOT_CONNECTED.test(detail) ? "unreachable" : "broken", detail);
}

/** Statuses that speak of the upstream or of our account with it, not of the request. */
const STANDING: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410]);

/** A status that is no answer, whatever its body says. A pause until an instant is told by the server's own clock. */
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

/** How providers say 429 inside a 200. */
const BUSY_CODES: ReadonlySet<number> = new Set([429, -32005, -32007, -32011, -32012, -32016]);

/**
 * Some of these codes are used for what is wrong with the request as well: too many logs, too wide a range of blocks, a
 * transaction that does not fit a block. Those words go to the caller, who can do something about them.
 */
const ABOUT_THE_REQUEST =
	/more than \d|(?:number of|too many) (?:results|logs|blocks)|block range|range (?:is )?too|response size|result window|nonce|gas limit|not authorized|underpriced/i;

/** What nodes and gateways say of a method that they do not have. */
const UNSUPPORTED_CODES: ReadonlySet<number> = new Set([-32601, -32004]);
const UNSUPPORTED_WORDS =
	/method\b.{0,80}\b(?:not (?:found|supported|available|allowed|enabled|whitelisted)|does not exist|unsupported|disabled)|(?:unsupported|unknown|unavailable) method|method handler crashed/i;

/** The fault that a JSON-RPC error stands for; null where it is an answer. */
export function faultOfError(error: RpcError, message: string): RpcFault | null {
	const { code } = error;
	if (code === null) return null;
	if (BUSY_CODES.has(code) && !ABOUT_THE_REQUEST.test(message)) return new RpcFault("busy", `error ${code}`);
	if (UNSUPPORTED_CODES.has(code) && (code === -32601 || UNSUPPORTED_WORDS.test(message)))
		return new RpcFault("unsupported", `error ${code}`, { fallback: error });
	return null;
}
