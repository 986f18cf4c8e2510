import { takeInOrder } from "../store/core/owed.ts";
import type { BudgetState, Grant, UsableMoney } from "../store/port.ts";
import { LeaseBalance } from "./lease-balance.ts";
import type { Split } from "./split.ts";

/** Days of diem that are kept beside the newest: a request that was admitted before midnight may post after it. */
const RETAINED_DAYS = 2;

/**
 * A running call to the store: what was posted from each balance since the call began, and what posts lacked. The
 * answer includes every post made before the call, and none of these.
 */
export interface StoreCall {
	readonly posted: Map<LeaseBalance, number>;
	readonly owed: { readonly amount: number; readonly most: UsableMoney; readonly day: number }[];
}

/** The money of one account on this node: a lease balance for each source, and the last known totals of the store. */
export class AccountMoney {
	readonly bundled = new LeaseBalance("bundled", 0);
	readonly usd = new LeaseBalance("usd", 0);
	readonly #diem = new Map<number, LeaseBalance>();
	#lastDiem = new LeaseBalance("diem", -1);
	readonly #calls = new Set<StoreCall>();
	/** The newest day whose totals are known. */
	totalsDay = -1;

	/** Returns the balance of one day's diem. Balances of old days are dropped: their rest cannot be spent. */
	diem(day: number): LeaseBalance {
		if (this.#lastDiem.day === day) return this.#lastDiem;
		let balance = this.#diem.get(day);
		if (balance === undefined) {
			balance = new LeaseBalance("diem", day);
			this.#diem.set(day, balance);
			for (const old of this.#diem.values()) {
				if (old.day >= day - RETAINED_DAYS || old.held > 0) continue;
				old.leased = 0;
				this.#diem.delete(old.day);
			}
		}
		this.#lastDiem = balance;
		return balance;
	}

	*balances(): Iterable<LeaseBalance> {
		yield* this.#diem.values();
		yield this.bundled;
		yield this.usd;
	}

	/** Returns the amounts that no hold secures, for a request of `day`. */
	free(day: number): Split {
		return { diem: this.diem(day).free, bundled: this.bundled.free, usd: this.usd.free };
	}

	/**
	 * Returns what the whole account has beyond this node's holds, on whichever node it is leased, by the last known
	 * totals.
	 */
	freeAnywhere(day: number): Split {
		return { diem: this.diem(day).freeAnywhere, bundled: this.bundled.freeAnywhere, usd: this.usd.freeAnywhere };
	}

	/** Call this in the turn in which a store call goes out, and `endCall` with its answer. */
	beginCall(): StoreCall {
		const call: StoreCall = { posted: new Map(), owed: [] };
		this.#calls.add(call);
		return call;
	}

	endCall(call: StoreCall): void {
		this.#calls.delete(call);
	}

	/** Drops all leases, because the store ended them. */
	expireLeases(): void {
		for (const balance of this.balances()) balance.expire();
	}

	/** Spends a post's part from a balance, and notes it in running store calls. `lapsed`: what `LeaseBalance.release` returned. */
	spend(balance: LeaseBalance, amount: number, lapsed: number): void {
		if (amount === 0) return;
		balance.spend(amount, lapsed);
		for (const call of this.#calls) call.posted.set(balance, (call.posted.get(balance) ?? 0) + amount);
	}

	/**
	 * Records that a post lacked `amount`: the store takes it from what it grants in running calls, then from free
	 * money.
	 */
	recordOwed(amount: number, most: UsableMoney, day: number): void {
		for (const call of this.#calls) call.owed.push({ amount, most, day });
	}

	/**
	 * Adds the grants of an answer, less the part that the store takes from them for posts that lacked money meanwhile.
	 */
	addGrants(call: StoreCall, grants: readonly Grant[]): void {
		const remainingGrants = grants.map(({ source, day, granted }) => ({ source, day, free: granted as number }));
		for (const { amount, most, day } of call.owed) {
			const usable = remainingGrants.filter((grant) => grant.source !== "diem" || grant.day === day);
			const { taken: parts } = takeInOrder(amount, usable, most);
			for (const [index, grant] of usable.entries()) grant.free -= parts[index] ?? 0;
		}
		for (const { source, day, free } of remainingGrants) this.#balanceOf(source, day).grow(free);
	}

	/**
	 * Sets the totals from an answer for `day`, less the posts that it does not include. A source that it does not name
	 * is empty.
	 */
	updateTotals(call: StoreCall, budgets: readonly BudgetState[], day: number): void {
		for (const balance of [this.diem(day), this.bundled, this.usd]) balance.total = -(call.posted.get(balance) ?? 0);
		for (const { source, day: budgetDay, balance } of budgets)
			if (source !== "diem" || budgetDay === day) this.#balanceOf(source, budgetDay).total += balance;
		if (day > this.totalsDay) this.totalsDay = day;
	}

	#balanceOf(source: BudgetState["source"], day: number): LeaseBalance {
		return source === "diem" ? this.diem(day) : source === "bundled" ? this.bundled : this.usd;
	}
}
