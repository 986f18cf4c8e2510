/**
 * Decides how much of a key's limits a node gets with the money for a request. Pure: the simulation of many nodes
 * runs the same functions.
 */
import { nano } from "../../ledger/nano.ts";
import type { AcquireRequest, BudgetState, CapAmounts, CapAnswer, CapRequest } from "../types.ts";
import { type AcquireDecision, decideAcquire, surplusOf } from "./lease-split.ts";

/** The limits of a key and what is taken of them in the window of a day, as read under lock. */
export interface CapHeadroom {
	/** Infinity: no limit. */
	readonly limit: CapAmounts;
	readonly spent: CapAmounts;
	/** Leased to the requesting node. */
	readonly own: CapAmounts;
	readonly elsewhere: CapAmounts;
}

/** The state of a revoked key: nothing may be spent. */
export const NO_HEADROOM: CapHeadroom = {
	limit: { usd: 0, diem: 0 },
	spent: { usd: 0, diem: 0 },
	own: { usd: 0, diem: 0 },
	elsewhere: { usd: 0, diem: 0 },
};

/** Returns what is neither spent nor leased; below 0 where a limit was lowered, or late posts came. */
export function freeHeadroom({ limit, spent, own, elsewhere }: CapHeadroom): CapAmounts {
	return { usd: limit.usd - spent.usd - own.usd - elsewhere.usd, diem: limit.diem - spent.diem - own.diem - elsewhere.diem };
}

const above0 = (amount: number): number => Math.max(0, amount);

/**
 * Decides an acquire of money and limits together, all or none: what the request lacks of both, with a surplus where
 * the limit has plenty. Holds of the node without a lease of the limits (after an ended term) get theirs too.
 */
export function decideCapped(
	budgets: readonly BudgetState[],
	request: AcquireRequest & { readonly cap: CapRequest },
	headroom: CapHeadroom,
	liveNodes: number,
): AcquireDecision & { readonly cap: CapAnswer } {
	const { amount, money, headroom: nodeHeadroom } = request.cap;
	const free = freeHeadroom(headroom);
	/** The most that the limits let the request use, with all that is free of them. */
	const most = { usd: above0(nodeHeadroom.usd + free.usd), diem: above0(nodeHeadroom.diem + free.diem) };
	const need = above0(amount - Math.min(money.usd, most.usd) - Math.min(money.diem, most.diem));
	const usable = { usd: above0(most.usd - money.usd), diem: above0(most.diem - money.diem) };
	const decision = decideAcquire(budgets, { ...request, needNano: nano(need), usable }, liveNodes);
	const all = budgets.reduce((sum, budget) => sum + budget.free, money.usd + money.diem);
	const short = decision.short && all >= amount;
	const { spent, elsewhere } = headroom;
	if (decision.short && request.part !== true)
		return { ...decision, cap: { granted: { usd: 0, diem: 0 }, spent, elsewhere, short } };
	const granted = (diem: boolean): number =>
		decision.grants.reduce((sum, grant) => sum + ((grant.source === "diem") === diem ? grant.granted : 0), 0);
	const diem = Math.min(money.diem + granted(true), most.diem, amount);
	const usd = Math.min(money.usd + granted(false), most.usd, amount - diem);
	const lease = (used: number, has: number, left: number): number => {
		if (left === Number.POSITIVE_INFINITY) return 0;
		const needed = used > 0 ? above0(used - has) : 0;
		return needed + surplusOf(left - needed, amount, liveNodes);
	};
	const leased = { usd: lease(usd, nodeHeadroom.usd, free.usd), diem: lease(diem, nodeHeadroom.diem, free.diem) };
	return { ...decision, cap: { granted: leased, spent, elsewhere, short } };
}
