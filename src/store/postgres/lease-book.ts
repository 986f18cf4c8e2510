/** Leases on PostgreSQL: what each node may spend without asking. Rows are locked in the order of their keys. */
import type { SQL } from "bun";
import { nano } from "../../ledger/nano.ts";
import type { Kept } from "../leases.ts";
import type { AcquireRequest, AcquireResult, BudgetState, Grant } from "../port.ts";
import { DAY_MS } from "../store-clock.ts";
import { stakeOf, writeAllotment } from "./allotments.ts";
import type { NodeEpoch } from "./batch-applier.ts";
import { inTransaction } from "./connect.ts";
import { FencedError } from "./faults.ts";
import { decideAcquire, decideGiveBack } from "./lease-split.ts";

/** A lost lease is made good from free money, so its commit need not wait for a disk. */
const BEGIN = "BEGIN; SET LOCAL synchronous_commit = off";

interface BudgetRow {
	readonly source: BudgetState["source"];
	readonly day: bigint;
	readonly balance: bigint;
	readonly leased: bigint;
}

export class LeaseBook {
	readonly #node: NodeEpoch;

	constructor(node: NodeEpoch) {
		this.#node = node;
	}

	/**
	 * Leases what a request lacks, all or none, with a surplus where the account is rich; writes the day's allotment at
	 * its first use. `recalled` where the need was not met and
	 * other nodes hold money of the account. Throws `FencedError`.
	 */
	acquire(sql: SQL, request: AcquireRequest, liveNodes: number): Promise<AcquireResult> {
		const { accountId, day } = request;
		return inTransaction(
			sql,
			async (tx) => {
				await Promise.all([this.#alive(tx), writeAllotment(tx, accountId, day)]);
				const { grants, budgets, short } = decideAcquire(await lockedBudgets(tx, accountId, day), request, liveNodes);
				await Promise.all(grants.map((grant) => this.#grow(tx, accountId, grant)));
				const recalled = short && (await this.#leasedElsewhere(tx, accountId, day));
				return { grants, budgets, ...(recalled ? { recalled } : {}) };
			},
			BEGIN,
		);
	}

	/** Balances without leasing: today's diem also before its first use. */
	async budgets(sql: SQL, accountId: string, day: number): Promise<readonly BudgetState[]> {
		const states = [...(await sql.unsafe(BUDGETS, [accountId, day]))].map(stateOf);
		if (states.some((state) => state.source === "diem")) return states;
		const stake = await stakeOf(sql, accountId, day);
		return stake === 0 ? states : [{ source: "diem", day, balance: nano(stake), free: nano(stake) }, ...states];
	}

	/**
	 * Cuts this node's leases on an account down to what it keeps. Where the store knows of less than is kept (it lost
	 * the lease in a failover), it stays as it is: what is posted beyond it is taken from free money. Throws `FencedError`.
	 */
	giveBack(sql: SQL, accountId: string, kept: readonly Kept[]): Promise<AcquireResult> {
		return inTransaction(
			sql,
			async (tx) => {
				await this.#alive(tx);
				const rows = await tx.unsafe(
					`SELECT leases.source, leases.day, leases.amount FROM leases JOIN budgets USING (account_id, source, day)
						WHERE node_id = $1 AND epoch = $2 AND account_id = $3 ORDER BY account_id, source, day FOR NO KEY UPDATE`,
					[this.#node.id, this.#node.epoch, accountId],
				);
				const leases = [...rows].map(({ source, day, amount }): Kept => ({ source, day: Number(day), amount: Number(amount) }));
				await Promise.all(decideGiveBack(leases, kept).map((back) => this.#shrink(tx, accountId, back)));
				const days = new Set([Math.floor(Date.now() / DAY_MS)]);
				for (const { source, day } of leases) if (source === "diem") days.add(day);
				await tx.unsafe("DELETE FROM leases WHERE node_id = $1 AND epoch = $2 AND account_id = $3 AND amount = 0", [
					this.#node.id,
					this.#node.epoch,
					accountId,
				]);
				const of = async (day: number) => [...(await tx.unsafe(BUDGETS, [accountId, day]))].map(stateOf);
				const diem = [];
				for (const day of days) diem.push(...(await of(day)).filter((state) => state.source === "diem"));
				return { grants: [], budgets: [...diem, ...(await of(0)).filter((state) => state.source !== "diem")] };
			},
			BEGIN,
		);
	}

	/** Holds the term's row against a reaper until the transaction ends. */
	async #alive(tx: SQL): Promise<void> {
		const rows = await tx.unsafe("SELECT 1 FROM node_terms WHERE node_id = $1 AND epoch = $2 AND fenced_at IS NULL FOR SHARE", [
			this.#node.id,
			this.#node.epoch,
		]);
		if (rows.length === 0) throw new FencedError();
	}

	async #grow(tx: SQL, accountId: string, { source, day, granted }: Grant): Promise<void> {
		await tx.unsafe(
			`WITH lease AS (
				INSERT INTO leases (node_id, epoch, account_id, source, day, amount) VALUES ($1, $2, $3, $4, $5, $6)
				ON CONFLICT (node_id, epoch, account_id, source, day) DO UPDATE SET amount = leases.amount + $6
			)
			UPDATE budgets SET leased = leased + $6 WHERE account_id = $3 AND source = $4 AND day = $5`,
			[this.#node.id, this.#node.epoch, accountId, source, day, granted],
		);
	}

	async #shrink(tx: SQL, accountId: string, { source, day, amount }: Kept): Promise<void> {
		await tx.unsafe(
			`WITH lease AS (
				UPDATE leases SET amount = amount - $6
				WHERE node_id = $1 AND epoch = $2 AND account_id = $3 AND source = $4 AND day = $5
			)
			UPDATE budgets SET leased = leased - $6 WHERE account_id = $3 AND source = $4 AND day = $5`,
			[this.#node.id, this.#node.epoch, accountId, source, day, amount],
		);
	}

	async #leasedElsewhere(tx: SQL, accountId: string, day: number): Promise<boolean> {
		const [row] = await tx.unsafe(
			`SELECT coalesce(sum(leased), 0) > coalesce((SELECT sum(amount) FROM leases WHERE node_id = $1 AND epoch = $2
				AND account_id = $3 AND (source <> 'diem' OR day = $4)), 0) AS elsewhere
				FROM budgets WHERE account_id = $3 AND (source <> 'diem' OR day = $4)`,
			[this.#node.id, this.#node.epoch, accountId, day],
		);
		return row.elsewhere;
	}
}

/** In spending order. */
const BUDGETS = `SELECT source, day, balance, leased FROM budgets WHERE account_id = $1 AND (source <> 'diem' OR day = $2)
	ORDER BY CASE source WHEN 'diem' THEN 0 WHEN 'bundled' THEN 1 ELSE 2 END`;

const RANK: Record<BudgetState["source"], number> = { diem: 0, bundled: 1, usd: 2 };

async function lockedBudgets(tx: SQL, accountId: string, day: number): Promise<BudgetState[]> {
	const rows: BudgetRow[] = await tx.unsafe(
		`SELECT source, day, balance, leased FROM budgets WHERE account_id = $1 AND (source <> 'diem' OR day = $2)
			ORDER BY account_id, source, day FOR NO KEY UPDATE`,
		[accountId, day],
	);
	return [...rows].sort((a, b) => RANK[a.source] - RANK[b.source]).map(stateOf);
}

function stateOf(row: BudgetRow): BudgetState {
	return {
		source: row.source,
		day: Number(row.day),
		balance: nano(Number(row.balance)),
		free: nano(Number(row.balance - row.leased)),
	};
}
