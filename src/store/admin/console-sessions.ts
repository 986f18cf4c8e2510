/** Sessions of the console, by the sha256 of the session's secret, which is stored nowhere. */
import type { AdminStore } from "./open-admin.ts";

export interface ConsoleSession {
	/** sha256 of the key that signed in; keys are looked up by it. */
	readonly keyHash: string;
	/** Unix milliseconds. */
	readonly createdAtMs: number;
	readonly expiresAtMs: number;
}

export interface BeginConsoleSession extends ConsoleSession {
	readonly hash: string;
}

/** Most expired sessions that one call removes. */
const FORGOTTEN_AT_ONCE = 100;

export async function beginConsoleSession(admin: AdminStore, session: BeginConsoleSession): Promise<void> {
	const { hash, keyHash, createdAtMs, expiresAtMs } = session;
	await admin.db.transaction().execute(async (tx) => {
		const expired = tx
			.selectFrom("console_sessions")
			.select("hash")
			.where("expires_at", "<=", BigInt(createdAtMs))
			.limit(FORGOTTEN_AT_ONCE);
		await tx.deleteFrom("console_sessions").where("hash", "in", expired).execute();
		await tx
			.insertInto("console_sessions")
			.values({ hash, key_hash: keyHash, created_at: createdAtMs, expires_at: expiresAtMs })
			// A call that is repeated after a fault of the store created the same session before.
			.onConflict((conflict) => conflict.doNothing())
			.execute();
	});
}

/** Returns the current session; null where it has ended. */
export async function findConsoleSession(
	admin: AdminStore,
	{ hash, nowMs }: { readonly hash: string; readonly nowMs: number },
): Promise<ConsoleSession | null> {
	const row = await admin.db
		.selectFrom("console_sessions")
		.selectAll()
		.where("hash", "=", hash)
		.where("expires_at", ">", BigInt(nowMs))
		.executeTakeFirst();
	if (row === undefined) return null;
	return { keyHash: row.key_hash, createdAtMs: Number(row.created_at), expiresAtMs: Number(row.expires_at) };
}

/** Extends a session; never shortens it where another node was faster. */
export async function prolongConsoleSession(
	admin: AdminStore,
	{ hash, expiresAtMs }: { readonly hash: string; readonly expiresAtMs: number },
): Promise<void> {
	await admin.db
		.updateTable("console_sessions")
		.set({ expires_at: expiresAtMs })
		.where("hash", "=", hash)
		.where("expires_at", "<", BigInt(expiresAtMs))
		.execute();
}

/** Ends it on all nodes; a repeat changes nothing. */
export async function endConsoleSession(admin: AdminStore, { hash }: { readonly hash: string }): Promise<void> {
	await admin.db.deleteFrom("console_sessions").where("hash", "=", hash).execute();
}
