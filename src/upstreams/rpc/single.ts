import type { Clock } from "../clock.ts";
import type { Fetch } from "../connect.ts";
import { AllFailed } from "./all-failed.ts";
import { answerStream } from "./answer-stream.ts";
import { BigAnswer } from "./big-answer.ts";
import { type Answered, ask } from "./exchange.ts";
import { agreedError, failureOf, offline } from "./failure-answer.ts";
import type { FaultLog } from "./fault-log.ts";
import { RpcFault } from "./faults.ts";
import { knows } from "./look-up.ts";
import type { CallKind, NetworkPool } from "./network.ts";
import type { RpcAnswer, RpcCall, RpcItem, RpcOutcome, RpcStream } from "./port.ts";
import { type Leg, Race } from "./race.ts";
import { hashAsResult, meaningAfterTaken, safetyOf } from "./sends.ts";

/** What calls work with. */
export interface CallTools {
	readonly fetch: Fetch;
	readonly clock: Clock;
	readonly faults: FaultLog;
	/** How long a call may take in all, in milliseconds. */
	readonly rpcMs: number;
	readonly rpcSlowMs: number;
}

export function kindOf({ method }: RpcItem): CallKind {
	if (method.slow) return "slow";
	return method.name === "eth_getLogs" ? "logs" : "read";
}

/** One item at the upstreams of its network (docs/rpc.md). Throws RpcCallError, or the reason of the call's signal. */
export async function single(
	call: RpcCall,
	pool: NetworkPool | undefined,
	tools: CallTools,
): Promise<RpcAnswer<RpcOutcome | RpcStream>> {
	const { items, network, requestId, signal } = call;
	const [item] = items;
	if (item === undefined) throw new Error("a call without an item");
	const ordered = await membersFor(call, pool, tools);
	if (pool === undefined || ordered.length === 0) throw offline(network, pool);
	const { clock } = tools;
	const safety = safetyOf(item);
	const race = new Race<Answered | BigAnswer>(
		{
			pool,
			clock,
			tenant: call.tenant,
			members: pool.able(ordered, item),
			kind: kindOf(item),
			safety,
			deadlineMs: clock.nowMs() + (item.method.slow ? tools.rpcSlowMs : tools.rpcMs),
			signal,
			lacking: ({ facts }) => facts.learned.isLacking(item.method.name, clock.nowMs()),
		},
		(leg) => attempt(call, item, leg, tools),
	);
	try {
		const { value, member, retries, end } = await race.run();
		member.facts.learned.has(item.method.name);
		if (!(value instanceof BigAnswer)) {
			end();
			return { outcome: value, upstream: member.name, retries };
		}
		const outcome = answerStream(value, { clock, silenceMs: tools.rpcMs, signal, end, faults: tools.faults, requestId, member });
		return { outcome, upstream: member.name, retries };
	} catch (error) {
		if (!(error instanceof AllFailed)) throw error;
		const outcome = agreedError(error);
		if (outcome !== null) return { outcome, upstream: null, retries: error.retries };
		throw failureOf(network, error, safety !== "read" && error.mayBeTaken ? [0] : []);
	}
}

/** The members that may be asked; a gateway that has just started waits for the first look at them. */
export async function membersFor(call: RpcCall, pool: NetworkPool | undefined, { clock, rpcMs }: CallTools) {
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

async function attempt(call: RpcCall, item: RpcItem, leg: Leg, tools: CallTools): Promise<Answered | BigAnswer> {
	const { requestId } = call;
	const { member, signal, fresh } = leg;
	call.onSent?.(member.name);
	try {
		const answer = await ask({ fetch: tools.fetch, member, requestId, signal, fresh }, item);
		return leg.afterTaken || item.mayBeTaken === true ? await settled(answer, call, item, leg, tools) : answer;
	} catch (error) {
		if (error instanceof RpcFault) {
			if (error.kind === "unsupported") member.facts.learned.lacks(item.method.name, tools.clock.nowMs());
			if (!signal.aborted) tools.faults.tell(requestId, member, error);
		}
		throw error;
	}
}

/** A send that an upstream before may have taken: an error that says that it is there already is its success. */
export async function settled(
	answer: Answered | BigAnswer,
	{ requestId, network }: RpcCall,
	item: RpcItem,
	leg: Leg,
	{ fetch }: CallTools,
): Promise<Answered | BigAnswer> {
	const success = answer instanceof BigAnswer || safetyOf(item) !== "raw-send" ? null : hashAsResult(item);
	if (success === null || success.kind === "missing" || answer instanceof BigAnswer) return answer;
	const meaning = meaningAfterTaken(answer);
	if (meaning === "known") return success;
	const { txHash } = item;
	if (meaning === "else" || txHash === undefined || txHash === null) return answer;
	return (await knows(fetch, network, leg, txHash, requestId)) === true ? success : answer;
}
