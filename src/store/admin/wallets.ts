import type { Transaction } from "kysely";
import { readEvmAddress } from "../../schema/index.ts";
import { DAY_MS } from "../core/day.ts";
import type { StoreDb, Tables } from "../tables.ts";
import { linkedName } from "../wallet-callers.ts";
import { noteChange } from "./changes.ts";
import { AdminError } from "./errors.ts";

/** Returns the wallet as stored: lower case. Throws `AdminError` (INVALID). */
export async function readWallet(text: string): Promise<string> {
	const wallet = await readEvmAddress(text);
	if (wallet !== null) return wallet;
	throw new AdminError("INVALID", "a wallet is 0x and 40 hex digits, its letters small or with the right checksum (ERC-55)");
}

/** Returns the account that a wallet is linked to; null where there is none. */
export async function ownerOf(db: StoreDb, wallet: string): Promise<string | null> {
	const row = await db.selectFrom("accounts").select("id").where("wallet", "=", wallet).executeTakeFirst();
	return row?.id ?? null;
}

/**
 * Links a wallet in lower case to an account; null unlinks it. A wallet belongs to one account. Throws `AdminError`
 * (CONFLICT). The wallet's stake on the chain counts for the account from the next day on.
 */
export async function linkWallet(tx: Transaction<Tables>, accountId: string, wallet: string | null, atMs: number): Promise<void> {
	const before = await tx.selectFrom("accounts").select("wallet").where("id", "=", accountId).executeTakeFirst();
	const owner = wallet === null ? null : await ownerOf(tx, wallet);
	if (wallet !== null && owner === accountId) return;
	if (owner !== null) throw new AdminError("CONFLICT", `the wallet is linked to ${owner}; unlink it there first`);
	await tx
		.updateTable("accounts")
		.set({ wallet, chain_from_day: await nextReadingDay(tx, atMs) })
		.where("id", "=", accountId)
		.execute();
	for (const changed of [before?.wallet ?? null, wallet]) {
		if (changed === null || before?.wallet === wallet) continue;
		const name = linkedName(changed);
		await noteChange(tx, { kind: "key", keyId: name, accountId, hash: name }, atMs);
	}
}

/**
 * Returns the first UTC day after that of `atMs` for which no stake has been read. Even where the clocks of two
 * machines disagree about midnight, a new link takes no part in a day that is being read.
 */
export async function nextReadingDay(tx: Transaction<Tables>, atMs: number): Promise<number> {
	const last = await tx.selectFrom("stake_readings").select("day").orderBy("day", "desc").limit(1).executeTakeFirst();
	return Math.max(Math.floor(atMs / DAY_MS), Number(last?.day ?? 0)) + 1;
}
