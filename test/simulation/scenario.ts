/** What a run is made of: nodes, accounts, load, and what goes wrong. Everything follows from the seed. */

import type { Latency } from "./database.ts";
import type { NodeMutation } from "./node.ts";
import { Random } from "./random.ts";
import type { Limits, Opening, SimulatedStoreOptions } from "./store.ts";

export interface Scenario {
	readonly seed: number;
	readonly nodes: number;
	readonly accounts: number;
	readonly requestsPerSecond: number;
	/** How long requests come. */
	readonly loadMs: number;
	readonly termMs: number;
	readonly maxCallersPerNode: number;
	/** Mean of the time between admission and answer. */
	readonly workMs: number;
	readonly latency: Latency;
	/** Notices that get lost, 0 to 1. */
	readonly noticeLoss: number;
	readonly faults: FaultRates;
	/** The part of all keys that have limits. */
	readonly limitedKeys: number;
	/** Early refusals at most, as a part of all requests. With faults there may be more: a dead node's leases wait for its end. */
	readonly mostEarlyRefusals: number;
	/** Rules left out on purpose, to see that they are missed. */
	readonly broken?: { readonly node?: ReadonlySet<NodeMutation>; readonly books?: NonNullable<SimulatedStoreOptions["broken"]> };
}

/** How often each thing goes wrong, over all nodes, per minute. */
export interface FaultRates {
	readonly kills: number;
	readonly losesDisk: number;
	readonly pauses: number;
	readonly clockSteps: number;
	readonly cuts: number;
	readonly crashes: number;
	readonly replicaFailovers: number;
}

export const NO_FAULTS: FaultRates = {
	kills: 0,
	losesDisk: 0,
	pauses: 0,
	clockSteps: 0,
	cuts: 0,
	crashes: 0,
	replicaFailovers: 0,
};
export const ALL_FAULTS: FaultRates = {
	kills: 3,
	losesDisk: 1,
	pauses: 4,
	clockSteps: 4,
	cuts: 3,
	crashes: 1,
	replicaFailovers: 0,
};
/** Where a failover may lose what was acknowledged, the node must have its disk: two losses at once lose an answer. */
export const FAILOVERS: FaultRates = { ...ALL_FAULTS, losesDisk: 0, crashes: 0, replicaFailovers: 2 };

export type Fault =
	| { readonly kind: "kill"; readonly atMs: number; readonly node: number; readonly keepDisk: boolean; readonly backMs: number }
	| { readonly kind: "pause"; readonly atMs: number; readonly node: number; readonly forMs: number; readonly asleep: boolean }
	| { readonly kind: "step"; readonly atMs: number; readonly node: number; readonly byMs: number }
	| { readonly kind: "cut"; readonly atMs: number; readonly node: number; readonly forMs: number }
	| {
			readonly kind: "failover";
			readonly atMs: number;
			readonly how: "crash" | "replica";
			readonly lostMs: number;
			readonly downMs: number;
	  };

const MINUTE = 60_000;

/** The faults of a run, in the order of time. */
export function plannedFaults(scenario: Scenario, random: Random): Fault[] {
	const { faults, loadMs, nodes, termMs } = scenario;
	const times = (perMinute: number): number[] => {
		const instants: number[] = [];
		if (perMinute === 0) return instants;
		for (let at = random.exponential(MINUTE / perMinute); at < loadMs; at += random.exponential(MINUTE / perMinute))
			instants.push(at);
		return instants;
	};
	const node = (): number => random.integer(nodes);
	const planned: Fault[] = [];
	for (const atMs of times(faults.kills))
		planned.push({ kind: "kill", atMs, node: node(), keepDisk: true, backMs: random.between(200, 2 * termMs) });
	for (const atMs of times(faults.losesDisk))
		planned.push({ kind: "kill", atMs, node: node(), keepDisk: false, backMs: random.between(200, 2 * termMs) });
	for (const atMs of times(faults.pauses))
		planned.push({ kind: "pause", atMs, node: node(), forMs: random.between(100, 2.5 * termMs), asleep: random.chance(0.3) });
	for (const atMs of times(faults.clockSteps)) {
		const byMs = random.between(100, random.chance(0.5) ? 5_000 : 7_200_000) * (random.chance(0.5) ? 1 : -1);
		planned.push({ kind: "step", atMs, node: node(), byMs: Math.round(byMs) });
	}
	for (const atMs of times(faults.cuts))
		planned.push({ kind: "cut", atMs, node: node(), forMs: random.between(500, 2 * termMs) });
	for (const atMs of times(faults.crashes))
		planned.push({ kind: "failover", atMs, how: "crash", lostMs: random.between(1, 600), downMs: random.between(300, 15_000) });
	for (const atMs of times(faults.replicaFailovers))
		planned.push({
			kind: "failover",
			atMs,
			how: "replica",
			lostMs: random.between(1, 1_500),
			downMs: random.between(300, 15_000),
		});
	return planned.sort((a, b) => a.atMs - b.atMs);
}

/** The account of a request: log-uniform over the ranks, so the first of a million has 5 % of all requests. */
export function accountRank(random: Random, accounts: number): number {
	return Math.min(accounts - 1, Math.floor(accounts ** random.unit()) - 1);
}

const USD = 1_000_000_000;
/** A usual worst case; the real price is a twelfth of it on average. */
export const USUAL_HOLD = USD / 100;

/** What an account opens with: rich ones, poor ones of a few holds, some with a daily allowance. From its rank alone. */
export function openingOf(rank: number, seed: number): Opening {
	const random = new Random(seed ^ Math.imul(rank + 1, 0x9e3779b1));
	const usd = random.chance(0.5) ? random.between(1, 40) * USUAL_HOLD : random.between(100, 100_000) * USUAL_HOLD;
	return {
		usd: Math.round(usd),
		bundled: random.chance(0.2) ? Math.round(random.between(1, 60) * USUAL_HOLD) : 0,
		stakeDiem: random.chance(0.2) ? Math.round(random.between(10, 100) * USUAL_HOLD) : 0,
	};
}

/** The limits of an account's key, from its rank alone: some have room for two usual holds, some for sixty. */
export function limitsOf(rank: number, { seed, limitedKeys }: Pick<Scenario, "seed" | "limitedKeys">): Limits {
	const random = new Random(seed ^ Math.imul(rank + 1, 0x85ebca6b));
	if (random.chance(1 - limitedKeys)) return { usd: null, diem: null, period: "EPOCH" };
	const period = (["EPOCH", "MONTH", "LIFETIME"] as const)[random.integer(3)] ?? "EPOCH";
	const limit = (): string => ((2 * 30 ** random.unit() * USUAL_HOLD) / USD).toFixed(9);
	return { usd: limit(), diem: random.chance(0.25) ? limit() : null, period };
}

export const USUAL_LATENCY: Latency = { leastMs: 0.1, meanMs: 0.4, slowShare: 0.01, slowMs: 20 };
