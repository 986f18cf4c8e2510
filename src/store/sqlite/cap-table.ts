/**
 * Leases of keys' limits on SQLite, where several workers of one machine share the store. A lease is consumed in the
 * transaction that adds to `usage_daily`, so that a read of both sees each amount once.
 */
import type { Database, Statement } from "bun:sqlite";
import type { NodeEpoch } from "../core/batch-applier.ts";
import { windowDays } from "../core/caller-rows.ts";
import type { CapPlace, CappedSum } from "../core/cap-plan.ts";
import { type CapHeadroom, NO_HEADROOM } from "../core/cap-split.ts";
import { limitNano } from "../core/key-limits.ts";
import type { CapUnit } from "../tables.ts";
import type { ReturnRequest } from "../thread-protocol.ts";
import type { CapAmounts, LimitPeriod } from "../types.ts";
import { clamped, SPENT } from "./caller-reader.ts";

const UNITS = ["diem", "usd"] as const satisfies readonly CapUnit[];

interface LimitRow {
	readonly account_id: string;
	readonly limit_usd: string | null;
	readonly limit_diem: string | null;
	readonly limit_period: LimitPeriod;
}

interface SumRow {
	readonly usd: bigint | null;
	readonly diem: bigint | null;
}

interface LeasedRow {
	readonly own: bigint;
	readonly unit: CapUnit;
	readonly amount: bigint;
}

/** The leases of one boot of a worker. Each method runs inside the caller's transaction. */
export class CapTable {
	readonly #node: NodeEpoch;
	readonly #sql: ReturnType<typeof prepare>;

	constructor(db: Database, node: NodeEpoch) {
		this.#node = node;
		this.#sql = prepare(db);
	}

	/** Returns the limits of a key in the window of that day, and what is taken of them. */
	headroom({ keyId, day }: CapPlace): CapHeadroom {
		const key = this.#sql.limits.get(keyId);
		if (key === null) return NO_HEADROOM;
		const { first, last } = windowDays(key.limit_period, day);
		const spent = this.#sql.spent.get(key.account_id, keyId, first, last);
		const own = { usd: 0, diem: 0 };
		const elsewhere = { usd: 0, diem: 0 };
		for (const row of this.#sql.leased.all(this.#node.id, this.#node.epoch, keyId, first, last))
			(row.own === 1n ? own : elsewhere)[row.unit] += clamped(row.amount);
		return {
			limit: { usd: limitNano(key.limit_usd), diem: limitNano(key.limit_diem) },
			spent: { usd: clamped(spent?.usd), diem: clamped(spent?.diem) },
			own,
			elsewhere,
		};
	}

	/** Adds a grant to the node's lease. */
	grow(accountId: string, { keyId, day }: CapPlace, granted: CapAmounts): void {
		for (const unit of UNITS)
			if (granted[unit] > 0) this.#sql.grow.run(this.#node.id, this.#node.epoch, accountId, keyId, unit, day, granted[unit]);
	}

	/**
	 * Cuts the node's leases on the limits of an account's keys down to what is retained; those that the node does not
	 * name end.
	 */
	cut({ accountId, caps }: ReturnRequest): void {
		if (caps === undefined) return;
		const { id, epoch } = this.#node;
		for (const { key_id, unit, day, amount } of this.#sql.ofAccount.all(id, epoch, accountId)) {
			const retained = caps.find((cap) => cap.keyId === key_id && cap.day === day)?.[unit] ?? 0;
			if (retained === 0) this.#sql.end.run(id, epoch, accountId, key_id, unit, day);
			else if (retained < amount) this.#sql.set.run(retained, id, epoch, accountId, key_id, unit, day);
		}
	}

	/** Takes what posts used out of the node's lease. */
	spend({ accountId, keyId, unit, day, amount }: CappedSum): void {
		this.#sql.spend.run(amount, this.#node.id, this.#node.epoch, accountId, keyId, unit, day);
	}

	/** Ends the leases of all boots of the node. */
	endAll(): void {
		this.#sql.endAll.run(this.#node.id);
	}
}

const ROW = "node_id = ? AND epoch = ? AND account_id = ? AND key_id = ? AND unit = ? AND day = ?";

function prepare(db: Database) {
	const sql = <Row = unknown>(text: string) => db.prepare(text) as Statement<Row, (string | number)[]>;
	return {
		limits: sql<LimitRow>("SELECT account_id, limit_usd, limit_diem, limit_period FROM keys WHERE id = ? AND revoked_at IS NULL"),
		spent: sql<SumRow>(SPENT),
		leased: sql<LeasedRow>(
			`SELECT node_id = ?1 AND epoch = ?2 AS own, unit, sum(amount) AS amount FROM cap_leases
				WHERE key_id = ?3 AND day BETWEEN ?4 AND ?5 GROUP BY own, unit`,
		),
		grow: sql(
			`INSERT INTO cap_leases (node_id, epoch, account_id, key_id, unit, day, amount) VALUES (?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET amount = amount + excluded.amount`,
		),
		ofAccount: db
			.prepare("SELECT key_id, unit, day, amount FROM cap_leases WHERE node_id = ? AND epoch = ? AND account_id = ?")
			.safeIntegers(false) as Statement<
			{ readonly key_id: string; readonly unit: CapUnit; readonly day: number; readonly amount: number },
			(string | number)[]
		>,
		set: sql(`UPDATE cap_leases SET amount = ? WHERE ${ROW}`),
		end: sql(`DELETE FROM cap_leases WHERE ${ROW}`),
		spend: sql(`UPDATE cap_leases SET amount = max(0, amount - ?) WHERE ${ROW}`),
		endAll: sql("DELETE FROM cap_leases WHERE node_id = ?"),
	};
}
