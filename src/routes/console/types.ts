/**
 * The types of the console's API (docs/console-api.md), which its pages import. Amounts are decimal text in USD or diem
 * with 4 to 9 places, instants ISO 8601 in UTC, days `2026-11-28` in UTC.
 */

import type { Account } from "./account-types.ts";
import type { Amount, Day, Instant } from "./value-types.ts";

export type * from "./account-types.ts";

/** A page of a list, newest first. `nextCursor: null`: the last one. */
export interface Page<T> {
	readonly object: "list";
	readonly data: readonly T[];
	readonly nextCursor: string | null;
}

/** The body of every error. */
export interface Refusal {
	readonly error: string;
	readonly code: string;
	readonly details?: Readonly<Record<string, unknown>>;
	readonly issues?: readonly { readonly path: readonly (string | number)[]; readonly code: string; readonly message: string }[];
}

/** POST and GET /session. */
export interface Session {
	readonly account: { readonly id: string; readonly name: string };
	readonly key: { readonly id: string; readonly last6Chars: string; readonly description: string };
	/** Extended while the session is used. */
	readonly expiresAt: Instant;
	/** The header X-CSRF-Token of every request that is not GET or HEAD. */
	readonly csrfToken: string;
	readonly version: string;
	readonly build: string;
	/** The address of the API as callers should write it, without /api/v1. */
	readonly publicUrl: string;
}

export interface Percentiles {
	readonly p50: number;
	readonly p95: number;
	readonly p99: number;
}

/** Requests to this node in a span of time. */
export interface Traffic {
	readonly requests: number;
	/** Number of answers with a 4xx. */
	readonly refused: number;
	/** Number of answers with a 5xx. */
	readonly errors: number;
	/** Milliseconds to the answer's headers, exact to about 10 %; null if there was no request. */
	readonly latencyMs: Percentiles | null;
}

export interface TrafficSlot extends Traffic {
	/** The start of the slot. */
	readonly at: Instant;
}

/** Sums of charges. */
export interface Charges {
	readonly usd: Amount;
	readonly bundled: Amount;
	readonly diem: Amount;
	/** Charges that the customer's money did not cover; the operator bears them. */
	readonly overrun: Amount;
}

export interface OverviewDay extends Charges {
	readonly day: Day;
	/** Metered requests posted on that day. */
	readonly requests: number;
}

/** GET /overview */
export interface Overview {
	readonly node: {
		readonly id: string;
		readonly startedAt: Instant;
		readonly store: "sqlite" | "postgres";
		readonly logLevel: LogLevel;
		readonly rssBytes: number;
	};
	/** The last five minutes of this server. */
	readonly now: Traffic & { readonly perSecond: number; readonly running: number };
	/** The last 60 minutes of this server, oldest first. */
	readonly minutes: readonly TrafficSlot[];
	/** The last 72 hours of this server, as far as it runs, oldest first. */
	readonly hours: readonly TrafficSlot[];
	/**
	 * Sums of all nodes from the store, oldest first, without gaps; the last one is today. They are at most half a minute
	 * old.
	 */
	readonly days: readonly OverviewDay[];
	readonly journal: {
		readonly writtenSeq: number;
		readonly appliedSeq: number;
		readonly backlogBytes: number;
		/** Why no metered request is accepted now; null if they are. */
		readonly full: string | null;
	};
	readonly upstreams: { readonly up: number; readonly trial: number; readonly out: number };
	readonly books: AuditState;
}

/** GET /models: the models in the catalog now. */
export interface ModelRow extends Traffic {
	readonly id: string;
	readonly name: string;
	readonly type: string;
	readonly online: boolean;
	readonly traits: readonly string[];
	/** The upstreams of its requests. */
	readonly targets: readonly {
		readonly upstream: string;
		readonly model: string;
		readonly weight: number;
		readonly order: number;
	}[];
}
export interface Models {
	readonly models: readonly ModelRow[];
	/** The span of the traffic of each model. */
	readonly windowSeconds: number;
}

/** GET /upstreams */
export interface UpstreamRow extends Traffic {
	readonly name: string;
	/** The address without credentials, query and anchor; null: the engine in this server. */
	readonly url: string | null;
	readonly state: "up" | "out" | "trial";
	/** True if it requested a pause. */
	readonly busy: boolean;
	readonly running: number;
	readonly maxConcurrent: number | null;
	readonly consecutiveFaults: number;
	/** Number of ejections since the start. */
	readonly ejections: number;
	readonly lastFault: string | null;
	/** Models that it serves. */
	readonly models: readonly string[];
}
export interface Upstreams {
	readonly upstreams: readonly UpstreamRow[];
	readonly windowSeconds: number;
}
/** POST /upstreams/{name}/probe */
export interface ProbeResult {
	readonly name: string;
	readonly alive: boolean;
	readonly tookMs: number;
	readonly state: "up" | "out" | "trial";
}

/** The columns by which the usage explorer groups rows. */
export type UsageBy = "day" | "model" | "key" | "account";
export interface UsageRow extends Charges {
	/** Present if `by` names it. */
	readonly day?: Day;
	/** A model, or another service (`crypto-rpc-<network>`). */
	readonly model?: string;
	/** `id: null`: used without a key, by a wallet. */
	readonly key?: { readonly id: string | null; readonly description: string; readonly last6Chars: string };
	readonly account?: { readonly id: string; readonly name: string };
	/** Amounts used, by unit: `input tokens`, `output tokens`, `images`, `characters`, `milliseconds`, `credits`, ... */
	readonly units: Readonly<Record<string, number>>;
}
/** GET /usage */
export interface UsageReport {
	readonly from: Day;
	readonly to: Day;
	readonly by: readonly UsageBy[];
	/** Rows by day from the oldest, else the most expensive first. */
	readonly rows: readonly UsageRow[];
	readonly total: Charges;
	/** True if rows were left out. */
	readonly truncated: boolean;
}

/** GET /margin */
export interface MarginReport {
	readonly from: Day;
	readonly to: Day;
	/** Highest sales first. */
	readonly models: readonly MarginRow[];
	/** Sales are the sum of cost, margin, and sales without a cost. */
	readonly total: {
		readonly soldUsd: Amount;
		readonly overrunUsd: Amount;
		readonly costUsd: Amount;
		readonly marginUsd: string;
		readonly soldWithoutCostUsd: Amount;
	};
}
export interface MarginRow {
	readonly model: string;
	/** USD, bundled credit and diem together. */
	readonly soldUsd: Amount;
	readonly overrunUsd: Amount;
	/** The cost as configured now; null if none of its skus has a cost. */
	readonly costUsd: Amount | null;
	/** Sales without a known cost: no margin includes them. */
	readonly soldWithoutCostUsd: Amount;
	/** May begin with a minus. */
	readonly marginUsd: string | null;
	/** Percent of sales; null without sales or cost. */
	readonly marginPercent: number | null;
}

/** GET /networks */
export interface Networks {
	readonly networks: readonly NetworkRow[];
	readonly cache: {
		readonly hits: number;
		readonly misses: number;
		readonly shared: number;
		readonly entries: number;
		readonly bytes: number;
		/** 0 to 1; null before the first call. */
		readonly hitRatio: number | null;
	};
}
export interface NetworkRow {
	readonly network: string;
	readonly name: string;
	readonly online: boolean;
	/** The newest block that an upstream reported. */
	readonly head: number | null;
	readonly finalBlock: number | null;
	/** Credits that all accounts used today (UTC). */
	readonly creditsToday: number;
	readonly upstreams: readonly NetworkUpstream[];
}
export interface NetworkUpstream {
	readonly name: string;
	/** The origin alone, since the path and headers may hold a key. */
	readonly origin: string;
	readonly chain: string;
	readonly state: "up" | "out" | "trial";
	readonly busy: boolean;
	readonly running: number;
	readonly maxConcurrent: number | null;
	readonly consecutiveFaults: number;
	readonly lastFault: string | null;
	readonly isPublic: boolean;
	readonly reached: number | null;
	/** Blocks behind `head`. */
	readonly lag: number | null;
}

/** GET /requests/{X-Request-ID} */
export interface RequestDetail {
	readonly requestId: string;
	readonly account: { readonly id: string; readonly name: string };
	readonly keyId: string | null;
	readonly route: string;
	readonly model: string | null;
	readonly upstream: string | null;
	readonly status: number;
	readonly admittedAt: Instant;
	readonly bookedAt: Instant;
	readonly tookMs: number;
	readonly hold: Amount;
	readonly price: Amount;
	readonly refunded: Amount;
	readonly usage: {
		readonly promptTokens: number;
		readonly completionTokens: number;
		readonly cachedTokens: number;
		readonly cacheWriteTokens: number;
		readonly reasoningTokens: number;
		/** True if tokens were counted here, since the upstream reported none. */
		readonly counted: boolean;
	} | null;
	readonly lines: readonly {
		readonly sku: string;
		readonly units: number;
		readonly unitType: string;
		readonly pricePerUnitUsd: string;
		/** `113 tokens at 2 USD a million = 0.000226 USD` */
		readonly text: string;
		readonly amount: Amount;
		readonly source: "usd" | "bundled" | "diem" | "overrun";
	}[];
}

/** GET /sends */
export interface SendRow {
	readonly requestId: string;
	readonly item: number;
	readonly accountId: string;
	readonly keyId: string | null;
	readonly network: string;
	readonly method: string;
	readonly rawHash: string | null;
	readonly transactionHash: string | null;
	readonly sentAt: Instant;
	/** `accepted`, or the error's code; null: unknown, or under way. */
	readonly outcome: string | null;
	readonly endedAt: Instant | null;
}

/** GET /refusals: requests that a limit refused. */
export interface RefusalRow {
	readonly at: Instant;
	readonly account: { readonly id: string; readonly name: string };
	readonly keyId: string;
	/** The model, or the endpoint where the limit is not a model's. */
	readonly modelId: string;
	readonly tier: Account["tier"];
	readonly kind: "RPD" | "RPM" | "TPM" | "FAILED_REQUESTS" | "UNSUPPORTED_FEATURE_REQUESTS";
}

/** GET /wallets */
export interface WalletRow {
	readonly accountId: string;
	/** `eip155:8453:0x...` or `solana:...` */
	readonly identity: string;
	readonly disabled: boolean;
	readonly balanceUsd: Amount;
	readonly toppedUpUsd: Amount;
	readonly topUps: number;
	readonly createdAt: Instant;
}
export type TopUpState = "settling" | "unknown" | "credited" | "failed";
/** GET /top-ups */
export interface TopUpRow {
	readonly id: string;
	readonly state: TopUpState;
	readonly network: string;
	readonly payer: string;
	readonly amountUsd: Amount;
	readonly transaction: string | null;
	readonly reason: string | null;
	readonly accountId: string | null;
	readonly createdAt: Instant;
	readonly endedAt: Instant | null;
}

/** Work that continues after its start was answered. */
export interface Task<Report> {
	readonly state: "never" | "running" | "done" | "failed";
	readonly startedAt: Instant | null;
	readonly endedAt: Instant | null;
	/** The report of the last completed run. */
	readonly report: Report | null;
	/** Why the last run failed. */
	readonly error: string | null;
}
/** GET and POST /reconcile */
export type Reconciliation = Task<{
	readonly checked: Readonly<Record<TopUpState, number>>;
	/** Credited amounts by network. */
	readonly creditedUsd: Readonly<Record<string, Amount>>;
	readonly discrepancies: readonly {
		readonly paymentId: string;
		readonly network: string;
		readonly payer: string;
		readonly state: TopUpState;
		readonly finding: string;
		readonly transaction: string | null;
	}[];
}>;
/** GET and POST /books */
export type AuditState = Task<{
	readonly ok: boolean;
	readonly accounts: number;
	readonly posts: number;
	readonly movements: number;
	readonly truncated: boolean;
	readonly findings: readonly {
		readonly check: string;
		readonly message: string;
		readonly numbers: Readonly<Record<string, string | null>>;
	}[];
}>;

/** GET /assets */
export interface AssetRow {
	readonly name: string;
	readonly group: string | null;
	readonly licence: string;
	readonly state: "absent" | "fetching" | "ready" | "failed";
	readonly receivedBytes: number;
	readonly totalBytes: number;
	readonly error: string | null;
}
export interface Assets {
	readonly assets: readonly AssetRow[];
}

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
/** GET /settings */
export interface Settings {
	/** The configuration as loaded, with defaults; a secret is the text `(hidden)`. */
	readonly config: Readonly<Record<string, unknown>>;
	/** This node's current level. */
	readonly logLevel: LogLevel;
}
