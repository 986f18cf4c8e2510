/** The keys of all accounts, as pages for the operator. */
import { sql } from "kysely";
import { type KeyUsage, withUsage } from "../admin/key-usage.ts";
import type { AdminStore } from "../admin/open-admin.ts";
import { keyOf } from "../core/caller-rows.ts";
import type { ApiKey } from "../types.ts";
import { contains } from "./contains.ts";

/** The last key of a page: the next page begins behind it. */
export interface KeyPlace {
	readonly createdAtMs: number;
	readonly id: string;
}

export interface KeyPageQuery {
	/** A part of the description, the id, the last characters or the account's name; such a page may scan all keys. */
	readonly search?: string;
	readonly accountId?: string;
	/** `active`: neither revoked nor expired. */
	readonly state: "active" | "all";
	/** null: from the newest on. */
	readonly after: KeyPlace | null;
	readonly limit: number;
}

export interface KeyEntry {
	readonly key: ApiKey;
	readonly account: { readonly id: string; readonly name: string };
	readonly state: "active" | "expired" | "revoked";
	/** Spent on the UTC day and the six before it. */
	readonly trailingSevenDays: KeyUsage;
}

/** Returns a page, newest first, at the cost of the page. */
export function listKeyPage(admin: AdminStore, query: KeyPageQuery): Promise<KeyEntry[]> {
	const { search, accountId, state, after, limit } = query;
	const nowMs = admin.wallMs();
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			let page = tx
				.selectFrom("keys")
				.innerJoin("accounts", "accounts.id", "keys.account_id")
				.selectAll("keys")
				.select("accounts.name as account_name");
			if (accountId !== undefined) page = page.where("keys.account_id", "=", accountId);
			if (state === "active")
				page = page
					.where("keys.revoked_at", "is", null)
					.where((is) => is.or([is("keys.expires_at", "is", null), is("keys.expires_at", ">", BigInt(nowMs))]));
			if (search !== undefined)
				page = page.where(contains(["keys.description", "keys.id", "keys.last6", "accounts.name"], search));
			if (after !== null)
				page = page.where(sql<boolean>`(keys.created_at, keys.id) < (${BigInt(after.createdAtMs)}, ${after.id})`);
			const rows = await page.orderBy("keys.created_at", "desc").orderBy("keys.id", "desc").limit(limit).execute();
			const used = await withUsage(tx, rows.map(keyOf), nowMs);
			return rows.map((row, index) => {
				const key = keyOf(row);
				const expired = key.expiresAtMs !== null && key.expiresAtMs <= nowMs;
				return {
					key,
					account: { id: row.account_id, name: row.account_name },
					state: row.revoked_at !== null ? "revoked" : expired ? "expired" : "active",
					trailingSevenDays: used[index]?.trailingSevenDays ?? { usd: 0n, diem: 0n },
				};
			});
		});
}
