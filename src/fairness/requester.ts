/** The header that names a request's tenant to an engine on the loopback interface. */
export const TENANT_HEADER = "x-turnpike-tenant";

/** The requester of a piece of work. */
export interface Requester {
	/** The tenant in whose share the work counts: an account's id, or the network of a caller without an account. */
	readonly tenant: string;
	/** Aborts when the work is no longer needed. */
	readonly signal: AbortSignal;
}
