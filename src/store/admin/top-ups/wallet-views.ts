/** Wallets with a balance of their own, for the operator. */
import { sql } from "kysely";
import { type Nano, nano } from "../../../ledger/nano.ts";
import { contains } from "../../queries/contains.ts";
import type { StoreDb } from "../../tables.ts";
import { AdminError } from "../errors.ts";
import type { AdminStore } from "../open-admin.ts";

export interface WalletView {
	readonly accountId: string;
	/** `eip155:8453:0x...` or `solana:...`. */
	readonly identity: string;
	readonly disabled: boolean;
	/** Current USD. */
	readonly balance: Nano;
	/** Sum of all top-ups. */
	readonly toppedUp: Nano;
	readonly topUps: number;
	/** Time of its first top-up, in Unix milliseconds. */
	readonly createdAtMs: number;
}

/** The last wallet of a page: the next page begins behind it. */
export interface WalletPlace {
	readonly createdAtMs: number;
	readonly accountId: string;
}

export interface ListWallets {
	/** null: from the newest on. */
	readonly after: WalletPlace | null;
	readonly limit: number;
	/** A part of the wallet's name; left out: all. Such a page may scan all wallets. */
	readonly search?: string;
}

/** Returns a page, newest first, at the cost of the page. */
export async function listWallets(admin: AdminStore, { after, limit, search }: ListWallets): Promise<WalletView[]> {
	let page = views(admin.db).orderBy("accounts.created_at", "desc").orderBy("accounts.id", "desc");
	if (after !== null)
		page = page.where(sql<boolean>`(accounts.created_at, accounts.id) < (${BigInt(after.createdAtMs)}, ${after.accountId})`);
	if (search !== undefined) page = page.where(contains(["accounts.identity"], search));
	return (await page.limit(limit).execute()).map(viewOf);
}

/** Throws `AdminError` (NOT_FOUND) where it never topped up. */
export async function showWallet(admin: AdminStore, input: { readonly identity: string }): Promise<WalletView> {
	const row = await views(admin.db).where("identity", "=", input.identity).executeTakeFirst();
	if (row === undefined) throw new AdminError("NOT_FOUND", `no wallet ${input.identity} has topped up`);
	return viewOf(row);
}

/** Returns true where the operator has disabled it; false for a wallet that never topped up. */
export async function isWalletDisabled(admin: AdminStore, input: { readonly identity: string }): Promise<boolean> {
	const row = await admin.db.selectFrom("accounts").select("disabled").where("identity", "=", input.identity).executeTakeFirst();
	return row !== undefined && Number(row.disabled) === 1;
}

type Row = Awaited<ReturnType<ReturnType<typeof views>["executeTakeFirstOrThrow"]>>;

function views(db: StoreDb) {
	const credited = (what: string) =>
		sql<bigint | null>`(SELECT ${sql.raw(what)} FROM credits JOIN top_ups ON top_ups.movement_id = credits.movement_id
			WHERE credits.account_id = accounts.id)`;
	return db
		.selectFrom("accounts")
		.leftJoin("budgets", (join) =>
			join.onRef("budgets.account_id", "=", "accounts.id").on("source", "=", "usd").on("day", "=", 0n),
		)
		.select(["accounts.id", "accounts.identity", "accounts.disabled", "accounts.created_at", "budgets.balance"])
		.select([credited("CAST(sum(credits.amount) AS bigint)").as("topped_up"), credited("count(*)").as("top_ups")])
		.where("accounts.identity", "is not", null)
		.$narrowType<{ identity: string }>();
}

function viewOf(row: Row): WalletView {
	return {
		accountId: row.id,
		identity: row.identity,
		disabled: row.disabled === 1n,
		balance: nano(Number(row.balance ?? 0n)),
		toppedUp: nano(Number(row.topped_up ?? 0n)),
		topUps: Number(row.top_ups ?? 0n),
		createdAtMs: Number(row.created_at),
	};
}
