import { randomInt } from "node:crypto";
import type { Transaction } from "kysely";
import type { MoneySource } from "../../journal/records.ts";
import { formatNano, type Nano, nano, parseNano } from "../../ledger/nano.ts";
import { accountOf } from "../callers.ts";
import { MIN_STAKE_NANO } from "../diem.ts";
import type { Account, AccountTier } from "../port.ts";
import { DAY_MS } from "../store-clock.ts";
import type { StoreDb, Tables } from "../tables.ts";
import { noteChange } from "./changes.ts";
import { addCredit, creditAmount } from "./credit.ts";
import { AdminError, MoneyLeasedError } from "./errors.ts";
import { requireAccount } from "./find-account.ts";
import { checkNewKey, insertKey, type NewKey } from "./keys.ts";
import { balanceOf, issue, MAX_CREDIT_NANO, withdraw } from "./movements.ts";
import type { AdminStore } from "./open-admin.ts";

export interface NewAccount {
	readonly name: string;
	readonly tier?: AccountTier;
	/** USD as decimal text; "0" or left out: none. */
	readonly startingCreditUsd?: string;
	/** A key that comes with the account, in the same transaction. */
	readonly firstKey?: Omit<NewKey, "accountId">;
}

export interface AccountChanges {
	readonly tier?: AccountTier;
	/** Diem as decimal text; counts from the next UTC day on. */
	readonly stakeDiem?: string;
	/** What the bundled credit shall be, USD as decimal text: the difference is granted, or taken back as far as it is free. */
	readonly bundledUsd?: string;
	/** 0x and 40 hex digits, or null for none. */
	readonly wallet?: string | null;
}

export interface AccountBalances {
	readonly usd: Nano;
	readonly bundled: Nano;
	/** What is left of today's diem. */
	readonly diem: Nano;
}

export interface AccountView extends Account {
	readonly balances: AccountBalances;
	/** Staked diem that counts today, and from tomorrow on. */
	readonly stake: { readonly today: Nano; readonly next: Nano };
}

/** At each notice of a change a node returns what none of its requests holds. */
const ASK_AGAIN_MS = 500;
const LEASED_RETRY_MS = 20;
const TIERS: readonly AccountTier[] = ["paid", "partner", "staff"];
const WALLET = /^0x[0-9a-f]{40}$/;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 24;
const NAME_LENGTH = 200;

/** True on a store without accounts. */
export async function isEmpty(admin: AdminStore): Promise<boolean> {
	return !(await hasAccount(admin.db));
}

async function hasAccount(db: StoreDb): Promise<boolean> {
	return (await db.selectFrom("accounts").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** Makes an account; the first one of a store is the operator's. Throws `AdminError` (INVALID). */
export async function createAccount(admin: AdminStore, input: NewAccount): Promise<Account> {
	const insert = checkedAccount(input);
	return admin.db.transaction().execute(async (tx) => insert(tx, admin.now(), !(await hasAccount(tx))));
}

/** Makes the operator's account on a store without accounts; null on any other. Of several nodes that start together one makes it. */
export async function createFirstAccount(admin: AdminStore, input: NewAccount): Promise<Account | null> {
	const insert = checkedAccount(input);
	return admin.db.transaction().execute(async (tx) => ((await hasAccount(tx)) ? null : insert(tx, admin.now(), true)));
}

/** Checks the input, before any transaction, and returns what books it. */
function checkedAccount(input: NewAccount): (tx: Transaction<Tables>, atMs: number, operator: boolean) => Promise<Account> {
	const name = input.name.trim();
	if (name === "" || name.length > NAME_LENGTH) throw new AdminError("INVALID", `a name has 1 to ${NAME_LENGTH} characters`);
	const tier = checkTier(input.tier ?? "paid");
	const starting = parseNano(input.startingCreditUsd ?? "0") === 0 ? null : creditAmount(input.startingCreditUsd ?? "0");
	const id = `acc_${Array.from({ length: ID_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join("")}`;
	const firstKey = input.firstKey === undefined ? null : { ...input.firstKey, accountId: id };
	if (firstKey !== null) checkNewKey(firstKey);
	return async (tx, atMs, operator) => {
		await tx
			.insertInto("accounts")
			.values({ id, name, tier, disabled: 0, operator: Number(operator), wallet: null, created_at: atMs })
			.execute();
		await tx.insertInto("budgets").values({ account_id: id, source: "usd", day: 0, balance: 0, leased: 0 }).execute();
		if (starting !== null) await addCredit(tx, id, starting, `starting-credit:${id}`, atMs);
		else await noteChange(tx, { kind: "account", accountId: id }, atMs);
		if (firstKey !== null) await insertKey(tx, firstKey, atMs);
		return requireAccount(tx, id);
	};
}

/** All accounts in the order of their making. */
export async function listAccounts(admin: AdminStore): Promise<AccountView[]> {
	return readOnly(admin, async (tx) => {
		const rows = await tx.selectFrom("accounts").selectAll().orderBy("created_at").orderBy("id").execute();
		const views: AccountView[] = [];
		for (const row of rows) views.push(await viewOf(tx, accountOf(row), today(admin)));
		return views;
	});
}

/** One account with its balances. Throws `AdminError` (NOT_FOUND). */
export async function showAccount(admin: AdminStore, accountId: string): Promise<AccountView> {
	return readOnly(admin, async (tx) => viewOf(tx, await requireAccount(tx, accountId), today(admin)));
}

/**
 * Changes what is given, all or none. Throws `AdminError`: NOT_FOUND, INVALID, CONFLICT (the wallet belongs to
 * another account; bundled credit that is to be taken back is in use).
 *
 * Where bundled credit that is to be taken back is leased to a running node, it is asked for and waited for, for
 * `patienceMs` at most. Waiting is for callers outside of the store thread: the node returns money through it.
 */
export async function setAccount(
	admin: AdminStore,
	accountId: string,
	changes: AccountChanges,
	patienceMs = 0,
): Promise<AccountView> {
	const deadlineMs = performance.now() + patienceMs;
	let askedMs = Number.NEGATIVE_INFINITY;
	for (;;) {
		try {
			return await changeAccount(admin, accountId, changes);
		} catch (error) {
			if (!(error instanceof MoneyLeasedError) || performance.now() >= deadlineMs) throw error;
		}
		if (performance.now() - askedMs >= ASK_AGAIN_MS) {
			askedMs = performance.now();
			await admin.db.transaction().execute((tx) => noteChange(tx, { kind: "account", accountId, takesBack: true }, admin.now()));
		}
		await Bun.sleep(LEASED_RETRY_MS);
	}
}

function changeAccount(admin: AdminStore, accountId: string, changes: AccountChanges): Promise<AccountView> {
	return admin.db.transaction().execute(async (tx) => {
		const atMs = admin.now();
		await requireAccount(tx, accountId);
		if (changes.tier !== undefined) {
			await tx
				.updateTable("accounts")
				.set({ tier: checkTier(changes.tier) })
				.where("id", "=", accountId)
				.execute();
		}
		if (changes.wallet !== undefined) await setWallet(tx, accountId, changes.wallet);
		if (changes.stakeDiem !== undefined) await setStake(tx, accountId, amountOf(changes.stakeDiem), atMs);
		if (changes.bundledUsd !== undefined) await setBundled(tx, accountId, amountOf(changes.bundledUsd), atMs);
		await noteChange(tx, { kind: "account", accountId }, atMs);
		return viewOf(tx, await requireAccount(tx, accountId), today(admin));
	});
}

/** Refuses the account's requests from now on. Throws `AdminError` (NOT_FOUND). */
export function disableAccount(admin: AdminStore, accountId: string): Promise<Account> {
	return setDisabled(admin, accountId, true);
}

/** Takes the account's requests again. Throws `AdminError` (NOT_FOUND). */
export function enableAccount(admin: AdminStore, accountId: string): Promise<Account> {
	return setDisabled(admin, accountId, false);
}

function setDisabled(admin: AdminStore, accountId: string, disabled: boolean): Promise<Account> {
	return admin.db.transaction().execute(async (tx) => {
		await requireAccount(tx, accountId);
		await tx
			.updateTable("accounts")
			.set({ disabled: Number(disabled) })
			.where("id", "=", accountId)
			.execute();
		await noteChange(tx, { kind: "account", accountId }, admin.now());
		return requireAccount(tx, accountId);
	});
}

async function setWallet(tx: Transaction<Tables>, accountId: string, wallet: string | null): Promise<void> {
	const normal = wallet?.toLowerCase() ?? null;
	if (normal !== null && !WALLET.test(normal)) throw new AdminError("INVALID", "a wallet is 0x and 40 hex digits");
	if (normal !== null) {
		const owner = await tx.selectFrom("accounts").select("id").where("wallet", "=", normal).executeTakeFirst();
		if (owner !== undefined && owner.id !== accountId) {
			throw new AdminError("CONFLICT", `the wallet is linked to ${owner.id}; unlink it there first`);
		}
	}
	await tx.updateTable("accounts").set({ wallet: normal }).where("id", "=", accountId).execute();
}

/** From the next UTC day on: a stake read now could be moved and paid several times. */
async function setStake(tx: Transaction<Tables>, accountId: string, stake: Nano, atMs: number): Promise<void> {
	const row = { account_id: accountId, from_day: Math.floor(atMs / DAY_MS) + 1, stake, set_at: atMs };
	await tx
		.insertInto("diem_stakes")
		.values(row)
		.onConflict((conflict) => conflict.columns(["account_id", "from_day"]).doUpdateSet({ stake, set_at: atMs }))
		.execute();
}

async function setBundled(tx: Transaction<Tables>, accountId: string, wanted: Nano, atMs: number): Promise<void> {
	const { balance } = await balanceOf(tx, accountId, "bundled");
	const difference = wanted - Number(balance);
	if (difference > 0) await issue(tx, "grant", accountId, "bundled", nano(difference), atMs);
	else if (difference < 0) await withdraw(tx, accountId, "bundled", nano(-difference), atMs);
}

async function viewOf(tx: StoreDb, account: Account, day: number): Promise<AccountView> {
	const budgets = await tx.selectFrom("budgets").selectAll().where("account_id", "=", account.id).execute();
	const balance = (source: MoneySource) =>
		budgets.find((row) => row.source === source && (source !== "diem" || row.day === BigInt(day)))?.balance;
	const stake = { today: await stakeOn(tx, account.id, day), next: await stakeOn(tx, account.id, day + 1) };
	const diem = balance("diem") ?? (stake.today < MIN_STAKE_NANO ? 0n : BigInt(stake.today));
	return {
		...account,
		balances: { usd: toNano(balance("usd")), bundled: toNano(balance("bundled")), diem: toNano(diem) },
		stake,
	};
}

async function stakeOn(tx: StoreDb, accountId: string, day: number): Promise<Nano> {
	const row = await tx
		.selectFrom("diem_stakes")
		.select("stake")
		.where("account_id", "=", accountId)
		.where("from_day", "<=", BigInt(day))
		.orderBy("from_day", "desc")
		.limit(1)
		.executeTakeFirst();
	return toNano(row?.stake);
}

function readOnly<T>(admin: AdminStore, read: (tx: StoreDb) => Promise<T>): Promise<T> {
	return admin.db.transaction().setAccessMode("read only").execute(read);
}

function checkTier(tier: AccountTier): AccountTier {
	if (!TIERS.includes(tier)) throw new AdminError("INVALID", `a tier is one of ${TIERS.join(", ")}`);
	return tier;
}

/** An amount that may be 0. Throws `AdminError`. */
function amountOf(text: string): Nano {
	const amount = parseNano(text);
	if (amount === undefined || amount > MAX_CREDIT_NANO) {
		const most = formatNano(MAX_CREDIT_NANO, 0);
		throw new AdminError("INVALID", `not an amount of 0 to ${most}: ${JSON.stringify(text)}; at most 9 places, like 12.50`);
	}
	return amount;
}

function today(admin: AdminStore): number {
	return Math.floor(admin.now() / DAY_MS);
}

function toNano(value: bigint | undefined): Nano {
	return nano(Number(value ?? 0n));
}
