import type { AccountPlace, ActiveSession, ConsoleSessions } from "../../access/index.ts";
import type { AssetStore } from "../../assets/index.ts";
import type { AddressWindows, OperatorReader } from "../../budgets/index.ts";
import type { Catalog } from "../../catalog/index.ts";
import type { RpcCatalog } from "../../catalog/rpc/index.ts";
import type { Config } from "../../config/index.ts";
import type { ReconcileReport } from "../../payments/index.ts";
import type { Clock } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Traffic } from "../../telemetry/traffic.ts";
import type { UpstreamStatus } from "../../upstreams/index.ts";
import type { RpcCacheStats } from "../../upstreams/rpc/cache/cached-upstreams.ts";
import type { RunningRpcUpstreams } from "../../upstreams/rpc/upstreams.ts";

export type { AccountPlace };

/** The dependencies of these routes. */
export interface ConsoleApiDeps {
	readonly sessions: ConsoleSessions;
	/** Returns the session of a request. */
	readonly live: (request: Request) => ActiveSession;
	readonly addresses: AddressWindows;
	readonly reader: OperatorReader;
	readonly clock: Clock;
	readonly log: Log;
	readonly config: () => Config;
	readonly catalog: () => Catalog;
	readonly traffic: Traffic;
	readonly node: { readonly id: string; readonly startedAtMs: number; readonly store: "sqlite" | "postgres" };
	readonly holdsOpen: () => number;
	readonly journal: {
		readonly writtenSeq: number;
		readonly appliedSeq: number;
		readonly backlogBytes: number;
		workRefusal(): { readonly message: string } | null;
	};
	readonly upstreams: { snapshot(): readonly UpstreamStatus[]; ask(name: string): Promise<boolean | null> };
	readonly chains: Pick<RunningRpcUpstreams, "snapshot" | "heads">;
	readonly chainCache: () => RpcCacheStats;
	readonly rpcCatalog: Pick<RpcCatalog, "networks" | "optionalNetworks">;
	/** null: no receiver is configured, so there are no top-ups. */
	readonly reconcile: (() => Promise<ReconcileReport>) | null;
	/** null: this server downloads nothing. */
	readonly assets: AssetStore | null;
	/** Returns the address that callers use. */
	readonly publicUrl: () => string;
}
