/**
 * The interface of chain forwarding for routes. Items go out with ids of our own and the caller's params byte for byte.
 * The upstream's own bytes of `result` or `error` come back. docs/rpc.md defines answers, and the faults after which
 * the next upstream is tried. Never bills, and never reads what it carries.
 */
import type { RpcMethod, RpcNetwork } from "../../catalog/rpc/types.ts";
import { ApiError, type ApiErrorOptions, type ErrorCode } from "../../errors/index.ts";

export interface RpcItem {
	readonly method: RpcMethod;
	/** Raw JSON text of params, `[]` where left out. */
	readonly params: Uint8Array;
	/**
	 * Hash of a raw transaction on the chain, 0x and 64 hex digits; null or left out if unknown. With it, "already known"
	 * after our own earlier attempt becomes a success (docs/rpc.md, Sends).
	 */
	readonly txHash?: string | null;
	/** True if an earlier call may have sent these bytes with an unknown outcome. */
	readonly mayBeAccepted?: boolean;
}

/** The outcome of one item. Bytes are the upstream's own, unchanged: those of the `result` or of the `error` value. */
export type RpcOutcome =
	| {
			readonly kind: "result";
			readonly value: Uint8Array;
			/** The member that answered this item of a batch, whose items may come from several members. */
			readonly upstream?: string;
	  }
	/** `code`: that of the error, if it is an integer. */
	| { readonly kind: "error"; readonly value: Uint8Array; readonly code: number | null }
	/** The upstreams answered the batch without this item. Whether a send was accepted is unknown. */
	| { readonly kind: "missing" };

/**
 * A large single answer whose first bytes have arrived. `value` has the bytes of the value alone. It fails if the
 * upstream breaks off or sends no JSON-RPC answer. It must be read to its end, or cancelled. The reader owns the bytes
 * that it has read, and may free their memory.
 */
export interface RpcStream {
	readonly kind: "result-stream" | "error-stream";
	readonly value: ReadableStream<Uint8Array>;
	/** Stops the upstream at once. May be called more than once. */
	cancel(): void;
}

export interface RpcCall {
	readonly network: RpcNetwork;
	/** At least one item. */
	readonly items: readonly RpcItem[];
	readonly requestId: string;
	/** The tenant whose share of an upstream's places the call counts in. */
	readonly tenant: string;
	/** Aborts when the caller leaves: all of the call's attempts end, and the call rejects with its reason. */
	readonly signal: AbortSignal;
	/** Called right before each attempt's bytes go out. From then on a send may be accepted. */
	onSent?(upstream: string): void;
}

export interface RpcAnswer<T> {
	readonly outcome: T;
	/** The member that answered. For a batch, the one that answered most of it. */
	readonly upstream: string | null;
	/** Number of attempts before this one, including hedges. */
	readonly retries: number;
}

/**
 * The error of a call that no upstream answered: RPC_NETWORK_OFFLINE (503, says what to configure), RPC_UPSTREAM_FAILED
 * (502) or REQUEST_TIMEOUT (504).
 */
export class RpcCallError extends ApiError {
	/** Positions of sends that an upstream may have accepted without an answer. Empty if there are none. */
	readonly unknownSends: readonly number[];

	constructor(code: ErrorCode, options: ApiErrorOptions = {}, unknownSends: readonly number[] = []) {
		super(code, options);
		this.unknownSends = unknownSends;
	}
}

/**
 * `found`: an upstream knows the transaction. `absent`: one answered that it does not. `unreachable`: none answered.
 */
export type RpcLookUp = "found" | "absent" | "unreachable";

export interface RpcUpstreams {
	/** Returns the slugs of enabled networks, sorted. */
	networks(): readonly string[];
	/** Returns the slugs of networks with a healthy upstream, sorted. */
	online(): string[];
	/** Runs the one item of the call. Throws `RpcCallError`, or the reason of the call's signal. */
	single(call: RpcCall): Promise<RpcAnswer<RpcOutcome | RpcStream>>;
	/** Returns outcomes by position. Throws as `single` does; otherwise at least one item was answered. */
	batch(call: RpcCall): Promise<RpcAnswer<readonly RpcOutcome[]>>;
	/**
	 * Returns whether the chain or a mempool has this transaction. Called before bytes of unknown outcome are sent again.
	 */
	lookUp(network: RpcNetwork, txHash: string, requestId: string, signal: AbortSignal): Promise<RpcLookUp>;
}
