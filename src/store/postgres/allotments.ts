/** The daily diem allowance on PostgreSQL; its rules: `../sqlite/diem.ts`. */
import type { SQL } from "bun";
import type { AllotmentDay } from "../core/entries.ts";
import { MIN_STAKE_NANO, stakeSql } from "../core/stake.ts";

/** Returns the allowance of an account on a UTC day in nano-diem; 0 where there is none. */
export async function stakeOf(sql: SQL, accountId: string, day: number): Promise<number> {
	const [row] = await sql.unsafe(stakeSql("$1", "$2"), [accountId, day]);
	const stake = Number(row?.stake ?? 0);
	return stake < MIN_STAKE_NANO ? 0 : stake;
}

/** Writes the missing allotments of these days; of several nodes at once, one writes each. */
export async function writeAllotments(tx: SQL, days: readonly AllotmentDay[]): Promise<void> {
	if (days.length === 0) return;
	const lacking = await tx.unsafe(LACKING, [
		tx.array(
			days.map(({ accountId }) => accountId),
			"TEXT",
		),
		tx.array(
			days.map(({ day }) => day),
			"INT8",
		),
		MIN_STAKE_NANO,
	]);
	if (lacking.length === 0) return;
	// Locks one account at a time, since otherwise the unique key would make the second writer fail.
	await tx.unsafe("SELECT 1 FROM accounts WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE", [
		tx.array(
			[...lacking].map(({ account_id }) => account_id),
			"TEXT",
		),
	]);
	await Promise.all([...lacking].map(({ account_id, day, stake }) => tx.unsafe(ALLOT, [account_id, day, stake])));
}

const LACKING = `SELECT wanted.account_id, wanted.day, of_day.stake
	FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::int8[]) AS asked (account_id, day)) AS wanted
	CROSS JOIN LATERAL (${stakeSql("wanted.account_id", "wanted.day")}) AS of_day
	WHERE of_day.stake >= $3::int8
		AND NOT EXISTS (SELECT 1 FROM allotments WHERE allotments.account_id = wanted.account_id AND allotments.day = wanted.day)`;

const ALLOT = `WITH moved AS (
		INSERT INTO movements (kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
		SELECT 'allotment', 'issued', $1, $3::int8, 'diem', $2::int8, now.ms, now.ms, $3::int8
		FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS ms) AS now
		WHERE NOT EXISTS (SELECT 1 FROM allotments WHERE account_id = $1 AND day = $2) RETURNING id
	), allotted AS (
		INSERT INTO allotments (account_id, day, amount, movement_id) SELECT $1, $2, $3, id FROM moved RETURNING day
	)
	INSERT INTO budgets (account_id, source, day, balance) SELECT $1, 'diem', day, $3 FROM allotted`;
