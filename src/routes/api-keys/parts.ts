import type { KeyDesk } from "../../access/index.ts";
import type { Caller } from "../../budgets/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";

/** What these routes work with. */
export interface ApiKeyParts {
	readonly keys: KeyDesk;
	/** Names of all endpoints: what a key may be restricted to. */
	readonly endpointNames: () => ReadonlySet<string>;
	/** `limits.keyCreationsPerMinute`. */
	readonly creationsPerMinute: () => number;
}

export function callerOf(call: Call): Caller {
	if (call.caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	return call.caller;
}
