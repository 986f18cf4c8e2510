import type { RpcUpstreamConfig } from "../../config/schema.ts";
import type { FairQueue } from "../../fairness/index.ts";
import { CallCounts } from "../call-counts.ts";
import { callSlots, resizeCallSlots } from "../call-slots.ts";
import type { FetchInit } from "../fetch.ts";
import { Health } from "../health.ts";
import type { Member } from "../health-monitor.ts";
import { initFor, lowerCasedNames } from "../node.ts";
import { ACCEPTED_ENCODINGS } from "./body.ts";
import { LearnedLimits } from "./learned-limits.ts";

/** Whether the chain behind an address is the one of the table. `unknown`: it did not answer yet. */
export type ChainState = "unknown" | "right" | "wrong";

/** What is known of one server, whatever settings it stands under. */
export interface ServerState {
	readonly health: Health;
	readonly load: FairQueue;
	readonly learned: LearnedLimits;
	readonly counts: CallCounts;
	chain: ChainState;
	/** Its last fault was that it did not answer at all. */
	silent: boolean;
	/** When it last answered as it should, by the clock. */
	lastGoodMs: number;
	/** The newest block that it has told to have; null: not known. */
	reached: number | null;
}

/** One upstream of a chain. */
export interface RpcMember extends Member {
	readonly network: string;
	readonly url: string;
	/** What may be shown of its address: a path may hold a key. */
	readonly origin: string;
	readonly init: FetchInit;
	readonly headers: Readonly<Record<string, string>>;
	readonly order: number;
	readonly weight: number;
	/** What the operator says that it can; null: not said. */
	readonly capabilities: ReadonlySet<string> | null;
	/** One of a chain definition's public endpoints. */
	readonly isPublic: boolean;
	readonly state: ServerState;
	/** What makes it the same server, and the same under the same settings. */
	readonly server: string;
	readonly settings: string;
}

export interface MemberSettings {
	readonly network: string;
	readonly name: string;
	readonly config: RpcUpstreamConfig;
	readonly isPublic: boolean;
	readonly server: string;
	/** The same server under the settings of before: what is known of it stays. */
	readonly before?: RpcMember | undefined;
}

/** The address with its headers: with another key it is another account, with limits of its own. */
export function serverOf({ url, headers }: RpcUpstreamConfig): string {
	return JSON.stringify([url, headers ?? {}]);
}

export function memberOf({ network, name, config, isPublic, server, before }: MemberSettings): RpcMember {
	const { url, order, weight, capabilities, maxConcurrent = Number.POSITIVE_INFINITY, health } = config;
	const facts = before?.state ?? newServerState();
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
			// On one machine packing costs more than it saves.
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
		health: facts.health,
		load: resizeCallSlots(facts.load, maxConcurrent),
		state: facts,
		server,
		settings: JSON.stringify([name, config, isPublic]),
	};
}

function newServerState(): ServerState {
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
