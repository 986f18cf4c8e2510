/**
 * Positions in a long wallet history: a mark at every thousandth entry, counted from the oldest, whose number never
 * changes. A page at any depth is found from the mark below it. Marks are found when needed, which reads each entry
 * once, and live in memory.
 */
import { sql } from "kysely";
import type { StoreDb } from "../../tables.ts";
import type { AdminStore } from "../open-admin.ts";

/** The position after which the search of an entry begins. */
export interface Mark {
	/** The last movement before it. */
	readonly place: bigint;
	/** The number of the last charge before it (statement-numbers.ts). */
	readonly charge: bigint;
}

/** Entries between two marks. */
const MARK_EVERY = 1_000;
/**
 * No mark is set above entries younger than this: of two that are written at once, the later number may appear first.
 */
const SETTLED_MS = 600_000;
const MAX_ACCOUNTS = 1_000;
const START: Mark = { place: 0n, charge: 0n };

interface Marks {
	/** The last charge that left the store; all numbers shift with it. */
	readonly archived: bigint;
	readonly marks: Mark[];
}

/** Marks of each open store, by account, in the order of their last use. */
const marksByStore = new WeakMap<AdminStore, Map<string, Marks>>();

/** An account's entries, and the mark after which the entry with a given number is, with the number of that mark. */
export interface EntryNumbers {
	readonly total: number;
	markBelow(number: number): { readonly mark: Mark; readonly number: number };
}

/** Numbers an account's entries, 1 for the oldest. `tx` is the transaction in which the page is read. */
export async function numberedEntries(admin: AdminStore, tx: StoreDb, accountId: string): Promise<EntryNumbers> {
	const { marks } = await marksOf(admin, tx, accountId);
	const settledBefore = BigInt(admin.wallMs() - SETTLED_MS);
	for (;;) {
		const step = await stepFrom(tx, accountId, marks.at(-1) ?? START);
		if (step.entries < MARK_EVERY || step.bookedAt >= settledBefore) break;
		marks.push(step.mark);
	}
	const total = marks.length * MARK_EVERY + (await entriesBehind(tx, accountId, marks.at(-1) ?? START));
	return {
		total,
		markBelow(number) {
			const count = Math.min(marks.length, Math.floor((number - 1) / MARK_EVERY));
			return { mark: marks[count - 1] ?? START, number: count * MARK_EVERY };
		},
	};
}

async function marksOf(admin: AdminStore, tx: StoreDb, accountId: string): Promise<Marks> {
	const accounts = marksByStore.get(admin) ?? new Map<string, Marks>();
	marksByStore.set(admin, accounts);
	const start = await tx.selectFrom("statement_starts").select("usd").where("account_id", "=", accountId).executeTakeFirst();
	const archived = BigInt(start?.usd ?? 0n);
	const known = accounts.get(accountId);
	const marks = known?.archived === archived ? known : { archived, marks: [] };
	accounts.delete(accountId);
	accounts.set(accountId, marks);
	const [oldest] = accounts.keys();
	if (accounts.size > MAX_ACCOUNTS && oldest !== undefined) accounts.delete(oldest);
	return marks;
}

/** Selects entries of an account after a mark: position, kind, post and number of the charge of each. */
export function entriesFrom(accountId: string, { place, charge }: Mark, most: number | null) {
	const end = most === null ? sql`` : sql`LIMIT ${sql.lit(most)}`;
	const moved = (table: "credits" | "debits" | "refunds", type: string) =>
		sql`SELECT * FROM (SELECT movement_id AS place, ${sql.lit(type)} AS type, CAST(NULL AS bigint) AS post, CAST(0 AS bigint) AS charge
			FROM ${sql.table(table)} WHERE account_id = ${accountId} AND movement_id > ${place}
			${table === "refunds" ? sql` AND unit = 'usd'` : sql``} ORDER BY movement_id ${end}) AS of_${sql.raw(table)}`;
	return sql`SELECT * FROM (
			SELECT (SELECT max(id) FROM movements WHERE post_id = posts.id AND kind = 'charge' AND unit = 'usd') AS place,
				'CHARGE' AS type, id AS post, entries_usd AS charge
			FROM posts WHERE account_id = ${accountId} AND entries_usd IS NOT NULL AND entries_usd > ${charge} ORDER BY entries_usd ${end}
		) AS of_posts
		UNION ALL ${moved("credits", "CREDIT")} UNION ALL ${moved("debits", "DEBIT")} UNION ALL ${moved("refunds", "REFUND")}`;
}

async function stepFrom(tx: StoreDb, accountId: string, from: Mark) {
	const { rows } = await sql<{ entries: bigint; place: bigint | null; charge: bigint | null; booked_at: bigint | null }>`
		SELECT step.*, (SELECT booked_at FROM movements WHERE id = step.place) AS booked_at FROM (
			SELECT count(*) AS entries, max(place) AS place, max(charge) AS charge
			FROM (SELECT place, charge FROM (${entriesFrom(accountId, from, MARK_EVERY)}) AS behind
				ORDER BY place LIMIT ${sql.lit(MARK_EVERY)}) AS first
		) AS step`.execute(tx);
	const [row] = rows;
	const charge = BigInt(row?.charge ?? 0n);
	return {
		entries: Number(row?.entries ?? 0n),
		bookedAt: BigInt(row?.booked_at ?? 0n),
		mark: { place: BigInt(row?.place ?? 0n), charge: charge > from.charge ? charge : from.charge },
	};
}

/** Counts each part in its index. */
async function entriesBehind(tx: StoreDb, accountId: string, { place, charge }: Mark): Promise<number> {
	const moved = (table: "credits" | "debits" | "refunds") =>
		sql`(SELECT count(*) FROM ${sql.table(table)} WHERE account_id = ${accountId} AND movement_id > ${place}
			${table === "refunds" ? sql` AND unit = 'usd'` : sql``})`;
	const { rows } = await sql<{ entries: bigint }>`
		SELECT (SELECT count(*) FROM posts WHERE account_id = ${accountId} AND entries_usd IS NOT NULL AND entries_usd > ${charge})
			+ ${moved("credits")} + ${moved("debits")} + ${moved("refunds")} AS entries`.execute(tx);
	return Number(rows[0]?.entries ?? 0n);
}
