import type { Account } from "../../../src/routes/console/types.ts";

/** The tiers that an account may have. */
export const TIERS: readonly { readonly value: Account["tier"]; readonly text: string }[] = [
	{ value: "paid", text: "paid" },
	{ value: "partner", text: "partner" },
	{ value: "staff", text: "staff" },
];
