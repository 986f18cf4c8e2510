import type { Budgets } from "../budgets/port.ts";
import type { Places } from "../fairness/index.ts";
import type { WorkRefusal } from "../journal/records.ts";
import type { ExceededLimit } from "../store/admin/exceeded-limits.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { RequestCounts } from "../telemetry/request-counts.ts";
import type { Tracer } from "../telemetry/tracing/port.ts";
import type { Traffic } from "../telemetry/traffic.ts";
import type { BodyMemory, UploadLimits } from "./read-body.ts";
import type { RespondSettings } from "./respond.ts";
import type { WalletAuth } from "./wallet-auth.ts";

/** What the pipeline works with: handed in once. */
export interface PipelineDeps {
	readonly budgets: Budgets;
	readonly clock: Clock;
	readonly log: Log;
	/** Why no new metered work may be taken; null where it may. */
	readonly workRefusal: () => WorkRefusal | null;
	readonly bodyMemory: BodyMemory;
	/** Requests under way (`server.maxRunning`). */
	readonly places: Places;
	/** How wallets come in; null where none do. */
	readonly wallets: WalletAuth | null;
	/** The log of requests that a limit refused. */
	readonly exceededLimits: { note(entry: ExceededLimit): void };
	/** Counts what is answered, for the operator's eyes; left out: nothing is counted. */
	readonly traffic?: Traffic;
	/** What requests come to, for /metrics; left out: nothing is counted, traced or written of them. */
	readonly counts?: RequestCounts;
	/** Writes traces; null: nothing does. */
	readonly tracer?: () => Tracer | null;
	/** Read for each request: a reload changes them. */
	readonly settings: () => PipelineSettings;
}

export interface PipelineSettings extends RespondSettings {
	readonly upload: UploadLimits;
	readonly listRequestsPerMinute: number;
	/** Endpoints by name that take callers without a credential now (`models.public`). */
	readonly publicEndpoints: ReadonlySet<string>;
	/** One line for each request in the log (`log.requests`). */
	readonly logRequests?: boolean;
}
