/**
 * The daily diem allowance. A stake counts from the UTC day after it was set, so that it cannot be moved and counted
 * twice. The first use of a day writes its allotment, once.
 */
import type { Database } from "bun:sqlite";
import { MIN_STAKE_NANO, stakeSql } from "../core/stake.ts";
import { ISSUED } from "../tables.ts";
import type { StoreClock } from "./store-clock.ts";

/** Returns the allowance of an account on a UTC day in nano-diem; 0 where there is none. */
export function stakeOf(db: Database, accountId: string, day: number): number {
	const row = db.query<{ stake: bigint }, [string, number]>(stakeSql("?1", "?2")).get(accountId, day);
	const stake = Number(row?.stake ?? 0);
	return stake < MIN_STAKE_NANO ? 0 : stake;
}

/** Writes the day's allotment unless it exists. Runs inside the caller's transaction. */
export function writeAllotment(db: Database, accountId: string, day: number, clock: StoreClock): void {
	const existingAllotment = db.query("SELECT 1 FROM allotments WHERE account_id = ? AND day = ?").get(accountId, day);
	if (existingAllotment !== null) return;
	const stake = stakeOf(db, accountId, day);
	if (stake === 0) return;
	const bookedAt = clock.postingMs();
	const { lastInsertRowid } = db
		.query(
			`INSERT INTO movements (kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
				VALUES ('allotment', ?, ?, ?, 'diem', ?, ?, ?, ?)`,
		)
		.run(ISSUED, accountId, stake, day, clock.wallMs(), bookedAt, stake);
	db.query("INSERT INTO allotments (account_id, day, amount, movement_id) VALUES (?, ?, ?, ?)").run(
		accountId,
		day,
		stake,
		lastInsertRowid,
	);
	db.query("INSERT INTO budgets (account_id, source, day, balance) VALUES (?, 'diem', ?, ?)").run(accountId, day, stake);
}
