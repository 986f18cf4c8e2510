import { randomUUID } from "node:crypto";
import { sql, type Transaction } from "kysely";
import { keyOf } from "../core/caller-rows.ts";
import type { Tables } from "../tables.ts";
import type { ApiKey, KeyLimits, KeyRestrictions, KeyType, LimitPeriod } from "../types.ts";
import { noteChange } from "./changes.ts";
import { AdminError } from "./errors.ts";
import { requireAccount } from "./find-account.ts";
import type { AdminStore } from "./open-admin.ts";

/** Fields of a key that can be set when it is created and later. */
export interface KeyFields {
	readonly description?: string;
	/** Decimal text as entered. */
	readonly limits?: Partial<KeyLimits>;
	readonly limitPeriod?: LimitPeriod;
	readonly expiresAtMs?: number | null;
}

export interface NewKey extends KeyFields {
	readonly accountId: string;
	readonly type: KeyType;
	/** Lower-case hex sha256 of the key's text: the text itself is never stored. */
	readonly hash: string;
	readonly last6: string;
	readonly restrictions?: KeyRestrictions | null;
}

const HASH = /^[0-9a-f]{64}$/;
const DESCRIPTION_LENGTH = 256;
/** The largest limit that may be entered (API keys, key object). */
const MAX_LIMIT = 9_999_999_999;
const LIMIT = /^\d{1,10}(\.\d{1,9})?$/;

/** Creates a key. Throws `AdminError`: NOT_FOUND (account), INVALID, CONFLICT (the same key exists). */
export async function createKey(admin: AdminStore, input: NewKey): Promise<ApiKey> {
	checkNewKey(input);
	return admin.db.transaction().execute((tx) => insertKey(tx, input, admin.wallMs()));
}

/** Creates a key inside a transaction of the caller; the input is already checked. */
export async function insertKey(tx: Transaction<Tables>, input: NewKey, atMs: number): Promise<ApiKey> {
	const id = randomUUID();
	await requireAccount(tx, input.accountId);
	const same = await tx.selectFrom("keys").select("id").where("hash", "=", input.hash).executeTakeFirst();
	if (same !== undefined) throw new AdminError("CONFLICT", `this key exists already, as ${same.id}`);
	const row = await tx
		.insertInto("keys")
		.values({
			id,
			account_id: input.accountId,
			hash: input.hash,
			type: input.type,
			last6: input.last6,
			description: input.description ?? "",
			limit_usd: input.limits?.usd ?? null,
			limit_diem: input.limits?.diem ?? null,
			limit_vcu: input.limits?.vcu ?? null,
			limit_period: input.limitPeriod ?? "EPOCH",
			restrictions: input.restrictions ? JSON.stringify(input.restrictions) : null,
			created_at: atMs,
			expires_at: input.expiresAtMs ?? null,
			last_used_at: null,
			revoked_at: null,
		})
		.returningAll()
		.executeTakeFirstOrThrow();
	await noteChange(tx, { kind: "key", keyId: id, accountId: input.accountId, hash: input.hash }, atMs);
	return keyOf(row);
}

const PAGE = 500;

/** Yields keys that are not revoked, newest first, of one account or of all, in pages that are never empty. */
export async function* listKeys(admin: AdminStore, accountId?: string): AsyncGenerator<readonly ApiKey[]> {
	let after: ApiKey | undefined;
	do {
		let query = admin.db.selectFrom("keys").selectAll().where("revoked_at", "is", null);
		if (accountId !== undefined) query = query.where("account_id", "=", accountId);
		if (after !== undefined) query = query.where(sql<boolean>`(created_at, id) < (${BigInt(after.createdAtMs)}, ${after.id})`);
		const rows = await query.orderBy("created_at", "desc").orderBy("id", "desc").limit(PAGE).execute();
		after = rows.length < PAGE ? undefined : keyOf(rows[PAGE - 1] as (typeof rows)[number]);
		if (rows.length > 0) yield rows.map(keyOf);
	} while (after !== undefined);
}

/** Revokes a key for good; a repeat changes nothing. Throws `AdminError` (NOT_FOUND). */
export async function revokeKey(admin: AdminStore, keyId: string): Promise<ApiKey> {
	return admin.db.transaction().execute(async (tx) => {
		const row = await tx.selectFrom("keys").selectAll().where("id", "=", keyId).executeTakeFirst();
		if (row === undefined) throw new AdminError("NOT_FOUND", `there is no key ${keyId}`);
		if (row.revoked_at === null) {
			await tx.updateTable("keys").set({ revoked_at: admin.wallMs() }).where("id", "=", keyId).execute();
			await noteChange(tx, { kind: "key", keyId, accountId: row.account_id, hash: row.hash }, admin.wallMs());
		}
		return keyOf(row);
	});
}

/** Returns the key with this sha256 (lower-case hex); null where there is none or it is revoked. */
export async function findKeyByHash(admin: AdminStore, hash: string): Promise<ApiKey | null> {
	const row = await admin.db
		.selectFrom("keys")
		.selectAll()
		.where("hash", "=", hash)
		.where("revoked_at", "is", null)
		.executeTakeFirst();
	return row === undefined ? null : keyOf(row);
}

/** Throws `AdminError` (INVALID). */
export function checkNewKey(input: NewKey): void {
	if (!HASH.test(input.hash)) throw invalid("a key's hash is 64 lower-case hex digits");
	if (input.last6.length !== 6) throw invalid("a key's last characters are 6");
	if (!["ADMIN", "INFERENCE"].includes(input.type)) throw invalid("a key is ADMIN or INFERENCE");
	checkKeyFields(input);
}

/** Throws `AdminError` (INVALID). */
export function checkKeyFields(fields: KeyFields): void {
	if (!["EPOCH", "MONTH", "LIFETIME"].includes(fields.limitPeriod ?? "EPOCH")) {
		throw invalid("a limit's period is EPOCH, MONTH or LIFETIME");
	}
	if ([...(fields.description ?? "")].length > DESCRIPTION_LENGTH) {
		throw invalid(`a description has at most ${DESCRIPTION_LENGTH} characters`);
	}
	for (const [unit, limit] of Object.entries(fields.limits ?? {})) {
		if (limit === null || limit === undefined) continue;
		const fits = LIMIT.test(limit) && Number(limit) <= MAX_LIMIT;
		if (!fits) throw invalid(`limits.${unit} is a decimal number of 0 to ${MAX_LIMIT} with at most 9 places`);
	}
	const expires = fields.expiresAtMs ?? null;
	if (expires !== null && (!Number.isSafeInteger(expires) || expires < 0)) throw invalid("expiresAtMs is a Unix time in ms");
}

function invalid(message: string): AdminError {
	return new AdminError("INVALID", message);
}
