import type { RpcNetwork } from "../../catalog/rpc/types.ts";
import type { Log } from "../../telemetry/log.ts";
import type { TimerClock } from "../../telemetry/timer-clock.ts";
import { HealthMonitor } from "../health-monitor.ts";
import { calledBlock } from "./cache/called-block.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { RpcFault } from "./faults.ts";
import type { RpcFinality } from "./head-port.ts";
import { HedgeBudget, LatencyQuantile } from "./latency.ts";
import type { RpcMember } from "./member.ts";
import { NetworkHeads, type ReportedHeads } from "./network-heads.ts";
import type { RpcItem } from "./port.ts";

/** A member that is this many blocks behind the best one is tried last. */
const LAGGING_BLOCKS = 5;
/** Number of blocks whose state a node without an archive has. */
const KEPT_STATES = 128;
/** A member on another chain is checked again after this many of its probe periods, because an operator may fix it. */
const WRONG_CHAIN_PERIODS = 12;

/** Kinds of calls with separate latencies. A time that is slow for one kind is normal for another. */
export type CallKind = "read" | "logs" | "slow" | "batch";

export interface NetworkDeps {
	readonly clock: TimerClock;
	readonly log: Log;
	readonly probe: (member: RpcMember, network: RpcNetwork) => Promise<ChainCheck>;
	readonly random: () => number;
	readonly hedgePercent: number;
	readonly readHeads: (
		member: RpcMember,
		network: RpcNetwork,
		toAskAgain: (finalized: number) => number | null,
	) => Promise<ReportedHeads>;
	/** The listeners for final blocks. */
	readonly finalityListeners: ReadonlySet<FinalityListener>;
}

export type FinalityListener = (network: string, finality: RpcFinality | null) => void;

/** A call that waits for a member's answer. It is notified when the member is ejected, so that it can stop waiting. */
export interface WaitingCall {
	onEjected(member: RpcMember): void;
}

/**
 * The upstreams of one chain and their health. Decides which is tried first, and which is left out. A member of another
 * chain is never used. Ejected members are left out only while another member is healthy.
 */
export class NetworkPool {
	readonly network: RpcNetwork;
	readonly monitor: HealthMonitor<RpcMember>;
	readonly hedges: HedgeBudget;
	readonly waiting = new Set<WaitingCall>();
	readonly heads: NetworkHeads;
	readonly #deps: NetworkDeps;
	readonly #paces: Record<CallKind, LatencyQuantile> = {
		read: new LatencyQuantile(),
		logs: new LatencyQuantile(),
		slow: new LatencyQuantile(),
		batch: new LatencyQuantile(),
	};
	readonly #rechecks = new Map<RpcMember, () => void>();
	#members: readonly RpcMember[] = [];
	#firstChecks: Promise<unknown> = Promise.resolve();
	#closed = false;

	constructor(network: RpcNetwork, deps: NetworkDeps) {
		this.network = network;
		this.#deps = deps;
		this.hedges = new HedgeBudget(deps.hedgePercent);
		const { clock, finalityListeners } = deps;
		this.heads = new NetworkHeads({
			clock,
			members: () => this.#members.filter(({ state, health }) => state.chain === "right" && health.state !== "out"),
			ask: (member, toAskAgain) => deps.readHeads(member, network, toAskAgain),
			onFinality: (finality) => {
				for (const listener of [...finalityListeners]) listener(network.slug, finality);
			},
			isNeeded: () => finalityListeners.size > 0 || this.#members.length > 1,
		});
		this.monitor = new HealthMonitor<RpcMember>({
			clock: deps.clock,
			probe: (member) => this.#probe(member),
			onChange: (member) => this.#onHealthChanged(member),
			// Calls that began before a reload report on the same server.
			isCurrent: ({ state }) => !this.#closed && this.#members.some((member) => member.state === state),
		});
	}

	get members(): readonly RpcMember[] {
		return this.#members;
	}

	/** Resolves when every member has been asked once for its chain. */
	get checked(): Promise<unknown> {
		return this.#firstChecks;
	}

	/** Replaces the members. Running calls keep theirs. */
	replace(members: readonly RpcMember[]): void {
		const before = new Set(this.#members);
		this.#members = members;
		this.monitor.retainOnly();
		for (const [member, stop] of this.#rechecks) {
			if (members.includes(member)) continue;
			stop();
			this.#rechecks.delete(member);
		}
		const fresh: Promise<unknown>[] = [];
		for (const member of members) {
			if (before.has(member)) continue;
			if (member.state.chain === "unknown" && member.health.state === "up") fresh.push(this.#firstCheck(member));
			else if (member.state.chain === "wrong") this.#recheckLater(member);
			else this.monitor.startProbing(member);
		}
		this.#firstChecks = Promise.all([this.#firstChecks, ...fresh]);
	}

	/** Returns true if a member serves this chain and is not ejected. */
	get isOnline(): boolean {
		return this.#members.some(({ state, health }) => state.chain === "right" && health.state !== "out");
	}

	latency(kind: CallKind): LatencyQuantile {
		return this.#paces[kind];
	}

	/** Returns the usable members in the order in which to try them. */
	order(): RpcMember[] {
		const [only, second] = this.#members;
		if (only !== undefined && second === undefined) return only.state.chain === "right" ? [only] : [];
		const nowMs = this.#deps.clock.monotonicMs();
		const best = this.#bestHead();
		const places = this.#members
			.filter(({ state }) => state.chain === "right")
			.map((member) => ({
				member,
				out: Number(!isUsable(member)),
				late: Number(best !== null && member.state.reached !== null && best - member.state.reached >= LAGGING_BLOCKS),
				busy: Number(member.health.isBusy(nowMs)),
				place: -Math.log(1 - this.#deps.random()) / member.weight,
			}));
		const inUse = places.filter(({ out }) => out === 0);
		if (inUse.length === 0) {
			// All members are ejected, so all are tried. Those that would keep a call waiting go last.
			places.sort((a, b) => Number(a.member.state.silent) - Number(b.member.state.silent) || a.place - b.place);
			return places.map(({ member }) => member);
		}
		inUse.sort((a, b) => a.late - b.late || a.busy - b.busy || a.member.order - b.member.order || a.place - b.place);
		return inUse.map(({ member }) => member);
	}

	/**
	 * Returns the members that can run the item, in their order. The operator's settings count first, then the learned
	 * limits. Members that seem to lack the method go last, because that may be outdated. Never empty if `members` is
	 * not.
	 */
	able(members: readonly RpcMember[], item: RpcItem): readonly RpcMember[] {
		if (members.length < 2) return members;
		const { name, capability } = item.method;
		const can = capability === null ? members : membersWith(members, capability);
		const known = this.#isOld(members, item) ? membersWith(can, "archive") : can;
		const nowMs = this.#deps.clock.monotonicMs();
		if (!known.some(({ state }) => state.learned.lacksMethod(name, nowMs))) return known;
		const isMissing = (member: RpcMember) => Number(member.state.learned.lacksMethod(name, nowMs));
		return known.toSorted((a, b) => isMissing(a) - isMissing(b));
	}

	/** Returns true if only some members have the state of the block that the item reads. */
	#isOld(members: readonly RpcMember[], { method, params }: RpcItem): boolean {
		if (!members.some(({ capabilities }) => capabilities !== null && !capabilities.has("archive"))) return false;
		const best = this.#bestHead();
		const block = best === null ? null : calledBlock(method, params);
		return best !== null && block !== null && block < best - KEPT_STATES;
	}

	reportSuccess(member: RpcMember): void {
		member.state.lastGoodMs = this.#deps.clock.monotonicMs();
		member.state.silent = false;
		this.monitor.reportSuccess(member);
	}

	reportFailure(member: RpcMember, fault: RpcFault): void {
		if (fault.isFault) member.state.silent = fault.kind === "timeout";
		this.monitor.reportFailure(member, fault);
	}

	close(): void {
		this.#closed = true;
		this.monitor.close();
		this.heads.close();
		for (const stop of this.#rechecks.values()) stop();
		this.#rechecks.clear();
	}

	#bestHead(): number | null {
		let best: number | null = null;
		for (const { state, health } of this.#members)
			if (state.reached !== null && health.state !== "out" && (best === null || state.reached > best)) best = state.reached;
		return best;
	}

	/** Checks a member at the start. A member that does not answer is not used before a good probe. */
	async #firstCheck(member: RpcMember): Promise<void> {
		if (await this.#probe(member)) this.#onHealthChanged(member);
		else if (member.state.chain === "unknown") {
			member.health.reportFault("not reached at the start", 1);
			this.#onHealthChanged(member);
			this.monitor.startProbing(member);
		}
	}

	/** Probes a member. Returns true if it answers and serves this chain. */
	async #probe(member: RpcMember): Promise<boolean> {
		const check = await this.#deps.probe(member, this.network);
		if (this.#closed || check.kind === "silent") return false;
		const was = member.state.chain;
		member.state.chain = check.kind === "right" ? "right" : "wrong";
		if (check.kind === "right") {
			if (was === "wrong") this.#deps.log.info(this.#named(member), "an upstream serves the right chain now");
			return true;
		}
		const fields = { ...this.#named(member), expected: this.network.chainIdHex, got: check.got };
		if (was !== "wrong") this.#deps.log.error(fields, "an upstream serves another chain: it is not used");
		this.#recheckLater(member);
		return false;
	}

	#recheckLater(member: RpcMember): void {
		if (this.#closed || this.#rechecks.has(member) || !this.#members.includes(member)) return;
		const stop = this.#deps.clock.after(member.probeEveryMs * WRONG_CHAIN_PERIODS, () => {
			this.#rechecks.delete(member);
			void this.#probe(member);
		});
		this.#rechecks.set(member, stop);
	}

	#onHealthChanged(member: RpcMember): void {
		const { state, lastFault } = member.health;
		const fields = { ...this.#named(member), state, lastFault };
		if (state !== "out") {
			this.#deps.log.info(fields, "an upstream of a chain is in use");
			return;
		}
		member.state.counts.ejections++;
		this.#deps.log.warn(fields, "an upstream of a chain is taken out");
		for (const waiting of [...this.waiting]) waiting.onEjected(member);
	}

	#named(member: RpcMember): { readonly network: string; readonly upstream: string } {
		return { network: this.network.slug, upstream: member.name };
	}
}

/** Returns the members whose settings have the capability or no list; all members if there is no such member. */
function membersWith(members: readonly RpcMember[], capability: string): readonly RpcMember[] {
	const capable = members.filter(({ capabilities }) => capabilities?.has(capability) ?? true);
	return capable.length > 0 ? capable : members;
}

function isUsable({ health, load }: RpcMember): boolean {
	return health.state === "up" || (health.state === "trial" && load.running === 0);
}
