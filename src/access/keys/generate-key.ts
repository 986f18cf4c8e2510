import type { NewAccountKey } from "../../store/admin/create-account-key.ts";
import { mergeRestrictions } from "../../store/admin/merge-restrictions.ts";
import type { KeyType } from "../../store/port.ts";
import { keyHash } from "../bearer.ts";
import { generateSecretKey } from "../generate-secret-key.ts";
import type { ReadKeyFields } from "./key-fields.ts";

/** The number of active keys that an account may have. */
const MAX_ACTIVE_KEYS = 500;

/** Returns a new secret, and the key as the store keeps it. */
export function generateKey(
	type: KeyType,
	fields: ReadKeyFields,
	nowMs: number,
): { readonly secret: string; readonly key: Omit<NewAccountKey, "accountId"> } {
	const secret = generateSecretKey(type);
	const restrictions = mergeRestrictions(null, fields.restrictions ?? null);
	const key = { ...fields, restrictions, type, hash: keyHash(secret), last6: secret.slice(-6), maxActiveKeys: MAX_ACTIVE_KEYS };
	return { secret, key: { ...key, nowMs } };
}
