import type { AccountDesk, KeyDesk, RuleNames } from "../../access/index.ts";

/** What these routes work with. */
export interface AdminAccountParts {
	readonly accounts: AccountDesk;
	readonly keys: KeyDesk;
	/** What a key may be restricted to. */
	readonly ruleNames: RuleNames;
}

/** The path's account id. */
export function accountIn(params: Readonly<Record<string, string>>): string {
	return params.id ?? "";
}

/** Says that nothing was done now: the answer is that of the first request under the key. */
export const REPLAYED_HEADER = { "Idempotent-Replayed": "true" } as const;
