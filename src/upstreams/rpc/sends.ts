import { utf8Text } from "../../wire/index.ts";
import type { RpcItem, RpcOutcome } from "./port.ts";
import type { RaceCall } from "./race.ts";

/** Matches messages of nodes that already have this transaction, in a mempool or in a block. */
const ALREADY_KNOWN =
	/already[ _]?known|already[ _]exists|known transaction|already (?:been )?imported|already in (?:the )?(?:mem|tx|transaction )?pool|already_exists/i;
/** Matches messages about a transaction that is already in a block, or about another one with the same nonce. */
const NONCE_USED = /nonce[ _]?too[ _]?low|nonce (?:is )?(?:already )?used|old nonce|invalid nonce/i;

const TX_HASH = /^0x[0-9a-f]{64}$/i;

/** Returns what may be done with an item when its first upstream fails. */
export function safetyOf({ method, txHash }: RpcItem): RaceCall["safety"] {
	if (method.send === null) return "read";
	return method.send === "raw-transaction" && txHash !== undefined && txHash !== null ? "raw-send" : "send";
}

/** Returns the strictest safety of all items. */
export function safetyOfAll(items: readonly RpcItem[]): RaceCall["safety"] {
	let safety: RaceCall["safety"] = "read";
	for (const item of items) {
		const own = safetyOf(item);
		if (own === "send") return own;
		if (own === "raw-send") safety = own;
	}
	return safety;
}

/**
 * Returns the meaning of an error for a send that an upstream may have accepted before: the transaction is known, may
 * be known, or the error means something else.
 */
export function meaningAfterAccepted(error: RpcOutcome): "known" | "perhaps" | "else" {
	if (error.kind !== "error") return "else";
	const text = utf8Text(error.value, 0, Math.min(error.value.length, 4_096));
	if (ALREADY_KNOWN.test(text)) return "known";
	return NONCE_USED.test(text) ? "perhaps" : "else";
}

/** Returns the result of an accepted send, which is its hash; null if the hash is unknown. */
export function hashAsResult({ txHash }: RpcItem): RpcOutcome | null {
	if (txHash === undefined || txHash === null || !TX_HASH.test(txHash)) return null;
	return { kind: "result", value: new TextEncoder().encode(JSON.stringify(txHash)) };
}
