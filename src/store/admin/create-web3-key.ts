import type { Transaction } from "kysely";
import { keyOf } from "../core/caller-rows.ts";
import { DAY_MS } from "../core/day.ts";
import type { StakeSource, Tables } from "../tables.ts";
import type { ApiKey } from "../types.ts";
import { checkedAccount } from "./accounts.ts";
import { insertAccountKey, type NewAccountKey } from "./create-account-key.ts";
import { AdminError } from "./errors.ts";
import { checkNewKey } from "./keys.ts";
import type { AdminStore } from "./open-admin.ts";
import { lastStakeKnown } from "./stakes.ts";
import { type OnceToken, takeToken } from "./use-token.ts";
import { linkWallet, ownerOf } from "./wallets.ts";

export interface NewWeb3Key extends Omit<NewAccountKey, "accountId"> {
	/** Lower case; the wallet has proven its identity. */
	readonly wallet: string;
	/** The token that the wallet signed; it is valid once. */
	readonly token: OnceToken;
}

/**
 * Creates a key for a wallet: on its linked account, else on a new one that is linked to it. Throws `AdminError`:
 * CONFLICT (the token was used), INVALID (the account has its maximum of active keys).
 */
export async function createWeb3Key(admin: AdminStore, input: NewWeb3Key): Promise<ApiKey> {
	const { wallet, token, ...key } = input;
	const insertAccount = checkedAccount({ name: wallet });
	checkNewKey({ ...key, accountId: "" });
	return admin.db.transaction().execute(async (tx) => {
		const atMs = admin.wallMs();
		if (!(await takeToken(tx, token, input.nowMs))) return madeBefore(tx, key.hash);
		const accountId = (await ownerOf(tx, wallet)) ?? (await createOwner(tx, insertAccount, wallet, atMs));
		return insertAccountKey(tx, { ...key, accountId }, atMs);
	});
}

/** Returns the key of the same call, repeated because its first answer was lost: this is no second use of the token. */
async function madeBefore(tx: Transaction<Tables>, hash: string): Promise<ApiKey> {
	const row = await tx.selectFrom("keys").selectAll().where("hash", "=", hash).executeTakeFirst();
	if (row === undefined) throw new AdminError("CONFLICT", "this token has served; get a new one");
	return keyOf(row);
}

async function createOwner(
	tx: Transaction<Tables>,
	insert: ReturnType<typeof checkedAccount>,
	wallet: string,
	atMs: number,
): Promise<string> {
	const { id } = await insert(tx, atMs, false);
	await linkWallet(tx, id, wallet, atMs);
	return id;
}

/** The store's facts about a wallet's account. */
export interface WalletEligibility {
	readonly disabled: boolean;
	readonly source: StakeSource;
	/** Nano-diem that count today or from tomorrow on, as far as known. */
	readonly stake: number;
}

/** Returns null where the wallet is linked to no account. */
export async function walletEligibility(
	admin: AdminStore,
	input: { readonly wallet: string; readonly nowMs: number },
): Promise<WalletEligibility | null> {
	const account = await admin.db
		.selectFrom("accounts")
		.select(["id", "disabled", "stake_source"])
		.where("wallet", "=", input.wallet)
		.executeTakeFirst();
	if (account === undefined) return null;
	const stake = await lastStakeKnown(admin.db, account.id, Math.floor(input.nowMs / DAY_MS) + 1);
	return { disabled: account.disabled === 1n, source: account.stake_source, stake };
}
