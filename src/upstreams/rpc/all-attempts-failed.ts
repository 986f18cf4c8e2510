import type { RpcFault } from "./faults.ts";

/** What ended a race without an answer: the faults of all tries, in order. */
export class AllAttemptsFailed extends Error {
	override readonly name = "AllFailed";
	readonly faults: readonly RpcFault[];
	/** The time was up. */
	readonly late: boolean;
	readonly retries: number;
	/** A try may have been taken. */
	readonly mayBeTaken: boolean;

	constructor(faults: readonly RpcFault[], late: boolean, retries: number, mayBeTaken: boolean) {
		super("no upstream answered");
		this.faults = faults;
		this.late = late;
		this.retries = retries;
		this.mayBeTaken = mayBeTaken;
	}
}
