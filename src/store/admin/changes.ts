/** Notices to running nodes: a cached object is to be read again. */
import type { Transaction } from "kysely";
import type { StoreChange } from "../port.ts";
import type { Tables } from "../tables.ts";
import type { AdminStore } from "./open-admin.ts";

/** Stands in a notice of an account whose money is wanted back, where a key's notice has its hash. */
export const TAKES_BACK = "takes-back";

/** Begins what stands in the same place in a notice of a level of the log, which is told as a kind of reload. */
const LOG_LEVEL = "log-level:";

/** What is told through the store; the rest a node hears from its own store thread. */
type NotedChange = Exclude<StoreChange, { kind: "leases-ended" | "recall" }>;

/** Writes the notice into the transaction of the change that it tells of. */
export function noteChange(tx: Transaction<Tables>, change: NotedChange, atMs: number): Promise<void> {
	return noteChanges(tx, [change], atMs);
}

/** The same for several changes, in one statement. */
export async function noteChanges(tx: Transaction<Tables>, changes: readonly NotedChange[], atMs: number): Promise<void> {
	if (changes.length === 0) return;
	await tx
		.insertInto("changes")
		.values(changes.map((change) => rowOf(change, atMs)))
		.execute();
}

/** What a notice of the kind `reload` asks for. */
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

/** Asks every running node to read its configuration, models and limits again. */
export async function requestReload(admin: AdminStore): Promise<void> {
	await admin.db.transaction().execute((tx) => noteChange(tx, { kind: "reload" }, admin.wallMs()));
}

/** Has every running node log from this level on. */
export async function requestLogLevel(admin: AdminStore, level: string): Promise<void> {
	await admin.db.transaction().execute((tx) => noteChange(tx, { kind: "log-level", level }, admin.wallMs()));
}
