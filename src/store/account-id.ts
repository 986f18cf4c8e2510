import { createHash, randomInt } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 24;
export const ACCOUNT_ID = /^acc_[0-9A-Za-z]{24}$/;

/** Returns a new id: `acc_` and 24 random base62 characters. */
export function createAccountId(): string {
	return `acc_${Array.from({ length: ID_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join("")}`;
}

/** Returns the id of something that already has a name: equal texts give equal ids. */
export function accountIdOf(text: string): string {
	let number = BigInt(`0x${createHash("sha256").update(text).digest("hex")}`);
	let id = "";
	for (let count = 0; count < ID_LENGTH; count++) {
		id += BASE62[Number(number % 62n)];
		number /= 62n;
	}
	return `acc_${id}`;
}
