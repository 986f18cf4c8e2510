/** Tells an engine that listens on the loopback interface whose share a request counts in. */
export const TENANT_HEADER = "x-turnpike-tenant";

/** Who asks for a piece of work. */
export interface Requester {
	/** Whose share the work counts in: an account's id, or the network of a caller without an account. */
	readonly tenant: string;
	/** Aborts when the work is not wanted any more. */
	readonly signal: AbortSignal;
}
