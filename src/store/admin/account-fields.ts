/** What may be entered of an account. */
import type { AccountTier } from "../port.ts";
import { AdminError } from "./errors.ts";

export const ACCOUNT_TIERS: readonly AccountTier[] = ["paid", "partner", "staff"];
const NAME_LENGTH = 200;
const CONTROL = /\p{Cc}/u;

/** Throws `AdminError` (INVALID). */
export function checkName(entered: string): string {
	const name = entered.trim();
	if (name === "" || [...name].length > NAME_LENGTH || CONTROL.test(name) || !name.isWellFormed()) {
		throw new AdminError("INVALID", `a name has 1 to ${NAME_LENGTH} characters, none of them a control character`);
	}
	return name;
}

/** Throws `AdminError` (INVALID). */
export function checkTier(tier: AccountTier): AccountTier {
	if (!ACCOUNT_TIERS.includes(tier)) throw new AdminError("INVALID", `a tier is one of ${ACCOUNT_TIERS.join(", ")}`);
	return tier;
}
