import type { Transaction } from "kysely";
import { type Nano, nano } from "../../ledger/nano.ts";
import { ISSUED, type Tables } from "../tables.ts";
import type { AccountTier } from "../types.ts";
import { checkName, checkTier, ERASED_NAME } from "./account-fields.ts";
import { type AccountView, requireView } from "./account-view.ts";
import { amountToBe } from "./amounts.ts";
import { noteChange } from "./changes.ts";
import { AdminError } from "./errors.ts";
import { requireAccount } from "./find-account.ts";
import { issue, lockedBalance, withdraw } from "./movements.ts";
import type { AdminStore } from "./open-admin.ts";
import { recallMoney, waitForMoney } from "./recall-money.ts";
import { setChainStake, setOperatorStake } from "./stakes.ts";
import { linkWallet, readWallet } from "./wallets.ts";

/** Changes of an account; fields that are left out stay. */
export interface AccountChanges {
	readonly name?: string;
	readonly tier?: AccountTier;
	/** Diem as decimal text, or `chain` to read it there; counts from the next UTC day on. */
	readonly stakeDiem?: string;
	/**
	 * The target of the bundled credit, USD as decimal text: the difference is granted, or taken back as far as it is
	 * free.
	 */
	readonly bundledUsd?: string;
	/** 0x and 40 hex digits (mixed case is a checksum), or null for none. */
	readonly wallet?: string | null;
	/** True: the account's requests are refused from now on. */
	readonly disabled?: boolean;
}

/** Replaces the amount where the chain decides it. */
const STAKE_ON_CHAIN = "chain";

/**
 * Applies all given changes or none; an empty input changes nothing. Throws `AdminError`: NOT_FOUND, INVALID,
 * CONFLICT (the wallet belongs to another account, or the account was erased), MONEY_LEASED (bundled credit to be
 * taken back is in use).
 */
export async function changeAccount(admin: AdminStore, accountId: string, changes: AccountChanges): Promise<AccountView> {
	const { name, tier, disabled, stakeDiem, bundledUsd } = changes;
	const wallet = typeof changes.wallet === "string" ? await readWallet(changes.wallet) : changes.wallet;
	return admin.db.transaction().execute(async (tx) => {
		const atMs = admin.wallMs();
		const account = await requireAccount(tx, accountId);
		if (account.name === ERASED_NAME && (name !== undefined || disabled === false || (wallet ?? null) !== null))
			throw new AdminError("CONFLICT", "the account was erased: it gets no name and no wallet any more, and stays disabled");
		const columns = {
			...(name !== undefined ? { name: checkName(name) } : {}),
			...(tier !== undefined ? { tier: checkTier(tier) } : {}),
			...(disabled !== undefined ? { disabled: Number(disabled) } : {}),
		};
		if (Object.keys(columns).length > 0) {
			await tx.updateTable("accounts").set(columns).where("id", "=", accountId).execute();
		}
		if (wallet !== undefined) await linkWallet(tx, accountId, wallet, atMs);
		if (stakeDiem === STAKE_ON_CHAIN) await setChainStake(tx, accountId, atMs);
		else if (stakeDiem !== undefined) await setOperatorStake(tx, accountId, amountToBe(stakeDiem), atMs);
		if (bundledUsd !== undefined) await setBundled(tx, accountId, amountToBe(bundledUsd), atMs);
		if (Object.values(changes).some((change) => change !== undefined)) {
			await noteChange(tx, { kind: "account", accountId }, atMs);
		}
		return requireView(tx, accountId, atMs);
	});
}

/**
 * Does as `changeAccount`. Where bundled credit to be taken back is leased to a running node, it is recalled and
 * awaited for at most `patienceMs`. Only callers outside of the store thread may wait.
 */
export function setAccount(admin: AdminStore, accountId: string, changes: AccountChanges, patienceMs = 0): Promise<AccountView> {
	const change = () => changeAccount(admin, accountId, changes);
	return waitForMoney(change, () => recallMoney(admin, { accountId }), patienceMs);
}

/** Refuses the account's requests from now on. Throws `AdminError` (NOT_FOUND). */
export function disableAccount(admin: AdminStore, accountId: string): Promise<AccountView> {
	return changeAccount(admin, accountId, { disabled: true });
}

/** Accepts the account's requests again. Throws `AdminError`: NOT_FOUND, CONFLICT (it was erased). */
export function enableAccount(admin: AdminStore, accountId: string): Promise<AccountView> {
	return changeAccount(admin, accountId, { disabled: false });
}

async function setBundled(tx: Transaction<Tables>, accountId: string, targetAmount: Nano, atMs: number): Promise<void> {
	const balance = await lockedBalance(tx, accountId, "bundled");
	const difference = targetAmount - Number(balance);
	if (difference < 0) await withdraw(tx, accountId, "bundled", nano(-difference), atMs);
	else if (difference > 0) {
		const grant = { kind: "grant", from: ISSUED, accountId, source: "bundled", amount: nano(difference), atMs } as const;
		await issue(tx, grant);
	}
}
