/**
 * Sums of a range of journal records: money taken from budgets, a day's usage, the last use of keys. Each sum is
 * written to its row once, however many records contributed.
 */
import type { MoneySource } from "../../journal/records.ts";
import { addNano, type Nano, ZERO } from "../../ledger/nano.ts";

/** What a range takes from one budget. */
export interface Spending {
	readonly source: MoneySource;
	readonly day: number;
	/** Balance after the movements so far. */
	balance: number;
	spent: Nano;
}

/** What a range adds to one row of `usage_daily`. */
export interface UsageSum {
	readonly keyId: string;
	readonly day: number;
	readonly unit: string;
	readonly sku: string;
	amount: number;
	units: number;
	rows: number;
}

/** Most sums that a look-up scans; past it a second sum of the same row begins, and the store adds the two. */
const MAX_SCANNED_SUMS = 32;

class AccountSums {
	readonly spendings: Spending[] = [];
	readonly usage: UsageSum[] = [];

	/**
	 * Takes money. Returns the balance afterwards, as the row will have it. `open` returns the balance before the
	 * range.
	 */
	spend(source: MoneySource, day: number, amount: Nano, open: () => number): number {
		let spending = this.spendings.find((known) => known.source === source && known.day === day);
		if (spending === undefined) {
			spending = { source, day, balance: open(), spent: ZERO };
			this.spendings.push(spending);
		}
		spending.spent = addNano(spending.spent, amount);
		spending.balance -= amount;
		return spending.balance;
	}

	/** Returns what the range has taken of a budget so far. */
	spent(source: MoneySource, day: number): number {
		return this.spendings.find((known) => known.source === source && known.day === day)?.spent ?? 0;
	}

	/** Counts one movement, or one line at price 0 with the unit `free`. */
	count(keyId: string, day: number, unit: string, sku: string, amount: number, units: number): void {
		const { usage } = this;
		for (let at = usage.length - 1, last = Math.max(0, usage.length - MAX_SCANNED_SUMS); at >= last; at--) {
			const sum = usage[at];
			if (sum === undefined || sum.sku !== sku || sum.unit !== unit || sum.keyId !== keyId || sum.day !== day) continue;
			// A sum of numbers past 2^53 is not exact.
			if (!Number.isSafeInteger(sum.amount + amount) || !Number.isSafeInteger(sum.units + units)) break;
			sum.amount += amount;
			sum.units += units;
			sum.rows++;
			return;
		}
		usage.push({ keyId, day, unit, sku, amount, units, rows: 1 });
	}
}

export class RangeSums {
	readonly #accounts = new Map<string, AccountSums>();
	readonly #touches = new Map<string, number>();

	of(accountId: string): AccountSums {
		let sums = this.#accounts.get(accountId);
		if (sums === undefined) {
			sums = new AccountSums();
			this.#accounts.set(accountId, sums);
		}
		return sums;
	}

	touch(keyId: string, atMs: number): void {
		this.#touches.set(keyId, Math.max(this.#touches.get(keyId) ?? 0, atMs));
	}

	accounts(): Iterable<[string, AccountSums]> {
		return this.#accounts;
	}

	touches(): Iterable<[string, number]> {
		return this.#touches;
	}
}
