import type { BudgetState, Grant } from "../store/port.ts";
import { Purse } from "./purse.ts";
import type { Split } from "./split.ts";

/** Days of diem that are kept beside the newest: a request that was admitted before midnight may post after it. */
const KEPT_DAYS = 2;

/**
 * One question to the store that is under way. Its answer holds exactly the posts up to `seq`, so the posts
 * made since are kept apart: those past `seq` are not in the answer; those that still fell into the group of
 * `seq` are.
 */
export interface StoreCall {
	readonly seq: number;
	readonly after: Map<Purse, number>;
	readonly within: Map<Purse, number>;
}

/** The money of one account on this node: a purse for each source, and the totals as last heard from the store. */
export class AccountMoney {
	readonly bundled = new Purse("bundled", 0);
	readonly usd = new Purse("usd", 0);
	readonly #diem = new Map<number, Purse>();
	#lastDiem = new Purse("diem", -1);
	readonly #calls = new Set<StoreCall>();
	/** The newest day whose totals are known. */
	totalsDay = -1;

	/** The purse of an epoch's diem. Purses of old epochs are dropped: what is left in them is not spendable. */
	diem(day: number): Purse {
		if (this.#lastDiem.day === day) return this.#lastDiem;
		let purse = this.#diem.get(day);
		if (purse === undefined) {
			purse = new Purse("diem", day);
			this.#diem.set(day, purse);
			for (const old of this.#diem.values()) {
				if (old.day >= day - KEPT_DAYS || old.held > 0) continue;
				old.left = 0;
				this.#diem.delete(old.day);
			}
		}
		this.#lastDiem = purse;
		return purse;
	}

	*purses(): Iterable<Purse> {
		yield* this.#diem.values();
		yield this.bundled;
		yield this.usd;
	}

	/** What no hold secures, as seen by a request of `day`. */
	free(day: number): Split {
		return { diem: this.diem(day).free, bundled: this.bundled.free, usd: this.usd.free };
	}

	/** Call at the moment that a question goes out, with the journal's sequence; end it with the answer. */
	begin(seq: number): StoreCall {
		const call: StoreCall = { seq, after: new Map(), within: new Map() };
		this.#calls.add(call);
		return call;
	}

	end(call: StoreCall): void {
		this.#calls.delete(call);
	}

	/** Tells the questions under way about a post of sequence `seq`. */
	posted(purse: Purse, amount: number, seq: number): void {
		for (const call of this.#calls) {
			const posts = seq > call.seq ? call.after : call.within;
			posts.set(purse, (posts.get(purse) ?? 0) + amount);
		}
	}

	get asking(): boolean {
		return this.#calls.size > 0;
	}

	grow(grants: readonly Grant[]): void {
		for (const { source, day, granted } of grants) this.#purse(source, day).grow(granted);
	}

	/** Takes the totals of an answer for `day`, less the posts that it does not hold. A source it does not name is empty. */
	takeTotals(call: StoreCall, budgets: readonly BudgetState[], day: number): void {
		for (const purse of [this.diem(day), this.bundled, this.usd]) purse.total = -(call.after.get(purse) ?? 0);
		for (const { source, day: of, balance } of budgets)
			if (source !== "diem" || of === day) this.#purse(source, of).total += balance;
		if (day > this.totalsDay) this.totalsDay = day;
	}

	#purse(source: BudgetState["source"], day: number): Purse {
		return source === "diem" ? this.diem(day) : source === "bundled" ? this.bundled : this.usd;
	}
}
