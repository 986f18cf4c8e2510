/** Accounts with their balances, read at the same cost whatever else the store holds. */
import { sql } from "kysely";
import { type Nano, nano } from "../../ledger/nano.ts";
import { type AccountRow, accountOf } from "../core/caller-rows.ts";
import { DAY_MS } from "../core/day.ts";
import { MIN_STAKE_NANO, stakeSql } from "../core/stake.ts";
import { contains } from "../queries/contains.ts";
import type { StakeSource, StoreDb } from "../tables.ts";
import type { Account } from "../types.ts";
import { AdminError } from "./errors.ts";
import type { AdminStore } from "./open-admin.ts";

export interface AccountBalances {
	readonly usd: Nano;
	readonly bundled: Nano;
	/** The rest of today's diem. */
	readonly diem: Nano;
}

export interface AccountView extends Account {
	readonly balances: AccountBalances;
	/** Staked diem that counts today, and from tomorrow on: null where the chain decides it. */
	readonly stake: { readonly source: StakeSource; readonly today: Nano; readonly next: Nano | null };
}

/** The last account of a page: the next page begins behind it. */
export interface AccountPlace {
	readonly createdAtMs: number;
	readonly id: string;
}

export interface ListAccounts {
	readonly order: "oldest-first" | "newest-first";
	/** null: from the first account on. */
	readonly after: AccountPlace | null;
	readonly limit: number;
	/** A part of the name, the id or the wallet; left out: all. Such a page may scan all accounts. */
	readonly search?: string;
}

/** Returns one account with its balances. Throws `AdminError` (NOT_FOUND). */
export function showAccount(admin: AdminStore, accountId: string): Promise<AccountView> {
	return readOnly(admin, (tx) => requireView(tx, accountId, admin.wallMs()));
}

/** Does as `showAccount`, in the caller's transaction. */
export async function requireView(tx: StoreDb, accountId: string, nowMs: number): Promise<AccountView> {
	const row = await views(tx, nowMs).where("accounts.id", "=", accountId).executeTakeFirst();
	if (row === undefined) throw new AdminError("NOT_FOUND", `there is no account ${accountId}`);
	return viewOf(row);
}

/**
 * Returns a page of accounts in order of creation, without wallets. The cost depends only on the page, not on the
 * number of accounts.
 */
export function listAccountPage(admin: AdminStore, { order, after, limit, search }: ListAccounts): Promise<AccountView[]> {
	const direction = order === "oldest-first" ? "asc" : "desc";
	return readOnly(admin, async (tx) => {
		let page = views(tx, admin.wallMs())
			.where("accounts.identity", "is", null)
			.orderBy("accounts.created_at", direction)
			.orderBy("accounts.id", direction);
		if (after !== null) {
			const place = sql`(${BigInt(after.createdAtMs)}, ${after.id})`;
			const behind = sql.raw(order === "oldest-first" ? ">" : "<");
			page = page.where(sql<boolean>`(accounts.created_at, accounts.id) ${behind} ${place}`);
		}
		if (search !== undefined) page = page.where(contains(["accounts.name", "accounts.id", "accounts.wallet"], search));
		return (await page.limit(limit).execute()).map(viewOf);
	});
}

const PAGE = 500;

/** Yields all accounts in order of creation, in pages that are never empty. */
export async function* listAccounts(admin: AdminStore): AsyncGenerator<readonly AccountView[]> {
	let after: AccountPlace | null = null;
	for (;;) {
		const page: AccountView[] = await listAccountPage(admin, { order: "oldest-first", after, limit: PAGE });
		after = page.at(-1) ?? null;
		if (after === null) return;
		yield page;
		if (page.length < PAGE) return;
	}
}

type ViewRow = AccountRow & {
	readonly usd: bigint | null;
	readonly bundled: bigint | null;
	readonly diem: bigint | null;
	readonly stake_source: StakeSource;
	readonly stake_today: bigint | null;
	readonly stake_next: bigint | null;
};

/** Selects account views: each amount is one seek in an index. */
function views(tx: StoreDb, nowMs: number) {
	const day = Math.floor(nowMs / DAY_MS);
	const balance = (source: string, ofDay: number) =>
		sql<
			bigint | null
		>`(SELECT balance FROM budgets WHERE account_id = accounts.id AND source = ${sql.lit(source)} AND day = ${sql.lit(ofDay)})`;
	const stake = (ofDay: number) => sql<bigint | null>`(${sql.raw(stakeSql("accounts.id", String(ofDay)))})`;
	return tx
		.selectFrom("accounts")
		.selectAll("accounts")
		.select([balance("usd", 0).as("usd"), balance("bundled", 0).as("bundled"), balance("diem", day).as("diem")])
		.select([stake(day).as("stake_today"), stake(day + 1).as("stake_next")]);
}

function viewOf(row: ViewRow): AccountView {
	const toBeRead = row.stake_source === "chain" && row.wallet !== null;
	const next = toBeRead ? null : toNano(row.stake_next);
	const stake = { source: row.stake_source, today: toNano(row.stake_today), next };
	// Nothing of a day is written before its first use.
	const diem = row.diem ?? (stake.today < MIN_STAKE_NANO ? 0n : BigInt(stake.today));
	return {
		...accountOf(row),
		balances: { usd: toNano(row.usd), bundled: toNano(row.bundled), diem: toNano(diem) },
		stake,
	};
}

function toNano(value: bigint | null): Nano {
	return nano(Number(value ?? 0n));
}

function readOnly<T>(admin: AdminStore, read: (tx: StoreDb) => Promise<T>): Promise<T> {
	return admin.db.transaction().setAccessMode("read only").execute(read);
}
