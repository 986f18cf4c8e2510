import type { Caller, SendRow } from "../../budgets/port.ts";
import type { RpcMethod, RpcNetwork } from "../../catalog/rpc/index.ts";
import { isRecord } from "../../schema/is-record.ts";
import type { RpcItem, RpcOutcome } from "../../upstreams/rpc/port.ts";
import { nextTurn, utf8Text } from "../../wire/index.ts";
import { rawTransactionOf, type TransactionHashes, transactionHashes } from "./transaction-hash.ts";

/** A send among the items of a request, as the audit stores it. */
export interface Send {
	/** Its position in the request. */
	readonly index: number;
	readonly method: RpcMethod;
	/** null: no raw transaction, or none in hex. */
	readonly hashes: TransactionHashes | null;
	/** Raw transactions that are no hex are forwarded without a row: the node refuses them. */
	readonly audited: boolean;
}

/** Bytes hashed in one turn: some milliseconds. */
const MAX_BYTES_IN_TURN = 64 * 1024;

/** Returns the sends among the items, with their hashes. */
export async function findSends(items: readonly RpcItem[]): Promise<Send[]> {
	const sends: Send[] = [];
	let bytesInTurn = 0;
	for (const [index, { method, params }] of items.entries()) {
		if (method.send === null) continue;
		bytesInTurn += params.length;
		if (bytesInTurn > MAX_BYTES_IN_TURN) {
			await nextTurn();
			bytesInTurn = params.length;
		}
		const raw = method.send === "raw-transaction" ? rawTransactionOf(params) : null;
		const hashes = raw === null ? null : await transactionHashes(raw);
		sends.push({ index, method, hashes, audited: method.send === "other" || hashes !== null });
	}
	return sends;
}

/** Returns the audit's rows of the sends. */
export function sendRows(sends: readonly Send[], requestId: string, caller: Caller, network: RpcNetwork): SendRow[] {
	return sends
		.filter((send) => send.audited)
		.map(({ index, method, hashes }) => ({
			requestId,
			item: index,
			caller,
			network: network.slug,
			method: method.name,
			rawHash: hashes?.rawHash ?? null,
			txHash: hashes?.txHash ?? null,
		}));
}

/**
 * Returns a send's outcome for the audit: `accepted`, or the error's code. The node's hash counts only if it could
 * not be computed here, since our own hash is more reliable.
 */
export function sendEnd(send: Send, outcome: RpcOutcome): { readonly outcome: string; readonly txHash: string | null } {
	if (outcome.kind === "missing") return { outcome: "unknown", txHash: null };
	if (outcome.kind === "error") return { outcome: outcome.code === null ? "error" : String(outcome.code), txHash: null };
	const { hashes, method } = send;
	const computed = hashes !== null && hashes.txHash !== null;
	return { outcome: "accepted", txHash: computed ? null : reportedHash(outcome.value, method.sendHashAt) };
}

/** Hashes are short; anything longer is no hash. */
const MAX_RESULT_BYTES = 4_096;
const HASH = /^0x[0-9a-fA-F]{1,64}$/;

function reportedHash(value: Uint8Array, member: string | null): string | null {
	if (value.length > MAX_RESULT_BYTES) return null;
	const result: unknown = JSON.parse(utf8Text(value, 0, value.length));
	const hash = member === null ? result : isRecord(result) ? result[member] : null;
	return typeof hash === "string" && HASH.test(hash) ? hash : null;
}
