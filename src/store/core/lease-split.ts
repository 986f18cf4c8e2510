/**
 * Decides how much of an account's free money a node gets and returns. Pure: the simulation of many nodes runs the
 * same functions.
 */
import type { MoneySource } from "../../journal/records.ts";
import { nano } from "../../ledger/nano.ts";
import type { AcquireRequest, BudgetState, Grant, UsableMoney } from "../types.ts";
import { usableParts } from "./usable-money.ts";

/** A part of a node's leases. */
export interface RetainedLeases {
	readonly source: MoneySource;
	readonly day: number;
	readonly amount: number;
}

export interface FreeMoney {
	readonly source: MoneySource;
	readonly day: number;
	/** Nano-USD that no node has leased. */
	readonly free: number;
}

export interface LeaseDemand {
	/** What the requesting request lacks. */
	readonly need: number;
	/** True to take what exists where that is less than the need; else all or none. */
	readonly part: boolean;
	readonly liveNodes: number;
	/** The most of the need that may come from each source. */
	readonly usable?: UsableMoney | undefined;
}

export interface Share extends FreeMoney {
	readonly granted: number;
}

/** A surplus is a quarter of a node's even share, so that a few nodes with frequent calls never exhaust a budget. */
const SURPLUS_PARTS = 4;
/** Below this many holds no surplus is granted: a nearly empty budget stays in the store, where all nodes see it. */
const LEAST_HOLDS = 4;

/**
 * Takes the need in spending order (the order of `budgets`), all or none. A surplus comes from the first source with
 * a rest, and only where that has plenty.
 */
export function splitLease(budgets: readonly FreeMoney[], wish: LeaseDemand): Share[] {
	const usable = usableParts(budgets, wish.usable);
	const total = usable.reduce((sum, free) => sum + free, 0);
	if (total < wish.need && !wish.part) return [];
	let lacking = wish.need;
	let surplusGiven = false;
	const shares: Share[] = [];
	for (const [index, budget] of budgets.entries()) {
		const needed = Math.min(lacking, usable[index] ?? 0);
		lacking -= needed;
		let granted = needed;
		if (lacking === 0 && !surplusGiven && budget.free > needed) {
			surplusGiven = true;
			granted += surplusOf(budget.free - needed, wish.need, wish.liveNodes);
		}
		if (granted > 0) shares.push({ ...budget, granted });
	}
	return shares;
}

/** Returns the part of `left`, the money beyond the need, that a node gets for later requests. */
export function surplusOf(left: number, need: number, liveNodes: number): number {
	const surplus = Math.floor(left / (SURPLUS_PARTS * liveNodes));
	return need > 0 && surplus >= LEAST_HOLDS * need ? surplus : 0;
}

export interface AcquireDecision {
	readonly grants: readonly Grant[];
	/** The budgets after the grants. */
	readonly budgets: readonly BudgetState[];
	/** True where the need was not met. */
	readonly short: boolean;
}

/** Decides an acquire on the account's budgets, in spending order, as read under lock. */
export function decideAcquire(budgets: readonly BudgetState[], request: AcquireRequest, liveNodes: number): AcquireDecision {
	const { needNano: need, part = false, usable } = request;
	const shares = splitLease(budgets, { need, part, liveNodes, usable });
	const grantedOf = (source: MoneySource) => shares.find((share) => share.source === source)?.granted ?? 0;
	return {
		grants: shares.map(({ source, day, granted }) => ({ source, day, granted: nano(granted) })),
		budgets: budgets.map((budget) => ({ ...budget, free: nano(budget.free - grantedOf(budget.source)) })),
		short: shares.reduce((sum, share) => sum + share.granted, 0) < need,
	};
}

/**
 * Returns which of a node's leases on an account end where it keeps `retained`. A lease below the retained amount stays as it
 * is: the store lost the rest in a failover, and posts beyond it are paid from free money.
 */
export function decideGiveBack(leases: readonly RetainedLeases[], retained: readonly RetainedLeases[]): RetainedLeases[] {
	const retainedByBudget = new Map(retained.map((part) => [`${part.source}/${part.day}`, part.amount]));
	return leases
		.map((lease) => ({ ...lease, amount: lease.amount - (retainedByBudget.get(`${lease.source}/${lease.day}`) ?? 0) }))
		.filter((back) => back.amount > 0);
}
