/** Leases: the part of a budget that a node may spend without calling the store. Their sum is a budget's `leased`. */
import type { Database, Statement } from "bun:sqlite";
import type { MoneySource } from "../../journal/records.ts";
import { nano } from "../../ledger/nano.ts";
import type { NodeEpoch } from "../core/batch-applier.ts";
import { decideLease } from "../core/lease-decision.ts";
import { decideGiveBack, type RetainedLeases, splitLease } from "../core/lease-split.ts";
import type { LeaseRequest } from "../core/store.ts";
import type { ReturnRequest } from "../thread-protocol.ts";
import type { AcquireRequest, AcquireResult, BudgetState } from "../types.ts";
import { CapTable } from "./cap-table.ts";
import { stakeOf, writeAllotment } from "./diem.ts";
import type { StoreClock } from "./store-clock.ts";
import { inTransaction } from "./transaction.ts";

interface BudgetRow {
	readonly source: MoneySource;
	readonly day: number;
	readonly balance: number;
	readonly leased: number;
}

/**
 * How much a node gets. The one node of a store leases everything that is free, except of spared accounts (the
 * operator takes money of them back): there, only what is needed. Nodes that share a store get parts.
 */
export type LeaseRule = { readonly shared: false; readonly isSpared: (accountId: string) => boolean } | { readonly shared: true };

export class LeaseRepository {
	readonly #db: Database;
	readonly #node: NodeEpoch;
	readonly #clock: StoreClock;
	readonly #sql: ReturnType<typeof prepare>;
	readonly #caps: CapTable;
	readonly #rule: LeaseRule;

	constructor(db: Database, node: NodeEpoch, clock: StoreClock, rule: LeaseRule = { shared: false, isSpared: () => false }) {
		this.#db = db;
		this.#node = node;
		this.#clock = clock;
		this.#rule = rule;
		this.#caps = new CapTable(db, node);
		this.#sql = prepare(db);
	}

	/** Runs lease calls in one transaction, in the order of `requests`. */
	execute(requests: readonly LeaseRequest[], liveNodes = 1): AcquireResult[] {
		return inTransaction(this.#db, () =>
			requests.map((request) => {
				if (request.name === "giveBack") return this.#giveBack(request.arguments);
				return this.#rule.shared ? this.#acquireShare(request.arguments, liveNodes) : this.#acquireAll(request.arguments);
			}),
		);
	}

	/** Returns balances without leasing; today's diem is included before its first use. */
	budgets(accountId: string, day: number): readonly BudgetState[] {
		const states = this.#states(accountId, day);
		if (states.some((state) => state.source === "diem")) return states;
		const stake = stakeOf(this.#db, accountId, day);
		return stake === 0 ? states : [{ source: "diem", day, balance: nano(stake), free: nano(stake) }, ...states];
	}

	/** Ends every lease of this node, including those of earlier boots: at a start these belong to a dead process. */
	endAll(): void {
		this.#sql.freeAll.run(this.#node.id);
		this.#sql.dropAll.run(this.#node.id);
		this.#caps.endAll();
	}

	/**
	 * Leases everything that is free to the one node of a SQLite store; of a spared account, only what is needed.
	 * Writes the day's allotment at its first use.
	 */
	#acquireAll({ accountId, day, needNano: need, part = false, usable }: AcquireRequest): AcquireResult {
		writeAllotment(this.#db, accountId, day, this.#clock);
		const states = this.#states(accountId, day);
		const shares =
			!this.#rule.shared && this.#rule.isSpared(accountId)
				? splitLease(states, { need, part, usable, liveNodes: Number.POSITIVE_INFINITY })
				: states.flatMap((state) => (state.free > 0 ? [{ ...state, granted: state.free }] : []));
		for (const { source, day: of, granted } of shares) this.#change(accountId, source, of, granted);
		return {
			grants: shares.map(({ source, day: of, granted }) => ({ source, day: of, granted: nano(granted) })),
			budgets: this.#states(accountId, day),
		};
	}

	/** Leases what a request lacks, with the limits of its key: see `decideLease`. */
	#acquireShare(request: AcquireRequest, liveNodes: number): AcquireResult {
		const { accountId, day, cap } = request;
		writeAllotment(this.#db, accountId, day, this.#clock);
		const state = {
			budgets: this.#states(accountId, day),
			ownLeases: this.#sql.leases.all(this.#node.id, this.#node.epoch, accountId),
			headroom: cap === undefined ? null : this.#caps.headroom({ keyId: cap.keyId, day }),
		};
		const result = decideLease(request, state, liveNodes);
		for (const { source, day: of, granted } of result.grants) this.#change(accountId, source, of, granted);
		if (cap !== undefined && result.cap !== undefined) this.#caps.grow(accountId, { keyId: cap.keyId, day }, result.cap.granted);
		return result;
	}

	/** Cuts this node's leases on an account down to what it keeps. */
	#giveBack(request: ReturnRequest): AcquireResult {
		const { accountId, retained } = request;
		this.#caps.cut(request);
		const leases = this.#sql.leases.all(this.#node.id, this.#node.epoch, accountId);
		for (const { source, day, amount } of decideGiveBack(leases, retained)) this.#change(accountId, source, day, -amount);
		this.#sql.dropEmpty.run(this.#node.id, this.#node.epoch, accountId);
		const days = new Set([this.#clock.today(), ...leases.flatMap(({ source, day }) => (source === "diem" ? [day] : []))]);
		const diem = [...days].flatMap((day) => this.#states(accountId, day).filter((state) => state.source === "diem"));
		const others = this.#states(accountId, 0).filter((state) => state.source !== "diem");
		return { grants: [], budgets: [...diem, ...others] };
	}

	#change(accountId: string, source: MoneySource, day: number, by: number): void {
		this.#sql.changeLeased.run(by, accountId, source, day);
		this.#sql.changeLease.run(this.#node.id, this.#node.epoch, accountId, source, day, by);
	}

	/** Returns the budgets in spending order. */
	#states(accountId: string, day: number): BudgetState[] {
		return this.#sql.budgets.all(accountId, day).map((row) => ({
			source: row.source,
			day: row.day,
			balance: nano(row.balance),
			free: nano(row.balance - row.leased),
		}));
	}
}

type Sql<Row = unknown> = Statement<Row, (string | number)[]>;

function prepare(db: Database) {
	const sql = <Row = unknown>(text: string) => db.prepare(text).safeIntegers(false) as Sql<Row>;
	return {
		budgets: sql<BudgetRow>(
			`SELECT source, day, balance, leased FROM budgets WHERE account_id = ?1 AND (source <> 'diem' OR day = ?2)
				ORDER BY CASE source WHEN 'diem' THEN 0 WHEN 'bundled' THEN 1 ELSE 2 END`,
		),
		leases: sql<RetainedLeases>("SELECT source, day, amount FROM leases WHERE node_id = ? AND epoch = ? AND account_id = ?"),
		changeLeased: sql("UPDATE budgets SET leased = leased + ? WHERE account_id = ? AND source = ? AND day = ?"),
		changeLease: sql(
			`INSERT INTO leases (node_id, epoch, account_id, source, day, amount) VALUES (?1, ?2, ?3, ?4, ?5, max(0, ?6))
				ON CONFLICT DO UPDATE SET amount = amount + ?6`,
		),
		dropEmpty: sql("DELETE FROM leases WHERE node_id = ? AND epoch = ? AND account_id = ? AND amount = 0"),
		freeAll: sql(
			`UPDATE budgets SET leased = leased - held.amount
				FROM (SELECT account_id, source, day, sum(amount) AS amount FROM leases WHERE node_id = ? GROUP BY account_id, source, day) AS held
				WHERE budgets.account_id = held.account_id AND budgets.source = held.source AND budgets.day = held.day`,
		),
		dropAll: sql("DELETE FROM leases WHERE node_id = ?"),
	};
}
