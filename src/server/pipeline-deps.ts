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

/** The dependencies of the pipeline. */
export interface PipelineDeps {
	readonly budgets: Budgets;
	readonly clock: Clock;
	readonly log: Log;
	/** Returns why no new metered work may be accepted; null if it may. */
	readonly workRefusal: () => WorkRefusal | null;
	readonly bodyMemory: BodyMemory;
	/** The places of requests under way (`server.maxRunning`). */
	readonly places: Places;
	/** How wallets authenticate and pay; null if they cannot. */
	readonly wallets: WalletAuth | null;
	/** The log of requests that a limit refused. */
	readonly exceededLimits: { note(entry: ExceededLimit): void };
	/** Counts answers for the operator's console; left out: nothing is counted. */
	readonly traffic?: Traffic;
	/** Counts requests for /metrics; left out: nothing is counted, traced or logged of them. */
	readonly counts?: RequestCounts;
	/** Writes traces; null: nothing does. */
	readonly tracer?: () => Tracer | null;
	/** Returns the settings. It is called for each request, since a reload changes them. */
	readonly settings: () => PipelineSettings;
}

export interface PipelineSettings extends RespondSettings {
	readonly upload: UploadLimits;
	readonly listRequestsPerMinute: number;
	/** Names of the endpoints that currently accept callers without a credential (`models.public`). */
	readonly publicEndpoints: ReadonlySet<string>;
	/** True: the log gets one line for each request (`log.requests`). */
	readonly logRequests?: boolean;
}
