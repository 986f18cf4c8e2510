import type { Requester } from "../fairness/index.ts";

/** Returns the faults of a value by a schema; empty if it fits, null if it cannot be checked. */
export type CheckSchema = (
	value: unknown,
	schema: Readonly<Record<string, unknown>>,
	requester: Requester,
) => Promise<readonly string[] | null>;
