import type { AccountService, KeyService, RuleNames } from "../../access/index.ts";

/** The dependencies of these routes. */
export interface AdminAccountDeps {
	readonly accounts: AccountService;
	readonly keys: KeyService;
	/** Names of the endpoints and models to which a key may be restricted. */
	readonly ruleNames: RuleNames;
}

/** Returns the path's account id. */
export function accountIn(params: Readonly<Record<string, string>>): string {
	return params.id ?? "";
}

/** Marks a repeated answer: nothing was done now, it is the first request's under that key. */
export const REPLAYED_HEADER = { "Idempotent-Replayed": "true" } as const;
