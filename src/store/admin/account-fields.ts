/** Checks of the account fields that an operator enters. */
import type { AccountTier } from "../types.ts";
import { AdminError } from "./errors.ts";

export const ACCOUNT_TIERS: readonly AccountTier[] = ["paid", "partner", "staff"];
const NAME_LENGTH = 200;
const CONTROL = /\p{Cc}/u;

/** Replaces a name that was erased; no other account may have this name. */
export const ERASED_NAME = "(erased)";

/** Returns the trimmed name. Throws `AdminError` (INVALID). */
export function checkName(entered: string): string {
	const name = entered.trim();
	if (name === "" || [...name].length > NAME_LENGTH || CONTROL.test(name) || !name.isWellFormed()) {
		throw new AdminError("INVALID", `a name has 1 to ${NAME_LENGTH} characters, none of them a control character`);
	}
	if (name === ERASED_NAME) throw new AdminError("INVALID", `${ERASED_NAME} is what erased accounts are called`);
	return name;
}

/** Returns a known tier. Throws `AdminError` (INVALID). */
export function checkTier(tier: AccountTier): AccountTier {
	if (!ACCOUNT_TIERS.includes(tier)) throw new AdminError("INVALID", `a tier is one of ${ACCOUNT_TIERS.join(", ")}`);
	return tier;
}
