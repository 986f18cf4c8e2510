/**
 * A wallet's history: one entry for each charged request, top-up, refund, credit and debit, newest first. Balances
 * follow each other without a gap, as far back as posts stay in the store (docs/money.md, Old months).
 */
import { sql } from "kysely";
import { type Nano, nano } from "../../../ledger/nano.ts";
import type { StoreDb } from "../../tables.ts";
import type { AdminStore } from "../open-admin.ts";
import { sharedSecret } from "../store-secret.ts";
import { entryId } from "./entry-id.ts";
import { entriesFrom, numberedEntries } from "./wallet-marks.ts";

/** Pages up to this depth are read from the newest entry on. */
const SHALLOW = 1_000;

export interface ListWalletEntries {
	readonly identity: string;
	readonly offset: number;
	readonly limit: number;
}

export interface WalletEntryRow {
	readonly id: string;
	readonly type: "TOP_UP" | "CHARGE" | "REFUND" | "CREDIT" | "DEBIT";
	/** Nano-USD; negative for outgoing money. */
	readonly amount: number;
	readonly balanceAfter: Nano;
	/** Unix milliseconds. */
	readonly createdAtMs: number;
	readonly requestId: string | null;
	readonly modelId: string | null;
}

export interface WalletEntryPage {
	/** Current USD; 0 for a wallet that never topped up. */
	readonly balance: Nano;
	readonly entries: readonly WalletEntryRow[];
	readonly hasMore: boolean;
}

/**
 * Returns one page. A deep page costs as much as any other: it is found from a mark below it (wallet-marks.ts). The
 * first deep page of a history after a start finds the marks, in about a microsecond per entry.
 */
export async function walletEntries(admin: AdminStore, input: ListWalletEntries): Promise<WalletEntryPage> {
	const secret = await sharedSecret(admin, { name: "wallet-entry" });
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const account = await tx
				.selectFrom("accounts")
				.leftJoin("budgets", (join) =>
					join.onRef("budgets.account_id", "=", "accounts.id").on("source", "=", "usd").on("day", "=", 0n),
				)
				.select(["accounts.id", "budgets.balance"])
				.where("identity", "=", input.identity)
				.executeTakeFirst();
			if (account === undefined) return { balance: nano(0), entries: [], hasMore: false };
			const deep = input.offset > SHALLOW;
			const rows = deep ? await deepPage(admin, tx, account.id, input) : await newestPage(tx, account.id, input);
			return {
				balance: nano(Number(account.balance ?? 0n)),
				entries: rows.slice(0, input.limit).map((row) => entryOf(row, secret)),
				hasMore: rows.length > input.limit,
			};
		});
}

interface Row {
	readonly place: bigint;
	readonly type: WalletEntryRow["type"];
	readonly amount: bigint;
	readonly balance_after: bigint;
	readonly created_at: bigint;
	readonly request_id: string | null;
	readonly model: string | null;
}

function entryOf(row: Row, secret: string): WalletEntryRow {
	const isOutgoing = row.type === "CHARGE" || row.type === "DEBIT";
	const createdAtMs = Number(row.created_at);
	return {
		id: entryId(secret, row.place, createdAtMs),
		type: row.type,
		amount: isOutgoing ? -Number(row.amount) : Number(row.amount),
		balanceAfter: nano(Number(row.balance_after)),
		createdAtMs,
		requestId: row.request_id,
		modelId: row.model,
	};
}

/** Selects the details of the entries in `spots`: `place` is the last movement of one. */
function detailed(db: StoreDb, spots: ReturnType<typeof sql>) {
	const charged = (column: string) =>
		sql`(SELECT ${sql.raw(column)} FROM movements WHERE post_id = spot.post AND kind = 'charge' AND unit = 'usd')`;
	return sql<Row>`
		WITH spot AS (${spots})
		SELECT spot.place,
			CASE WHEN spot.type = 'CREDIT' AND top_ups.id IS NOT NULL THEN 'TOP_UP' ELSE spot.type END AS type,
			CASE WHEN spot.type = 'CHARGE' THEN ${charged("CAST(sum(amount) AS bigint)")} ELSE last.amount END AS amount,
			last.balance_after, last.occurred_at AS created_at, posts.request_id, posts.model
		FROM spot
		JOIN movements AS last ON last.id = spot.place
		LEFT JOIN top_ups ON top_ups.movement_id = spot.place
		LEFT JOIN refunds ON refunds.movement_id = spot.place
		LEFT JOIN posts ON posts.id = coalesce(spot.post, refunds.post_id)
		ORDER BY spot.place DESC`.execute(db);
}

/** Reads each part of the union in the order of an index, no further than the page. */
async function newestPage(tx: StoreDb, accountId: string, { offset, limit }: ListWalletEntries): Promise<readonly Row[]> {
	const most = sql.lit(offset + limit + 1);
	const moved = (table: "credits" | "debits" | "refunds", type: WalletEntryRow["type"]) =>
		sql`SELECT * FROM (SELECT movement_id AS place, ${sql.lit(type)} AS type, CAST(NULL AS bigint) AS post FROM ${sql.table(table)}
			WHERE account_id = ${accountId}${table === "refunds" ? sql` AND unit = 'usd'` : sql``}
			ORDER BY movement_id DESC LIMIT ${most}) AS of_${sql.raw(table)}`;
	const { rows } = await detailed(
		tx,
		sql`SELECT place, type, post FROM (
				SELECT * FROM (
					SELECT (SELECT max(id) FROM movements WHERE post_id = posts.id AND kind = 'charge' AND unit = 'usd') AS place,
						'CHARGE' AS type, id AS post
					FROM posts WHERE account_id = ${accountId} AND entries_usd IS NOT NULL ORDER BY entries_usd DESC LIMIT ${most}
				) AS of_posts
				UNION ALL ${moved("credits", "CREDIT")}
				UNION ALL ${moved("debits", "DEBIT")}
				UNION ALL ${moved("refunds", "REFUND")}
			) AS spots ORDER BY place DESC LIMIT ${sql.lit(limit + 1)} OFFSET ${sql.lit(offset)}`,
	);
	return rows;
}

/** Returns entries by their numbers, 1 for the oldest: the page, and the entry behind it where there is one. */
async function deepPage(
	admin: AdminStore,
	tx: StoreDb,
	accountId: string,
	{ offset, limit }: ListWalletEntries,
): Promise<readonly Row[]> {
	const { total, markBelow } = await numberedEntries(admin, tx, accountId);
	const newest = total - offset;
	if (newest < 1) return [];
	const oldest = Math.max(1, newest - limit);
	const { mark, number } = markBelow(oldest);
	const skipped = oldest - 1 - number;
	const entryCount = newest - oldest + 1;
	const { rows } = await detailed(
		tx,
		sql`SELECT place, type, post FROM (${entriesFrom(accountId, mark, skipped + entryCount)}) AS spots
			ORDER BY place LIMIT ${sql.lit(entryCount)} OFFSET ${sql.lit(skipped)}`,
	);
	return rows;
}
