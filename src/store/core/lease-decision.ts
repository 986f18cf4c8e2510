/** Decides a lease of money, and of a key's limits with it, on a store that several nodes share. */
import type { AcquireRequest, AcquireResult, BudgetState } from "../types.ts";
import { type CapHeadroom, decideCapped } from "./cap-split.ts";
import { decideAcquire, type RetainedLeases } from "./lease-split.ts";

/** What the store knows under lock of the account that a request needs money of. */
export interface LeaseState {
	/** The budgets that the request may use, in spending order. */
	readonly budgets: readonly BudgetState[];
	/** All leases of the requesting node on the account. */
	readonly ownLeases: readonly RetainedLeases[];
	/** The limits of the request's key; null where the request names none. */
	readonly headroom: CapHeadroom | null;
}

/**
 * Decides an acquire, all or none. `recalled` is set where the need was not met and other nodes hold money of the
 * account, or limits of the key.
 */
export function decideLease(request: AcquireRequest, state: LeaseState, liveNodes: number): AcquireResult {
	const { budgets, ownLeases, headroom } = state;
	const { cap } = request;
	const { short, ...answer } =
		cap === undefined || headroom === null
			? decideAcquire(budgets, request, liveNodes)
			: decideCapped(budgets, { ...request, cap }, headroom, liveNodes);
	const leased = budgets.reduce((sum, { balance, free }) => sum + balance - free, 0);
	const own = ownLeases.reduce(
		(sum, { source, day, amount }) => sum + (source !== "diem" || day === request.day ? amount : 0),
		0,
	);
	const elsewhere = leased > own || (headroom !== null && headroom.elsewhere.usd + headroom.elsewhere.diem > 0);
	return { ...answer, ...(short && elsewhere ? { recalled: true } : {}) };
}
