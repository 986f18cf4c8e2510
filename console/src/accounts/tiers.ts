import type { Account } from "../../../src/routes/console/types.ts";

/** What an account's tier is chosen from. */
export const TIERS: readonly { readonly value: Account["tier"]; readonly text: string }[] = [
	{ value: "paid", text: "paid" },
	{ value: "partner", text: "partner" },
	{ value: "staff", text: "staff" },
];
