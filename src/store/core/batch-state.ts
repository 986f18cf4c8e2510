/** The rows that a batch is planned against, as the plan changes them. */
import type { MoneySource } from "../../journal/records.ts";
import type { FreeCaps } from "./cap-plan.ts";
import { budgetDay } from "./entries.ts";
import type { EntryCounts } from "./statement-numbers.ts";

/** A budget as the batch sees it. */
export interface BatchBudget {
	readonly source: MoneySource;
	readonly day: number;
	balance: number;
	/** The part of the balance that nodes have leased. */
	leased: number;
	/** This node's part of `leased`. */
	lease: number;
	/** What the plan takes from the balance. */
	spent: number;
	/** What the plan takes from `leased` and from `lease`. */
	unleased: number;
}

/** What a batch adds to one row of `usage_daily`. */
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

export class BatchAccount {
	readonly id: string;
	readonly budgets: BatchBudget[] = [];
	numbers: EntryCounts = { entries: 0, usd: 0, bundled: 0, diem: 0 };
	usage: UsageSum[] = [];

	constructor(id: string) {
		this.id = id;
	}

	/** Adds a budget as it was read under lock. */
	addBudget(source: MoneySource, day: number, balance: number, leased: number, lease: number): void {
		this.budgets.push({ source, day, balance, leased, lease, spent: 0, unleased: 0 });
	}

	/** Returns the budget that pays a post of `postDay`. */
	budget(source: MoneySource, postDay: number): BatchBudget | undefined {
		const day = budgetDay(source, postDay);
		return this.budgets.find((budget) => budget.source === source && budget.day === day);
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

	/** Returns the account as it is after the plan was written. */
	next(): BatchAccount {
		const account = new BatchAccount(this.id);
		account.numbers = { ...this.numbers };
		for (const { source, day, balance, leased, lease } of this.budgets) account.addBudget(source, day, balance, leased, lease);
		return account;
	}
}

export class BatchState {
	readonly accounts = new Map<string, BatchAccount>();
	/** Free limits, neither spent nor leased, of keys whose posts owe something; by `capKey`. */
	readonly caps: FreeCaps;

	constructor(caps: FreeCaps = new Map()) {
		this.caps = caps;
	}

	/** Returns the account; without budgets where it was not read. */
	account(id: string): BatchAccount {
		let account = this.accounts.get(id);
		if (account === undefined) {
			account = new BatchAccount(id);
			this.accounts.set(id, account);
		}
		return account;
	}

	/** Returns a state for the next plan: what this one changed is written. */
	next(): BatchState {
		const state = new BatchState(new Map(this.caps));
		for (const [id, account] of this.accounts) state.accounts.set(id, account.next());
		return state;
	}
}
