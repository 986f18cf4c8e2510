/** Leases: the part of a budget that a node may spend without calling the store. Their sum is a budget's `leased`. */
import type { Database, Statement } from "bun:sqlite";
import type { MoneySource } from "../../journal/records.ts";
import { MoneyError, nano } from "../../ledger/nano.ts";
import { usableParts } from "../core/usable-money.ts";
import type { AcquireRequest, AcquireResult, BudgetState, Grant } from "../port.ts";
import { stakeOf, writeAllotment } from "./diem.ts";
import type { StoreClock } from "./store-clock.ts";
import { inTransaction } from "./transaction.ts";

interface BudgetRow {
	readonly source: MoneySource;
	readonly day: bigint;
	readonly balance: bigint;
	readonly leased: bigint;
}

interface LeaseRow {
	readonly source: MoneySource;
	readonly day: bigint;
	readonly amount: bigint;
}

export interface RetainedLeases {
	readonly source: MoneySource;
	readonly day: number;
	readonly amount: number;
}

/** How long an account's money is leased sparingly after a notice of its change. */
const SPARING_MS = 2_000;
/** Above this many accounts, expired entries are dropped. */
const MAX_SPARED_ENTRIES = 1_000;

export class LeaseRepository {
	readonly #db: Database;
	readonly #node: { readonly id: string; readonly epoch: number };
	readonly #clock: StoreClock;
	readonly #sql: ReturnType<typeof prepare>;
	/** Accounts whose money is leased sparingly, with the monotonic time at which this ends. */
	readonly #spared = new Map<string, number>();

	constructor(db: Database, node: { id: string; epoch: number }, clock: StoreClock) {
		this.#db = db;
		this.#node = node;
		this.#clock = clock;
		this.#sql = prepare(db);
	}

	/**
	 * Leases everything that is free to the one node of a SQLite store; of a spared account, only what is needed.
	 * Writes the day's allotment at its first use.
	 */
	acquire(request: AcquireRequest): AcquireResult {
		const { accountId, day } = request;
		return inTransaction(this.#db, () => {
			writeAllotment(this.#db, accountId, day, this.#clock);
			const rows = this.#sql.budgets.all(accountId, day);
			const free = rows.map(({ source, balance, leased }) => ({ source, free: Number(balance - leased) }));
			const needed = this.#isSpared(accountId) ? neededOf(free, request) : null;
			const grants: Grant[] = [];
			for (const [index, row] of rows.entries()) {
				const granted = nano(needed?.[index] ?? free[index]?.free ?? 0);
				if (granted === 0) continue;
				this.#grow(accountId, row.source, row.day, BigInt(granted));
				grants.push({ source: row.source, day: Number(row.day), granted });
			}
			return { grants, budgets: this.#states(accountId, day) };
		});
	}

	/**
	 * Leases only what requests need of an account for a moment, because the operator changed it: money to be taken
	 * back then stays free once the node has returned it.
	 */
	leaseSparingly(accountId: string): void {
		const nowMs = performance.now();
		this.#spared.set(accountId, nowMs + SPARING_MS);
		if (this.#spared.size <= MAX_SPARED_ENTRIES) return;
		for (const [spared, untilMs] of this.#spared) if (untilMs <= nowMs) this.#spared.delete(spared);
	}

	#isSpared(accountId: string): boolean {
		const untilMs = this.#spared.get(accountId);
		return untilMs !== undefined && performance.now() < untilMs;
	}

	/** Returns balances without leasing; today's diem is included before its first use. */
	budgets(accountId: string, day: number): readonly BudgetState[] {
		const states = this.#states(accountId, day);
		if (states.some((state) => state.source === "diem")) return states;
		const stake = stakeOf(this.#db, accountId, day);
		return stake === 0 ? states : [{ source: "diem", day, balance: nano(stake), free: nano(stake) }, ...states];
	}

	/**
	 * Cuts this node's leases on an account down to what it keeps. Returns the account's budgets, including the diem of
	 * each leased day. Throws `MoneyError` where more is kept than was leased.
	 */
	giveBack(accountId: string, kept: readonly RetainedLeases[]): AcquireResult {
		return inTransaction(this.#db, () => {
			const keptByBudget = new Map(kept.map((part) => [`${part.source}/${part.day}`, BigInt(part.amount)]));
			const days = new Set([this.#clock.today()]);
			for (const lease of this.#sql.leases.all(this.#node.id, this.#node.epoch, accountId)) {
				const key = `${lease.source}/${lease.day}`;
				const keeps = keptByBudget.get(key) ?? 0n;
				keptByBudget.delete(key);
				if (keeps > lease.amount) throw new MoneyError(`keeps ${keeps} of a lease of ${lease.amount}`);
				if (keeps < lease.amount) this.#shrink(accountId, lease.source, lease.day, lease.amount - keeps);
				if (lease.source === "diem") days.add(Number(lease.day));
			}
			for (const keeps of keptByBudget.values()) if (keeps > 0n) throw new MoneyError(`keeps ${keeps} of no lease`);
			this.#sql.dropEmpty.run(this.#node.id, this.#node.epoch, accountId);
			const diem = [...days].flatMap((day) => this.#states(accountId, day).filter((state) => state.source === "diem"));
			const others = this.#states(accountId, 0).filter((state) => state.source !== "diem");
			return { grants: [], budgets: [...diem, ...others] };
		});
	}

	/** Ends every lease of this node, including those of earlier boots: at a start these belong to a dead process. */
	returnAll(): void {
		inTransaction(this.#db, () => {
			this.#sql.freeAll.run(this.#node.id);
			this.#sql.dropAll.run(this.#node.id);
		});
	}

	#grow(accountId: string, source: MoneySource, day: bigint, by: bigint): void {
		this.#sql.changeLeased.run(by, accountId, source, day);
		this.#sql.growLease.run(this.#node.id, this.#node.epoch, accountId, source, day, by);
	}

	#shrink(accountId: string, source: MoneySource, day: bigint, by: bigint): void {
		this.#sql.changeLeased.run(-by, accountId, source, day);
		this.#sql.shrinkLease.run(by, this.#node.id, this.#node.epoch, accountId, source, day);
	}

	/** Returns the budgets in spending order. */
	#states(accountId: string, day: number): BudgetState[] {
		return this.#sql.budgets.all(accountId, day).map((row) => ({
			source: row.source,
			day: Number(row.day),
			balance: nano(Number(row.balance)),
			free: nano(Number(row.balance - row.leased)),
		}));
	}
}

/** Returns the grant from each budget of a spared account: the need, or nothing where it is not fully available. */
function neededOf(
	budgets: readonly { readonly source: MoneySource; readonly free: number }[],
	{ needNano, part, usable }: AcquireRequest,
): number[] {
	const parts = usableParts(budgets, usable);
	const total = parts.reduce((sum, most) => sum + most, 0);
	let left: number = part === true || total >= needNano ? needNano : 0;
	return parts.map((most) => {
		const granted = Math.min(most, left);
		left -= granted;
		return granted;
	});
}

type Sql<Row = unknown> = Statement<Row, (string | number | bigint | null)[]>;

function prepare(db: Database) {
	return {
		budgets: db.prepare(
			`SELECT source, day, balance, leased FROM budgets WHERE account_id = ?1 AND (source <> 'diem' OR day = ?2)
				ORDER BY CASE source WHEN 'diem' THEN 0 WHEN 'bundled' THEN 1 ELSE 2 END`,
		) as Sql<BudgetRow>,
		leases: db.prepare(
			"SELECT source, day, amount FROM leases WHERE node_id = ? AND epoch = ? AND account_id = ?",
		) as Sql<LeaseRow>,
		changeLeased: db.prepare("UPDATE budgets SET leased = leased + ? WHERE account_id = ? AND source = ? AND day = ?") as Sql,
		growLease: db.prepare(
			`INSERT INTO leases (node_id, epoch, account_id, source, day, amount) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
				ON CONFLICT DO UPDATE SET amount = amount + ?6`,
		) as Sql,
		shrinkLease: db.prepare(
			"UPDATE leases SET amount = amount - ? WHERE node_id = ? AND epoch = ? AND account_id = ? AND source = ? AND day = ?",
		) as Sql,
		dropEmpty: db.prepare("DELETE FROM leases WHERE node_id = ? AND epoch = ? AND account_id = ? AND amount = 0") as Sql,
		freeAll: db.prepare(
			`UPDATE budgets SET leased = leased - held.amount
				FROM (SELECT account_id, source, day, sum(amount) AS amount FROM leases WHERE node_id = ? GROUP BY account_id, source, day) AS held
				WHERE budgets.account_id = held.account_id AND budgets.source = held.source AND budgets.day = held.day`,
		) as Sql,
		dropAll: db.prepare("DELETE FROM leases WHERE node_id = ?") as Sql,
	};
}
