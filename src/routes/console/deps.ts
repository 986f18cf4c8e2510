import type { AccountPlace, ActiveSession, ConsoleSessions } from "../../access/index.ts";
import type { AssetStore } from "../../assets/index.ts";
import type { AddressWindows, OperatorReader } from "../../budgets/index.ts";
import type { Catalog } from "../../catalog/index.ts";
import type { RpcCatalog } from "../../catalog/rpc/index.ts";
import type { Config } from "../../config/index.ts";
import type { ReconcileReport } from "../../payments/index.ts";
import type { Clock } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import type { UpstreamStatus } from "../../upstreams/index.ts";
import type { RpcCacheStats } from "../../upstreams/rpc/cache/cached-upstreams.ts";
import type { RunningRpcUpstreams } from "../../upstreams/rpc/upstreams.ts";
import type { ServerState } from "./server-state.ts";
import type { LogLevel } from "./types.ts";

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
	/** Returns what the processes of this server have in memory. */
	readonly state: () => Promise<ServerState>;
	/** Sets the log level of the processes of this server. */
	readonly setLogLevel: (level: LogLevel) => Promise<void>;
	readonly node: { readonly id: string; readonly startedAtMs: number; readonly store: "sqlite" | "postgres" };
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
