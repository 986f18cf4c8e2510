import { takeInOrder } from "../store/owed.ts";
import type { BudgetState, Grant, UsableMoney } from "../store/port.ts";
import { LeaseBalance } from "./lease-balance.ts";
import type { Split } from "./split.ts";

/** Days of diem that are kept beside the newest: a request that was admitted before midnight may post after it. */
const RETAINED_DAYS = 2;

/**
 * A question to the store that is under way: what was posted from each purse since it was asked, and what posts were
 * short of. The answer holds every post made before, and none of these.
 */
export interface StoreCall {
	readonly posted: Map<LeaseBalance, number>;
	readonly owed: { readonly amount: number; readonly most: UsableMoney; readonly day: number }[];
}

/** The money of one account on this node: a purse for each source, and the totals as last heard from the store. */
export class AccountMoney {
	readonly bundled = new LeaseBalance("bundled", 0);
	readonly usd = new LeaseBalance("usd", 0);
	readonly #diem = new Map<number, LeaseBalance>();
	#lastDiem = new LeaseBalance("diem", -1);
	readonly #calls = new Set<StoreCall>();
	/** The newest day whose totals are known. */
	totalsDay = -1;

	/** The purse of an epoch's diem. Purses of old epochs are dropped: what is left in them is not spendable. */
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

	/** What no hold secures, as seen by a request of `day`. */
	free(day: number): Split {
		return { diem: this.diem(day).free, bundled: this.bundled.free, usd: this.usd.free };
	}

	/** What the whole account has beside what this node's holds secure, whoever has it leased; as last heard. */
	freeAnywhere(day: number): Split {
		return { diem: this.diem(day).freeAnywhere, bundled: this.bundled.freeAnywhere, usd: this.usd.freeAnywhere };
	}

	/** Call in the turn in which a question goes out; end it with the answer. */
	beginCall(): StoreCall {
		const call: StoreCall = { posted: new Map(), owed: [] };
		this.#calls.add(call);
		return call;
	}

	endCall(call: StoreCall): void {
		this.#calls.delete(call);
	}

	/** The store ended all leases of this node. */
	expireLeases(): void {
		for (const balance of this.balances()) balance.expire();
	}

	/** Takes a post's part from a purse, and tells the questions under way. `lapsed`: see `Purse.release`. */
	spend(balance: LeaseBalance, amount: number, lapsed: number): void {
		if (amount === 0) return;
		balance.spend(amount, lapsed);
		for (const call of this.#calls) call.posted.set(balance, (call.posted.get(balance) ?? 0) + amount);
	}

	/** A post was short of `amount`: the store books it out of what it grants now, and then out of free money. */
	recordOwed(amount: number, most: UsableMoney, day: number): void {
		for (const call of this.#calls) call.owed.push({ amount, most, day });
	}

	/** Takes the grants of an answer, less what the store will take of them for posts that were short meanwhile. */
	addGrants(call: StoreCall, grants: readonly Grant[]): void {
		const left = grants.map(({ source, day, granted }) => ({ source, day, free: granted as number }));
		for (const { amount, most, day } of call.owed) {
			const usable = left.filter((grant) => grant.source !== "diem" || grant.day === day);
			const { taken } = takeInOrder(amount, usable, most);
			for (const [index, grant] of usable.entries()) grant.free -= taken[index] ?? 0;
		}
		for (const { source, day, free } of left) this.#balanceOf(source, day).grow(free);
	}

	/** Takes the totals of an answer for `day`, less the posts that it does not hold. A source it does not name is empty. */
	updateTotals(call: StoreCall, budgets: readonly BudgetState[], day: number): void {
		for (const balance of [this.diem(day), this.bundled, this.usd]) balance.total = -(call.posted.get(balance) ?? 0);
		for (const { source, day: of, balance } of budgets)
			if (source !== "diem" || of === day) this.#balanceOf(source, of).total += balance;
		if (day > this.totalsDay) this.totalsDay = day;
	}

	#balanceOf(source: BudgetState["source"], day: number): LeaseBalance {
		return source === "diem" ? this.diem(day) : source === "bundled" ? this.bundled : this.usd;
	}
}
