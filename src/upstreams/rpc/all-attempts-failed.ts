import type { RpcFault } from "./faults.ts";

/** Thrown where a race ended without an answer: the faults of all attempts, in order. */
export class AllAttemptsFailed extends Error {
	override readonly name = "AllFailed";
	readonly faults: readonly RpcFault[];
	/** True where the time was up. */
	readonly late: boolean;
	readonly retries: number;
	/** True where an attempt may have been accepted. */
	readonly mayBeTaken: boolean;

	constructor(faults: readonly RpcFault[], late: boolean, retries: number, mayBeTaken: boolean) {
		super("no upstream answered");
		this.faults = faults;
		this.late = late;
		this.retries = retries;
		this.mayBeTaken = mayBeTaken;
	}
}
