import type { MoneySource } from "../../journal/records.ts";
import { requireAccountKey } from "../admin/find-account-key.ts";
import { type KeyWithUsage, withUsage } from "../admin/key-usage.ts";
import type { AdminStore } from "../admin/open-admin.ts";
import { lastStakeKnown, stakeOn } from "../admin/stakes.ts";
import { keyOf } from "../core/caller-rows.ts";
import { DAY_MS } from "../core/day.ts";
import { MIN_STAKE_NANO } from "../core/stake.ts";

export interface AccountBalanceQuery {
	readonly accountId: string;
	/** The calling key, whose remaining limits are returned. */
	readonly keyId: string;
	/** The caller's time in Unix milliseconds, which decides the diem epoch and the window of the key's limit. */
	readonly nowMs: number;
}

/** In nano-USD and nano-diem, as applied. */
export interface AccountBalance {
	readonly usd: number;
	readonly bundled: number;
	/** The rest of the day's diem; null where no stake is known. */
	readonly diem: number | null;
	/** The day's diem at its start. */
	readonly diemAllotted: number;
	readonly key: KeyWithUsage;
}

/** Returns the money of an account, from one snapshot. Throws `AdminError` (NOT_FOUND). */
export function accountBalance(admin: AdminStore, query: AccountBalanceQuery): Promise<AccountBalance> {
	const { accountId, keyId, nowMs } = query;
	const day = Math.floor(nowMs / DAY_MS);
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const [key] = await withUsage(tx, [keyOf(await requireAccountKey(tx, accountId, keyId))], nowMs);
			if (key === undefined) throw new Error(`the usage of key ${keyId} was not read`);
			const rows = await tx
				.selectFrom("budgets")
				.select(["source", "day", "balance"])
				.where("account_id", "=", accountId)
				.where("day", "in", [0n, BigInt(day)])
				.execute();
			const balance = (source: MoneySource) =>
				rows.find((row) => row.source === source && (source !== "diem" || Number(row.day) === day))?.balance;
			const allotted = await tx
				.selectFrom("allotments")
				.select("amount")
				.where("account_id", "=", accountId)
				.where("day", "=", BigInt(day))
				.executeTakeFirst();
			const staked = await stakeOn(tx, accountId, day);
			const diemAllotted = Number(allotted?.amount ?? (staked < MIN_STAKE_NANO ? 0 : staked));
			const stakes = staked > 0 || diemAllotted > 0 || (await lastStakeKnown(tx, accountId, day + 1)) > 0;
			return {
				usd: Number(balance("usd") ?? 0),
				bundled: Number(balance("bundled") ?? 0),
				diem: stakes ? Number(balance("diem") ?? diemAllotted) : null,
				diemAllotted,
				key,
			};
		});
}
