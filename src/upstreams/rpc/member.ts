import type { RpcUpstreamConfig } from "../../config/schema.ts";
import type { FairQueue } from "../../fairness/index.ts";
import { CallCounts } from "../call-counts.ts";
import { callSlots, resizeCallSlots } from "../call-slots.ts";
import type { FetchInit } from "../fetch.ts";
import { Health } from "../health.ts";
import type { Member } from "../health-monitor.ts";
import { initFor, lowerCasedNames } from "../upstream-server.ts";
import { ACCEPTED_ENCODINGS } from "./body.ts";
import { LearnedLimits } from "./learned-limits.ts";

/** Whether the chain at an address is the configured one. `unknown`: the server has not answered yet. */
export type ChainState = "unknown" | "right" | "wrong";

/** The state of one server, which outlives changes of its settings. */
export interface ServerState {
	readonly health: Health;
	readonly load: FairQueue;
	readonly learned: LearnedLimits;
	readonly counts: CallCounts;
	chain: ChainState;
	/** True if the last fault was a missing answer. */
	silent: boolean;
	/** When the server last answered correctly, on the monotonic clock. */
	lastGoodMs: number;
	/** The newest block that the server has reported; null if unknown. */
	reached: number | null;
}

/** One upstream of a chain. */
export interface RpcMember extends Member {
	readonly network: string;
	readonly url: string;
	/** The part of the address that may be shown. A path may contain a key. */
	readonly origin: string;
	readonly init: FetchInit;
	readonly headers: Readonly<Record<string, string>>;
	readonly order: number;
	readonly weight: number;
	/** The capabilities that the operator configured; null if none are configured. */
	readonly capabilities: ReadonlySet<string> | null;
	/** True for a public endpoint of a chain definition. */
	readonly isPublic: boolean;
	readonly state: ServerState;
	/** Two strings that identify the same server, and the same server with the same settings. */
	readonly server: string;
	readonly settings: string;
}

export interface MemberSettings {
	readonly network: string;
	readonly name: string;
	readonly config: RpcUpstreamConfig;
	readonly isPublic: boolean;
	readonly server: string;
	/** The same server under the previous settings. Its state is kept. */
	readonly before?: RpcMember | undefined;
}

/**
 * Returns the identity of a server: its address with its headers. Another key is another account, with limits of its
 * own.
 */
export function serverOf({ url, headers }: RpcUpstreamConfig): string {
	return JSON.stringify([url, headers ?? {}]);
}

export function memberOf({ network, name, config, isPublic, server, before }: MemberSettings): RpcMember {
	const { url, order, weight, capabilities, maxConcurrent = Number.POSITIVE_INFINITY, health } = config;
	const state = before?.state ?? createServerState();
	const init = initFor(url);
	return {
		network,
		name,
		url,
		origin: new URL(url).origin,
		init: { ...init, method: "POST", decompress: false },
		headers: {
			"content-type": "application/json",
			accept: "application/json",
			// On the same machine compression costs more than it saves.
			"accept-encoding": init.proxy === false ? "identity" : ACCEPTED_ENCODINGS,
			"user-agent": "turnpike",
			...lowerCasedNames(config.headers ?? {}),
		},
		order,
		weight,
		capabilities: capabilities === undefined ? null : new Set(capabilities),
		isPublic,
		maxConcurrent,
		failures: health.failures,
		probeEveryMs: health.probeEveryMs,
		health: state.health,
		load: resizeCallSlots(state.load, maxConcurrent),
		state,
		server,
		settings: JSON.stringify([name, config, isPublic]),
	};
}

function createServerState(): ServerState {
	return {
		health: new Health(),
		load: callSlots(Number.POSITIVE_INFINITY),
		learned: new LearnedLimits(),
		counts: new CallCounts(),
		chain: "unknown",
		silent: false,
		lastGoodMs: Number.NEGATIVE_INFINITY,
		reached: null,
	};
}
