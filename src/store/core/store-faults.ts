/** Errors that a store throws beside those of its database. */

/** Thrown where the store has fenced the boot: it has lost its leases, and gets none. */
export class FencedError extends Error {
	override readonly name = "FencedError";

	constructor() {
		super("the store ended this node's term");
	}
}

/** Thrown where a statement or connection did not answer in time. */
export class StoreSilentError extends Error {
	override readonly name = "StoreSilentError";
}
