import type { AccountService, KeyService, RuleNames } from "../../access/index.ts";

/** What these routes work with. */
export interface AdminAccountDeps {
	readonly accounts: AccountService;
	readonly keys: KeyService;
	/** What a key may be restricted to. */
	readonly ruleNames: RuleNames;
}

/** The path's account id. */
export function accountIn(params: Readonly<Record<string, string>>): string {
	return params.id ?? "";
}

/** Says that nothing was done now: the answer is that of the first request under the key. */
export const REPLAYED_HEADER = { "Idempotent-Replayed": "true" } as const;
