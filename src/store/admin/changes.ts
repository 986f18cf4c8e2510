/** Notices that make running nodes read a cached object again. */
import type { Transaction } from "kysely";
import type { Tables } from "../tables.ts";
import type { StoreChange } from "../types.ts";
import type { AdminStore } from "./open-admin.ts";

/**
 * Marks a notice of an account whose money the operator takes back; it is in the column that holds the hash in a
 * key's notice.
 */
export const TAKES_BACK = "takes-back";

/** Prefix in the same column for a log level, which is sent as a kind of reload. */
const LOG_LEVEL = "log-level:";

/** Changes that go through the store; a node gets the others from its own store thread. */
type NotedChange = Exclude<StoreChange, { kind: "leases-ended" | "recall" | "store-moved" }>;

/** Writes the notice in the transaction of its change. */
export function noteChange(tx: Transaction<Tables>, change: NotedChange, atMs: number): Promise<void> {
	return noteChanges(tx, [change], atMs);
}

/** Writes several notices in one statement. */
export async function noteChanges(tx: Transaction<Tables>, changes: readonly NotedChange[], atMs: number): Promise<void> {
	if (changes.length === 0) return;
	await tx
		.insertInto("changes")
		.values(changes.map((change) => rowOf(change, atMs)))
		.execute();
}

/** Returns the change that a notice of the kind `reload` means. */
export function reloadOf(hash: string | null): StoreChange {
	return hash?.startsWith(LOG_LEVEL) ? { kind: "log-level", level: hash.slice(LOG_LEVEL.length) } : { kind: "reload" };
}

function rowOf(change: NotedChange, atMs: number) {
	if (change.kind === "log-level")
		return { kind: "reload" as const, account_id: null, key_id: null, hash: LOG_LEVEL + change.level, changed_at: atMs };
	return {
		kind: change.kind,
		account_id: change.kind === "reload" ? null : change.accountId,
		key_id: change.kind === "key" ? change.keyId : null,
		hash: change.kind === "key" ? change.hash : change.kind === "account" && change.takesBack ? TAKES_BACK : null,
		changed_at: atMs,
	};
}

/** Makes every running node read its configuration, models and limits again. */
export async function requestReload(admin: AdminStore): Promise<void> {
	await admin.db.transaction().execute((tx) => noteChange(tx, { kind: "reload" }, admin.wallMs()));
}

/** Makes every running node log from this level on. */
export async function requestLogLevel(admin: AdminStore, level: string): Promise<void> {
	await admin.db.transaction().execute((tx) => noteChange(tx, { kind: "log-level", level }, admin.wallMs()));
}
