/**
 * Chain forwarding as the route sees it. Items go out with ids of our own and the caller's params byte for byte;
 * what comes back are the upstream's own bytes of `result` or `error`. What is an answer and what a fault that the
 * next upstream is asked after: docs/rpc.md. Never bills, and never looks into what it carries.
 */
import type { RpcMethod, RpcNetwork } from "../../catalog/rpc/types.ts";
import { ApiError, type ApiErrorOptions, type ErrorCode } from "../../errors/index.ts";

export interface RpcItem {
	readonly method: RpcMethod;
	/** Raw JSON text of params, `[]` where left out. */
	readonly params: Uint8Array;
	/**
	 * Of a raw transaction: its hash as the chain will know it, 0x and 64 hex digits; null or left out where it is not
	 * known. With it "already known" after an own earlier try becomes a success (docs/rpc.md, Sends).
	 */
	readonly txHash?: string | null;
	/** An earlier call may have sent these bytes, and nobody knows what came of it. */
	readonly mayBeTaken?: boolean;
}

/** What came of one item. Bytes are the upstream's own, untouched: those of the `result` or of the `error` value. */
export type RpcOutcome =
	| {
			readonly kind: "result";
			readonly value: Uint8Array;
			/** Of a batch, whose items may come from several: the member of the pool that gave it. */
			readonly upstream?: string;
	  }
	/** `code`: that of the error, where it is an integer. */
	| { readonly kind: "error"; readonly value: Uint8Array; readonly code: number | null }
	/** The upstreams answered the batch without this item. Of a send: whether it was taken is not known. */
	| { readonly kind: "missing" };

/**
 * A big single answer, of which the first bytes are here. `value` has the bytes of the value alone and fails where the
 * upstream breaks off or what it sends is no JSON-RPC answer. It is read to its end or `cancel` is called. What was read
 * is the reader's own: it may give its memory back.
 */
export interface RpcStream {
	readonly kind: "result-stream" | "error-stream";
	readonly value: ReadableStream<Uint8Array>;
	/** Stops the upstream at once. Safe to call twice. */
	cancel(): void;
}

export interface RpcCall {
	readonly network: RpcNetwork;
	/** At least one. */
	readonly items: readonly RpcItem[];
	readonly requestId: string;
	/** Whose share of an upstream's places it counts in. */
	readonly tenant: string;
	/** Aborts when the caller leaves: all of the call's tries end, and what was called rejects with its reason. */
	readonly signal: AbortSignal;
	/** Called right before the bytes of each try go out: from here on a send may be taken. */
	onSent?(upstream: string): void;
}

export interface RpcAnswer<T> {
	readonly outcome: T;
	/** The member of the pool that gave it; of a batch the one that gave most of it. */
	readonly upstream: string | null;
	/** Tries before this one; those of hedges count. */
	readonly retries: number;
}

/**
 * No upstream answered: RPC_NETWORK_OFFLINE (503, says what to configure), RPC_UPSTREAM_FAILED (502) or
 * REQUEST_TIMEOUT (504).
 */
export class RpcCallError extends ApiError {
	/** Positions of sends that an upstream may have taken without telling us. Empty: none was. */
	readonly unknownSends: readonly number[];

	constructor(code: ErrorCode, options: ApiErrorOptions = {}, unknownSends: readonly number[] = []) {
		super(code, options);
		this.unknownSends = unknownSends;
	}
}

/** `found`: an upstream knows the transaction. `absent`: one answered that it does not. `unreachable`: none answered. */
export type RpcLookUp = "found" | "absent" | "unreachable";

export interface RpcUpstreams {
	/** Slugs that are switched on, sorted. */
	networks(): readonly string[];
	/** Those of them with a healthy upstream, sorted. */
	online(): string[];
	/** The one item of the call. Throws `RpcCallError`, or the reason of the call's signal. */
	single(call: RpcCall): Promise<RpcAnswer<RpcOutcome | RpcStream>>;
	/** Outcomes by position. Throws as `single` does; at least one item was answered where it does not throw. */
	batch(call: RpcCall): Promise<RpcAnswer<readonly RpcOutcome[]>>;
	/** Whether the chain or a mempool already has this transaction: asked before bytes of an unknown outcome are sent again. */
	lookUp(network: RpcNetwork, txHash: string, requestId: string, signal: AbortSignal): Promise<RpcLookUp>;
}
