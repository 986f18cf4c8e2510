import type { Budgets } from "../budgets/port.ts";
import type { Catalog, Characters } from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { Requester } from "../fairness/index.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { Attestations } from "../upstreams/attestation/port.ts";
import type { ChatUpstreams } from "../upstreams/chat/port.ts";
import type { FileDeps } from "./files/read-files.ts";
import type { Receipts } from "./sealed/receipts.ts";
import type { WebDeps } from "./web/index.ts";

/** Returns the faults of a value by a schema; empty if it fits, null if it cannot be checked. */
export type CheckSchema = (
	value: unknown,
	schema: Readonly<Record<string, unknown>>,
	requester: Requester,
) => Promise<readonly string[] | null>;

/** The dependencies of the chat route, handed in once. They are functions where a reload changes the result. */
export interface ChatDeps {
	readonly budgets: Budgets;
	readonly upstreams: ChatUpstreams;
	readonly clock: Clock;
	readonly catalog: () => Catalog;
	readonly characters: () => Characters;
	readonly config: () => Config;
	/** Counts the tokens of a text (o200k_base), within a second of the tenant's turn, whatever the text. */
	readonly countTokens: (text: string, tenant: string) => Promise<number>;
	/** Checks a value against a schema within a second, whatever the schema. */
	readonly checkSchema: CheckSchema;
	/** The keys of servers that accept sealed conversations. */
	readonly attestations: Attestations;
	readonly receipts: Receipts;
	/** Reads files and addresses, and searches, for conversations that use them. */
	readonly web: WebDeps & FileDeps;
}
