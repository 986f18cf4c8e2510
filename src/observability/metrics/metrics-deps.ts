import type { EngineCounts } from "../../engines/engine-records.ts";
import type { Journal } from "../../journal/records.ts";
import type { RequestCounts } from "../../telemetry/request-counts.ts";
import type { WorkerPeers } from "../../telemetry/worker-peers.ts";
import type { CallCounts } from "../../upstreams/call-counts.ts";
import type { UpstreamStatus } from "../../upstreams/index.ts";
import type { RpcCacheStats } from "../../upstreams/rpc/cache/cached-upstreams.ts";
import type { RpcNetworkStatus } from "../../upstreams/rpc/upstreams.ts";
import type { LoopLag } from "./loop-lag.ts";

/** Counts that the modules keep anyway, read at each scrape. */
export interface MetricsDeps {
	/** `metrics.token`: a caller who presents it may read from anywhere; without a token only this machine may read. */
	readonly token: () => string | undefined;
	readonly version: string;
	/** The other workers of this server; null where it has none. */
	readonly peers: WorkerPeers | null;
	readonly counts: RequestCounts;
	readonly holdsOpen: () => number;
	readonly bodyMemory: { readonly used: number; readonly limit: number };
	readonly journal: Pick<Journal, "writtenSeq" | "appliedSeq" | "backlogBytes" | "syncSeconds" | "termLeftMs" | "workRefusal">;
	readonly node: { readonly epoch: number };
	/** Returns how often the store ended this node's leases. */
	readonly leasesEnded: () => number;
	readonly chainCache: () => RpcCacheStats;
	readonly chains: () => readonly RpcNetworkStatus[];
	/** Returns the newest final block of a network; null if it is not known. */
	readonly finalBlock: (network: string) => number | null;
	readonly upstreams: () => readonly UpstreamStatus[];
	readonly upstreamCounts: () => ReadonlyMap<string, CallCounts>;
	readonly engines: () => Promise<readonly EngineCounts[]>;
	readonly alerts: () => { readonly firing: number; readonly waiting: number; readonly sent: number; readonly failed: number };
	readonly spans: () => { readonly sent: number; readonly dropped: number };
	readonly lag: LoopLag;
}
