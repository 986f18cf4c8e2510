import { randomInt } from "node:crypto";
import type { KeyType } from "../store/port.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARACTERS = 43;

/** Returns a new secret key: `sk_adm_` or `sk_inf_` and 43 base62 characters (256 bits). It is shown once and never stored. */
export function generateSecretKey(type: KeyType): string {
	let key = type === "ADMIN" ? "sk_adm_" : "sk_inf_";
	for (let count = 0; count < SECRET_CHARACTERS; count++) key += BASE62[randomInt(62)];
	return key;
}
