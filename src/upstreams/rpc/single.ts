import { AllAttemptsFailed } from "./all-attempts-failed.ts";
import { answerStream } from "./answer-stream.ts";
import type { CallDeps } from "./call-deps.ts";
import { type ItemAnswer, sendItem } from "./exchange.ts";
import { agreedError, callError, networkOffline } from "./failure-answer.ts";

import { RpcFault } from "./faults.ts";
import { LargeAnswer } from "./large-answer.ts";
import { knowsTransaction } from "./look-up.ts";
import type { CallKind, NetworkPool } from "./network.ts";
import type { RpcAnswer, RpcCall, RpcItem, RpcOutcome, RpcStream } from "./port.ts";
import { Race, type RpcAttempt } from "./race.ts";
import { hashAsResult, meaningAfterAccepted, safetyOf } from "./sends.ts";

export function callKind({ method }: RpcItem): CallKind {
	if (method.slow) return "slow";
	return method.name === "eth_getLogs" ? "logs" : "read";
}

/**
 * Sends one item to the upstreams of its network (docs/rpc.md).
 * @throws RpcCallError, or the reason of the call's signal
 */
export async function single(
	call: RpcCall,
	pool: NetworkPool | undefined,
	deps: CallDeps,
): Promise<RpcAnswer<RpcOutcome | RpcStream>> {
	const { items, network, requestId, signal } = call;
	const [item] = items;
	if (item === undefined) throw new Error("a call without an item");
	const ordered = await membersFor(call, pool, deps);
	if (pool === undefined || ordered.length === 0) throw networkOffline(network, pool);
	const { clock } = deps;
	const safety = safetyOf(item);
	const race = new Race<ItemAnswer | LargeAnswer>(
		{
			pool,
			clock,
			tenant: call.tenant,
			members: pool.able(ordered, item),
			kind: callKind(item),
			safety,
			deadlineMs: clock.monotonicMs() + (item.method.slow ? deps.rpcSlowMs : deps.rpcMs),
			signal,
			lacksMethod: ({ state }) => state.learned.lacksMethod(item.method.name, clock.monotonicMs()),
		},
		(attempt) => attemptItem(call, item, attempt, deps),
	);
	try {
		const { value, member, retries, end } = await race.run();
		member.state.learned.onMethodAnswered(item.method.name);
		if (!(value instanceof LargeAnswer)) {
			end();
			return { outcome: value, upstream: member.name, retries };
		}
		const outcome = answerStream(value, { clock, silenceMs: deps.rpcMs, signal, end, faults: deps.faults, requestId, member });
		return { outcome, upstream: member.name, retries };
	} catch (error) {
		if (!(error instanceof AllAttemptsFailed)) throw error;
		const outcome = agreedError(error);
		if (outcome !== null) return { outcome, upstream: null, retries: error.retries };
		throw callError(network, error, safety !== "read" && error.mayBeAccepted ? [0] : []);
	}
}

/** Returns the usable members. A gateway that has just started waits for their first check. */
export async function membersFor(call: RpcCall, pool: NetworkPool | undefined, { clock, rpcMs }: CallDeps) {
	pool?.heads.touch();
	const members = pool?.order() ?? [];
	if (members.length > 0 || pool === undefined) return members;
	const waited = Promise.withResolvers<void>();
	const cancelTimer = clock.after(rpcMs, waited.resolve);
	const onLeft = () => waited.reject(call.signal.reason);
	if (call.signal.aborted) onLeft();
	else call.signal.addEventListener("abort", onLeft, { once: true });
	try {
		await Promise.race([pool.checked, waited.promise]);
	} finally {
		cancelTimer();
		call.signal.removeEventListener("abort", onLeft);
	}
	return pool.order();
}

async function attemptItem(call: RpcCall, item: RpcItem, attempt: RpcAttempt, deps: CallDeps): Promise<ItemAnswer | LargeAnswer> {
	const { requestId } = call;
	const { member, signal, fresh } = attempt;
	call.onSent?.(member.name);
	try {
		const answer = await sendItem({ fetch: deps.fetch, member, requestId, signal, fresh }, item);
		return attempt.earlierMayBeAccepted || item.mayBeAccepted === true
			? await settleSend(answer, call, item, attempt, deps)
			: answer;
	} catch (error) {
		if (error instanceof RpcFault) {
			if (error.kind === "unsupported") member.state.learned.onMethodMissing(item.method.name, deps.clock.monotonicMs());
			if (!signal.aborted) deps.faults.log(requestId, member, error);
		}
		throw error;
	}
}

/** Settles a send that an earlier upstream may have accepted. An error that says "already known" then means success. */
export async function settleSend(
	answer: ItemAnswer | LargeAnswer,
	{ requestId, network }: RpcCall,
	item: RpcItem,
	attempt: RpcAttempt,
	{ fetch }: CallDeps,
): Promise<ItemAnswer | LargeAnswer> {
	const success = answer instanceof LargeAnswer || safetyOf(item) !== "raw-send" ? null : hashAsResult(item);
	if (success === null || success.kind === "missing" || answer instanceof LargeAnswer) return answer;
	const meaning = meaningAfterAccepted(answer);
	if (meaning === "known") return success;
	const { txHash } = item;
	if (meaning === "else" || txHash === undefined || txHash === null) return answer;
	return (await knowsTransaction(fetch, network, attempt, txHash, requestId)) === true ? success : answer;
}
