import type { KeyService, RuleNames, Web3KeyService } from "../../access/index.ts";
import type { AddressWindows, ExceededLimits } from "../../budgets/index.ts";
import type { Caller } from "../../budgets/port.ts";
import type { TextModel } from "../../catalog/types.ts";
import type { Config } from "../../config/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";

/** The dependencies of these routes. */
export interface ApiKeyDeps {
	readonly keys: KeyService;
	readonly web3Keys: Web3KeyService;
	/** Minute windows of callers without a credential. */
	readonly addresses: AddressWindows;
	/** Names of the endpoints and models to which a key may be restricted. */
	readonly ruleNames: RuleNames;
	/** Returns the text models that are listed now. */
	readonly textModels: () => readonly TextModel[];
	readonly limits: () => Config["limits"];
	readonly exceededLimits: ExceededLimits;
}

export function callerOf(call: Call): Caller {
	if (call.caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	return call.caller;
}
