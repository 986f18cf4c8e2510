/**
 * Plans what a batch of journal records does to the books: which budget pays each part of a post, the balance after
 * it, the numbers of its entries, and the sums of the batch. Pure: both stores and the simulation read the rows under
 * lock, call this, and write what it returns.
 */
import type { JournalRecord, PostRecord } from "../../journal/records.ts";
import { nano } from "../../ledger/nano.ts";
import type { BatchAccount, BatchBudget, BatchState } from "./batch-state.ts";
import { allowed, type CappedSum, CappedSums, owedPaidOf, takeOwedCaps } from "./cap-plan.ts";
import { type Entry, SOURCES } from "./entries.ts";
import { type OwedSource, payOwed } from "./owed.ts";
import { type AppliedPart, applyPost, type LinePart, share } from "./post-lines.ts";
import { RecordFault } from "./record-fault.ts";
import { RpcPlan } from "./rpc-plan.ts";
import { type EntryNumbers, numberEntries } from "./statement-numbers.ts";

/** A part with the payer's balance after it; null for overrun, which no budget pays. */
export type PaidPart = AppliedPart & { readonly balanceAfter: number | null };

/** A row of `posts` with its rows of `movements`. */
export interface PlannedPost {
	readonly seq: number;
	readonly record: PostRecord;
	readonly numbers: EntryNumbers;
	readonly parts: readonly PaidPart[];
}

export interface BatchPlan {
	readonly posts: readonly PlannedPost[];
	/** Accounts whose budgets or usage change: see `BatchBudget.spent` and `BatchAccount.usage`. */
	readonly accounts: Iterable<BatchAccount>;
	/** What posts of keys with leased limits take of them: one for each account, key, unit and day. */
	readonly capped: readonly CappedSum[];
	/** Latest use by key. */
	readonly touches: ReadonlyMap<string, number>;
	/** Rows of the chain proxy. */
	readonly rpc: RpcPlan;
}

/**
 * Plans a batch and changes `state` accordingly. Throws `RecordFault` or `MoneyError` for a record that the books
 * refuse; `state` is then of no more use.
 */
export function planBatch(entries: readonly Entry[], state: BatchState): BatchPlan {
	const posts: PlannedPost[] = [];
	const capped = new CappedSums();
	const touches = new Map<string, number>();
	const rpc = new RpcPlan();
	for (const entry of entries) {
		// An unreadable record throws its fault here.
		const record = entry.record ?? (JSON.parse(entry.text) as JournalRecord);
		switch (record.t) {
			case "post":
				posts.push(planPost(record, entry.seq, state, capped));
				rpc.post(record);
				break;
			case "touch":
				touches.set(record.keyId, Math.max(touches.get(record.keyId) ?? 0, record.atMs));
				break;
			default:
				if (!rpc.record(record)) throw new RecordFault("unknown kind of record");
		}
	}
	return { posts, accounts: state.accounts.values(), capped: [...capped.sums()], touches, rpc };
}

function planPost(record: PostRecord, seq: number, state: BatchState, capped: CappedSums): PlannedPost {
	const account = state.account(record.accountId);
	const { parts: lineParts, free } = applyPost(record);
	const { parts: appliedParts, fromFree } = payOwed(lineParts, allowed(record, state.caps), () =>
		owedSources(record, lineParts, account),
	);
	for (const { source, amount } of fromFree) leaseFree(account.budget(source, record.day), amount);
	const parts = payParts(appliedParts, record, account);
	const keyId = record.keyId ?? "";
	for (const { source, sku, amount, units } of parts) account.count(keyId, record.day, source, sku, amount, units);
	for (const { sku, units } of free) account.count(keyId, record.day, "free", sku, 0, units);
	if (record.capped === true) {
		const owed = owedPaidOf(lineParts, appliedParts);
		takeOwedCaps(record, owed, state.caps);
		capped.add(record, parts, owed);
	}
	return { seq, record, numbers: numberEntries(account.numbers, parts), parts };
}

/** Returns what each source has for the post's owed amount: see `payOwed`. */
function owedSources(post: PostRecord, parts: readonly LinePart[], account: BatchAccount): OwedSource[] {
	return SOURCES.map((source) => {
		const budget = account.budget(source, post.day);
		if (budget === undefined) return { source, surplus: 0, free: 0 };
		const own = parts.reduce((sum, part) => sum + (part.source === source ? part.amount : 0), 0);
		const surplus = budget.lease - own - (post.owing?.kept[source] ?? 0);
		// Where the lease is gone, the post's own parts come out of free money too.
		const free = budget.balance - budget.leased - Math.max(0, own - budget.lease);
		return { source, surplus: Math.max(0, surplus), free: Math.max(0, free) };
	});
}

/** Turns free money into a lease of this node that the same batch spends: the row of the lease does not change. */
function leaseFree(budget: BatchBudget | undefined, amount: number): void {
	if (budget === undefined) return;
	budget.lease += amount;
	budget.leased += amount;
	budget.unleased -= amount;
}

/**
 * Decides where each part's money comes from: this node's lease, else free money (the lease may have ended with the
 * node's term, or in a failover), else the operator. No balance goes below zero.
 */
function payParts(parts: readonly AppliedPart[], post: PostRecord, account: BatchAccount): PaidPart[] {
	const paid: PaidPart[] = [];
	for (const part of parts) {
		if (part.source === "overrun") {
			paid.push({ ...part, balanceAfter: null });
			continue;
		}
		const budget = account.budget(part.source, post.day);
		if (budget === undefined) throw new RecordFault(`account ${account.id} has no ${part.source} budget of day ${post.day}`);
		const taken = takeFrom(budget, part.amount);
		if (taken === part.amount) {
			paid.push({ ...part, balanceAfter: budget.balance });
			continue;
		}
		const units = share(part.units, taken, part.amount);
		if (taken > 0) paid.push({ ...part, amount: nano(taken), units, balanceAfter: budget.balance });
		const borne = { source: "overrun" as const, amount: nano(part.amount - taken), units: part.units - units };
		paid.push({ ...part, ...borne, balanceAfter: null });
	}
	return paid;
}

/** Takes as much of an amount as the budget has: from this node's lease, then from free money. Returns what it took. */
function takeFrom(budget: BatchBudget, amount: number): number {
	const leased = Math.min(amount, budget.lease);
	const taken = leased + Math.min(amount - leased, budget.balance - budget.leased);
	budget.balance -= taken;
	budget.leased -= leased;
	budget.lease -= leased;
	budget.spent += taken;
	budget.unleased += leased;
	return taken;
}
