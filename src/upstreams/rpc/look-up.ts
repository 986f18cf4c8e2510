import type { RpcNetwork } from "../../catalog/rpc/types.ts";
import type { Fetch } from "../fetch.ts";
import type { CallDeps } from "./call-deps.ts";
import { sendItem } from "./exchange.ts";
import { RpcFault } from "./faults.ts";
import type { NetworkPool } from "./network.ts";
import type { RpcLookUp } from "./port.ts";
import type { RpcAttempt } from "./race.ts";

const NULL = 0x6e;
/** Time limit for one upstream to report whether it knows a transaction, in milliseconds. */
const LOOK_UP_MS = 5_000;

/** Returns whether this upstream has the transaction, in a block or pending; null if unknown. */
export async function knowsTransaction(
	fetch: Fetch,
	network: RpcNetwork,
	{ member, signal }: Pick<RpcAttempt, "member" | "signal">,
	txHash: string,
	requestId: string,
): Promise<boolean | null> {
	const name = network.vm === "starknet" ? "starknet_getTransactionByHash" : "eth_getTransactionByHash";
	const params = new TextEncoder().encode(JSON.stringify([txHash]));
	try {
		const answer = await sendItem({ fetch, member, requestId, signal, fresh: true }, { method: { name }, params });
		if (answer.kind !== "result") return network.vm === "starknet" ? false : null;
		return "value" in answer && answer.value[0] !== NULL;
	} catch (error) {
		if (error instanceof RpcFault || signal.aborted) return null;
		throw error;
	}
}

export interface TransactionLookUp {
	readonly network: RpcNetwork;
	readonly txHash: string;
	readonly requestId: string;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
}

/** Asks all upstreams of a network at once, because a transaction may be pending at only one of them. */
export async function lookUpTransaction(
	pool: NetworkPool | undefined,
	deps: CallDeps,
	lookUp: TransactionLookUp,
): Promise<RpcLookUp> {
	const { network, txHash, requestId, signal } = lookUp;
	const members = pool?.order() ?? [];
	const controller = new AbortController();
	const onLeft = () => controller.abort(signal.reason);
	if (signal.aborted) onLeft();
	else signal.addEventListener("abort", onLeft, { once: true });
	const cancelTimer = deps.clock.after(LOOK_UP_MS, () => controller.abort());
	const attemptAt = (member: (typeof members)[number]) => ({ member, signal: controller.signal });
	try {
		const confirmed = Promise.withResolvers<true>();
		const answers = members.map(async (member) => {
			const known = await knowsTransaction(deps.fetch, network, attemptAt(member), txHash, requestId);
			if (known === true) confirmed.resolve(true);
			return known;
		});
		const all = await Promise.race([confirmed.promise, Promise.all(answers)]);
		signal.throwIfAborted();
		if (all === true) return "found";
		return all.some((known) => known === false) ? "absent" : "unreachable";
	} finally {
		cancelTimer();
		signal.removeEventListener("abort", onLeft);
		controller.abort();
	}
}
