import type { Statements } from "../../budgets/index.ts";
import type { Caller } from "../../budgets/port.ts";
import type { TextModel } from "../../catalog/types.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import type { Clock } from "../../telemetry/clock.ts";

/** The dependencies of these routes. */
export interface BillingDeps {
	readonly statements: Statements;
	readonly clock: Clock;
	/** Returns the text models that are listed now. */
	readonly textModels: () => readonly TextModel[];
}

export function callerOf(call: Call): Caller {
	if (call.caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	return call.caller;
}
