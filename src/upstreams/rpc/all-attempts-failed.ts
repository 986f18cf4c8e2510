import type { RpcFault } from "./faults.ts";

/** The error of a race that ended without an answer. Holds the faults of all attempts, in order. */
export class AllAttemptsFailed extends Error {
	override readonly name = "AllFailed";
	readonly faults: readonly RpcFault[];
	/** True if the time limit ended the race. */
	readonly late: boolean;
	readonly retries: number;
	/** True if an upstream may have accepted the send. */
	readonly mayBeAccepted: boolean;

	constructor(faults: readonly RpcFault[], late: boolean, retries: number, mayBeAccepted: boolean) {
		super("no upstream answered");
		this.faults = faults;
		this.late = late;
		this.retries = retries;
		this.mayBeAccepted = mayBeAccepted;
	}
}
