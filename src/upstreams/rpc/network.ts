import type { RpcNetwork } from "../../catalog/rpc/types.ts";
import type { Log } from "../../telemetry/log.ts";
import { Care } from "../care.ts";
import type { Clock } from "../clock.ts";
import { calledBlock } from "./cache/called-block.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { RpcFault } from "./faults.ts";
import type { RpcFinality } from "./head-port.ts";
import type { RpcMember } from "./member.ts";
import { NetworkHeads, type ToldHeads } from "./network-heads.ts";
import { HedgeBudget, Pace } from "./pace.ts";
import type { RpcItem } from "./port.ts";

/** A member that is this many blocks behind the best goes last. */
const LAGGING_BLOCKS = 5;
/** A node that is no archive has the state of so many blocks. */
const KEPT_STATES = 128;
/** A member with another chain is looked at again after so many of its probe periods: an operator may mend it. */
const WRONG_CHAIN_PERIODS = 12;

/** Kinds of calls whose times are told apart: what is slow for one is not for another. */
export type CallKind = "read" | "logs" | "slow" | "batch";

export interface NetworkTools {
	readonly clock: Clock;
	readonly log: Log;
	readonly probe: (member: RpcMember, network: RpcNetwork) => Promise<ChainCheck>;
	readonly random: () => number;
	readonly hedgePercent: number;
	readonly tellHeads: (
		member: RpcMember,
		network: RpcNetwork,
		toAskAgain: (finalized: number) => number | null,
	) => Promise<ToldHeads>;
	/** Who wants to know what is final. */
	readonly finalityListeners: ReadonlySet<FinalityListener>;
}

export type FinalityListener = (network: string, finality: RpcFinality | null) => void;

/** What waits for an answer of a member: told when the member is put out, so that it need not wait on. */
export interface Waiting {
	memberIsOut(member: RpcMember): void;
}

/**
 * The upstreams of one chain and how they fare: which goes first, which is left out. One that serves another chain is
 * never used; one that is out is left out only while another is not: never all at once.
 */
export class NetworkPool {
	readonly network: RpcNetwork;
	readonly care: Care<RpcMember>;
	readonly hedges: HedgeBudget;
	readonly waiting = new Set<Waiting>();
	readonly heads: NetworkHeads;
	readonly #tools: NetworkTools;
	readonly #paces: Record<CallKind, Pace> = { read: new Pace(), logs: new Pace(), slow: new Pace(), batch: new Pace() };
	readonly #rechecks = new Map<RpcMember, () => void>();
	#members: readonly RpcMember[] = [];
	#firstChecks: Promise<unknown> = Promise.resolve();
	#closed = false;

	constructor(network: RpcNetwork, tools: NetworkTools) {
		this.network = network;
		this.#tools = tools;
		this.hedges = new HedgeBudget(tools.hedgePercent);
		const { clock, finalityListeners } = tools;
		this.heads = new NetworkHeads({
			clock,
			members: () => this.#members.filter(({ facts, health }) => facts.chain === "right" && health.state !== "out"),
			ask: (member, toAskAgain) => tools.tellHeads(member, network, toAskAgain),
			onFinality: (finality) => {
				for (const listener of [...finalityListeners]) listener(network.slug, finality);
			},
			isWanted: () => finalityListeners.size > 0 || this.#members.length > 1,
		});
		this.care = new Care<RpcMember>({
			clock: tools.clock,
			probe: (member) => this.#probe(member),
			onChange: (member) => this.#changed(member),
			// Calls that began before new settings report of the same server.
			isCurrent: ({ facts }) => !this.#closed && this.#members.some((member) => member.facts === facts),
		});
	}

	get members(): readonly RpcMember[] {
		return this.#members;
	}

	/** Resolves when every member has been asked once for its chain. */
	get checked(): Promise<unknown> {
		return this.#firstChecks;
	}

	/** Takes new members. Calls that run keep those that they started on. */
	replace(members: readonly RpcMember[]): void {
		const before = new Set(this.#members);
		this.#members = members;
		this.care.forgetOthers();
		for (const [member, stop] of this.#rechecks) {
			if (members.includes(member)) continue;
			stop();
			this.#rechecks.delete(member);
		}
		const fresh: Promise<unknown>[] = [];
		for (const member of members) {
			if (before.has(member)) continue;
			if (member.facts.chain === "unknown" && member.health.state === "up") fresh.push(this.#firstCheck(member));
			else if (member.facts.chain === "wrong") this.#recheckLater(member);
			else this.care.watch(member);
		}
		this.#firstChecks = Promise.all([this.#firstChecks, ...fresh]);
	}

	/** True where a member serves this chain and is not out. */
	get isOnline(): boolean {
		return this.#members.some(({ facts, health }) => facts.chain === "right" && health.state !== "out");
	}

	pace(kind: CallKind): Pace {
		return this.#paces[kind];
	}

	/** The members that may be asked, in the order in which to ask them. */
	order(): RpcMember[] {
		const [only, second] = this.#members;
		if (only !== undefined && second === undefined) return only.facts.chain === "right" ? [only] : [];
		const nowMs = this.#tools.clock.nowMs();
		const best = this.#bestHead();
		const places = this.#members
			.filter(({ facts }) => facts.chain === "right")
			.map((member) => ({
				member,
				out: Number(!isUsable(member)),
				late: Number(best !== null && member.facts.reached !== null && best - member.facts.reached >= LAGGING_BLOCKS),
				busy: Number(member.health.isBusy(nowMs)),
				place: -Math.log(1 - this.#tools.random()) / member.weight,
			}));
		const inUse = places.filter(({ out }) => out === 0);
		if (inUse.length === 0) {
			// All are tried then, and those that would let a call wait go last.
			places.sort((a, b) => Number(a.member.facts.silent) - Number(b.member.facts.silent) || a.place - b.place);
			return places.map(({ member }) => member);
		}
		inUse.sort((a, b) => a.late - b.late || a.busy - b.busy || a.member.order - b.member.order || a.place - b.place);
		return inUse.map(({ member }) => member);
	}

	/**
	 * Of these those that can run the item, in their order: what operators say first, then what was learned. Those
	 * that seem to lack the method go last, since a lesson may be wrong. Never empty where `members` is not.
	 */
	able(members: readonly RpcMember[], item: RpcItem): readonly RpcMember[] {
		if (members.length < 2) return members;
		const { name, capability } = item.method;
		const can = capability === null ? members : having(members, capability);
		const known = this.#isOld(members, item) ? having(can, "archive") : can;
		const nowMs = this.#tools.clock.nowMs();
		if (!known.some(({ facts }) => facts.learned.isLacking(name, nowMs))) return known;
		const lacks = (member: RpcMember) => Number(member.facts.learned.isLacking(name, nowMs));
		return known.toSorted((a, b) => lacks(a) - lacks(b));
	}

	/** True where it makes a difference that the item reads a block that only archives still have the state of. */
	#isOld(members: readonly RpcMember[], { method, params }: RpcItem): boolean {
		if (!members.some(({ capabilities }) => capabilities !== null && !capabilities.has("archive"))) return false;
		const best = this.#bestHead();
		const block = best === null ? null : calledBlock(method, params);
		return best !== null && block !== null && block < best - KEPT_STATES;
	}

	good(member: RpcMember): void {
		member.facts.lastGoodMs = this.#tools.clock.nowMs();
		member.facts.silent = false;
		this.care.good(member);
	}

	failed(member: RpcMember, fault: RpcFault): void {
		if (fault.isFault) member.facts.silent = fault.kind === "timeout";
		this.care.failed(member, fault);
	}

	close(): void {
		this.#closed = true;
		this.care.close();
		this.heads.close();
		for (const stop of this.#rechecks.values()) stop();
		this.#rechecks.clear();
	}

	#bestHead(): number | null {
		let best: number | null = null;
		for (const { facts, health } of this.#members)
			if (facts.reached !== null && health.state !== "out" && (best === null || facts.reached > best)) best = facts.reached;
		return best;
	}

	/** One that is not there at the start is not used before a probe was good. */
	async #firstCheck(member: RpcMember): Promise<void> {
		if (await this.#probe(member)) this.#changed(member);
		else if (member.facts.chain === "unknown") {
			member.health.fault("not reached at the start", 1);
			this.#changed(member);
			this.care.watch(member);
		}
	}

	/** True where the member is there and serves this chain. */
	async #probe(member: RpcMember): Promise<boolean> {
		const check = await this.#tools.probe(member, this.network);
		if (this.#closed || check.kind === "silent") return false;
		const was = member.facts.chain;
		member.facts.chain = check.kind === "right" ? "right" : "wrong";
		if (check.kind === "right") {
			if (was === "wrong") this.#tools.log.info(this.#named(member), "an upstream serves the right chain now");
			return true;
		}
		const fields = { ...this.#named(member), expected: this.network.chainIdHex, got: check.got };
		if (was !== "wrong") this.#tools.log.error(fields, "an upstream serves another chain: it is not used");
		this.#recheckLater(member);
		return false;
	}

	#recheckLater(member: RpcMember): void {
		if (this.#closed || this.#rechecks.has(member) || !this.#members.includes(member)) return;
		const stop = this.#tools.clock.after(member.probeEveryMs * WRONG_CHAIN_PERIODS, () => {
			this.#rechecks.delete(member);
			void this.#probe(member);
		});
		this.#rechecks.set(member, stop);
	}

	#changed(member: RpcMember): void {
		const { state, lastFault } = member.health;
		const fields = { ...this.#named(member), state, lastFault };
		if (state !== "out") {
			this.#tools.log.info(fields, "an upstream of a chain is in use");
			return;
		}
		member.facts.counts.ejections++;
		this.#tools.log.warn(fields, "an upstream of a chain is taken out");
		for (const waiting of [...this.waiting]) waiting.memberIsOut(member);
	}

	#named(member: RpcMember): { readonly network: string; readonly upstream: string } {
		return { network: this.network.slug, upstream: member.name };
	}
}

/** Those that the operator says to have it, or says nothing of; all where there is none. */
function having(members: readonly RpcMember[], capability: string): readonly RpcMember[] {
	const told = members.filter(({ capabilities }) => capabilities?.has(capability) ?? true);
	return told.length > 0 ? told : members;
}

function isUsable({ health, load }: RpcMember): boolean {
	return health.state === "up" || (health.state === "trial" && load.running === 0);
}
