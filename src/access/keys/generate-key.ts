import { randomInt } from "node:crypto";
import type { NewAccountKey } from "../../store/admin/create-account-key.ts";
import { mergeRestrictions } from "../../store/admin/merge-restrictions.ts";
import type { KeyType } from "../../store/port.ts";
import { keyHash } from "../bearer.ts";
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

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARACTERS = 43;

/** Returns a new secret key: `sk_adm_` or `sk_inf_` and 43 base62 characters (256 bits). It is shown once and never stored. */
export function generateSecretKey(type: KeyType): string {
	let key = type === "ADMIN" ? "sk_adm_" : "sk_inf_";
	for (let count = 0; count < SECRET_CHARACTERS; count++) key += BASE62[randomInt(62)];
	return key;
}
