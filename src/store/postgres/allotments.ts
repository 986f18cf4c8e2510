/** The daily diem allowance on PostgreSQL; its rules: `../diem.ts`. */
import type { SQL } from "bun";
import { MIN_STAKE_NANO, stakeSql } from "../diem.ts";

/** The allowance of an account on a UTC day in nano-diem; 0 where there is none. */
export async function stakeOf(sql: SQL, accountId: string, day: number): Promise<number> {
	const [row] = await sql.unsafe(stakeSql("$1", "$2"), [accountId, day]);
	const stake = Number(row?.stake ?? 0);
	return stake < MIN_STAKE_NANO ? 0 : stake;
}

/** Writes the day's allotment unless it is there; of nodes that come at once one writes it. */
export async function writeAllotment(tx: SQL, accountId: string, day: number): Promise<void> {
	const [written, stake] = await Promise.all([
		tx.unsafe("SELECT 1 FROM allotments WHERE account_id = $1 AND day = $2", [accountId, day]),
		stakeOf(tx, accountId, day),
	]);
	if (written.length > 0 || stake === 0) return;
	// One at a time for each account, before the unique key would make the second one fail.
	await tx.unsafe("SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [accountId]);
	await tx.unsafe(
		`WITH moved AS (
			INSERT INTO movements (kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
			SELECT 'allotment', 'issued', $1, $3::int8, 'diem', $2::int8, now.ms, now.ms, $3::int8
			FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS ms) AS now
			WHERE NOT EXISTS (SELECT 1 FROM allotments WHERE account_id = $1 AND day = $2) RETURNING id
		), allotted AS (
			INSERT INTO allotments (account_id, day, amount, movement_id) SELECT $1, $2, $3, id FROM moved RETURNING day
		)
		INSERT INTO budgets (account_id, source, day, balance) SELECT $1, 'diem', day, $3 FROM allotted`,
		[accountId, day, stake],
	);
}
