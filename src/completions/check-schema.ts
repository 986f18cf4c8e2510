import type { Requester } from "../fairness/index.ts";

/** The faults of a value by a schema; empty where it fits, null where nobody can say. */
export type CheckSchema = (
	value: unknown,
	schema: Readonly<Record<string, unknown>>,
	requester: Requester,
) => Promise<readonly string[] | null>;
