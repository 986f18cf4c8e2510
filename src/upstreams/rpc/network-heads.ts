import type { TimerClock } from "../../telemetry/timer-clock.ts";
import type { RpcFinality } from "./head-port.ts";
import type { RpcMember } from "./member.ts";

/** A network that nobody has called for so long is looked at no more. */
const UNUSED_MS = 300_000;
/** What a member told counts for so long. */
const MAX_AGE_MS = 120_000;
/** How often members are asked: about once a block, within these bounds. */
const LEAST_PERIOD_MS = 1_000;
const MOST_PERIOD_MS = 12_000;
const FIRST_PERIOD_MS = 2_000;
/** Final blocks that are remembered: a member behind a balancer goes back to one of them, not below all. */
const MOST_FINALS = 64;

/** A block that was final, by its number and its hash. */
export interface FinalBlock {
	readonly block: number;
	readonly hash: string;
}

/** What a member told of its blocks, by number; null: it does not say. */
export interface ReportedHeads {
	readonly latest: number | null;
	readonly finalized: number | null;
	/** Of its final block. */
	readonly hash: string | null;
	/** The block that it was asked for once more, as it is now; null where it was asked for none, or does not have it. */
	readonly again: FinalBlock | null;
}

export interface NetworkHeadsOptions {
	readonly clock: TimerClock;
	/** The members to ask: those that serve this chain and are not out. */
	readonly members: () => readonly RpcMember[];
	/** Never throws. `toAskAgain`: which block to ask for once more, by the final one that the member tells. */
	readonly ask: (member: RpcMember, toAskAgain: (finalized: number) => number | null) => Promise<ReportedHeads>;
	readonly onFinality: (finality: RpcFinality | null) => void;
	/** True where somebody wants to know: a cache, or a pool with a choice. */
	readonly isWanted: () => boolean;
}

interface Told {
	readonly finalized: number;
	readonly hash: string | null;
	readonly atMs: number;
}

/** Nothing is final, the first block neither: the chain is not the one that it was. */
const NOTHING: RpcFinality = { block: -1, upstreams: new Set() };

/**
 * How far the members of one network are, asked as long as the network is in use. Final is what the most careful of them
 * says: the lowest number among those that are healthy and tell one. It goes back when one of them goes back, and nothing
 * is final for a moment when one that was has another hash, or is gone: a developer's node was started anew, or set back.
 */
export class NetworkHeads {
	readonly #options: NetworkHeadsOptions;
	readonly #reported = new Map<RpcMember["state"], Told>();
	#finality: RpcFinality | null = null;
	/** The last ones that were final, by number. They stay while the network is not in use, as what was proven by them. */
	#finals: readonly FinalBlock[] = [];
	#usedMs = Number.NEGATIVE_INFINITY;
	#cancelTimer: (() => void) | null = null;
	#isAsking = false;
	#closed = false;
	#periodMs = FIRST_PERIOD_MS;
	#best: { readonly block: number; readonly atMs: number } | null = null;

	constructor(options: NetworkHeadsOptions) {
		this.#options = options;
	}

	get finality(): RpcFinality | null {
		return this.#finality;
	}

	/** The network is called now. */
	touch(): void {
		this.#usedMs = this.#options.clock.monotonicMs();
		if (this.#cancelTimer === null && !this.#isAsking && !this.#closed) void this.#round();
	}

	close(): void {
		this.#closed = true;
		this.#cancelTimer?.();
		this.#cancelTimer = null;
		// Whoever has these blocks next need not have this chain.
		this.#set(NOTHING);
		this.#forget();
	}

	async #round(): Promise<void> {
		const { clock, members, ask, isWanted } = this.#options;
		if (!isWanted()) return;
		this.#isAsking = true;
		await Promise.all(
			members().map(async (member) => {
				const finals = this.#finals;
				const told = await ask(member, (finalized) => lastUpTo(finals, finalized)?.block ?? null);
				if (!this.#closed) this.#take(member, told, finals);
			}),
		);
		this.#isAsking = false;
		if (this.#closed) return;
		this.#decide();
		this.#learnPeriod();
		this.#cancelTimer = clock.after(this.#periodMs, () => {
			this.#cancelTimer = null;
			if (clock.monotonicMs() - this.#usedMs < UNUSED_MS) void this.#round();
			else this.#forget();
		});
	}

	#take(member: RpcMember, told: ReportedHeads, finals: readonly FinalBlock[]): void {
		const { latest, finalized, hash } = told;
		const { state } = member;
		if (finals === this.#finals && isAnotherChain(told, finals)) {
			this.#finals = [];
			this.#reported.clear();
			this.#set(NOTHING);
		}
		// One that went back to before what it told has another chain of blocks now, or is behind a balancer.
		if (latest !== null) state.reached = latest;
		if (finalized !== null) {
			this.#reported.set(state, { finalized, hash, atMs: this.#options.clock.monotonicMs() });
			// Forward it goes when all have been asked, back at once.
			if (this.#finality !== null && finalized < this.#finality.block) this.#decide();
		}
	}

	#decide(): void {
		const { clock, members } = this.#options;
		const nowMs = clock.monotonicMs();
		const current = members();
		let lowest: Told | null = null;
		for (const { state } of current) {
			const told = this.#reported.get(state);
			if (told === undefined || nowMs - told.atMs > MAX_AGE_MS) continue;
			if (lowest === null || told.finalized < lowest.finalized) lowest = told;
		}
		if (lowest === null) {
			this.#set(null);
			return;
		}
		const { finalized: block, hash } = lowest;
		if (hash !== null) this.#remember({ block, hash });
		const upstreams = new Set<string>();
		for (const { name, state } of current) {
			const known = Math.max(state.reached ?? -1, this.#reported.get(state)?.finalized ?? -1);
			if (known >= block) upstreams.add(name);
		}
		this.#set({ block, upstreams });
	}

	#remember(final: FinalBlock): void {
		const known = lastUpTo(this.#finals, final.block);
		if (known?.block === final.block && known.hash === final.hash) return;
		const others = this.#finals.filter(({ block }) => block !== final.block);
		this.#finals = [...others, final].sort((a, b) => a.block - b.block).slice(-MOST_FINALS);
	}

	#set(finality: RpcFinality | null): void {
		const before = this.#finality;
		if (before === finality) return;
		if (
			before !== null &&
			finality !== null &&
			before.block === finality.block &&
			sameNames(before.upstreams, finality.upstreams)
		)
			return;
		this.#finality = finality;
		this.#options.onFinality(finality);
	}

	#learnPeriod(): void {
		const nowMs = this.#options.clock.monotonicMs();
		let block = -1;
		for (const { state } of this.#options.members()) block = Math.max(block, state.reached ?? -1);
		if (block < 0) return;
		if (this.#best !== null && block > this.#best.block) {
			const blockMs = (nowMs - this.#best.atMs) / (block - this.#best.block);
			this.#periodMs = Math.min(Math.max((this.#periodMs + blockMs) / 2, LEAST_PERIOD_MS), MOST_PERIOD_MS);
		}
		if (this.#best === null || block !== this.#best.block) this.#best = { block, atMs: nowMs };
	}

	/** What was told may be wrong when the network is called again. */
	#forget(): void {
		this.#reported.clear();
		this.#best = null;
		this.#set(null);
	}
}

/**
 * True where a block that was final is another one now. A member that tells a final block below all that are remembered
 * proves nothing of them: what lies below may be another chain as well.
 */
function isAnotherChain({ finalized, again }: ReportedHeads, finals: readonly FinalBlock[]): boolean {
	if (finalized === null || finals.length === 0) return false;
	const before = lastUpTo(finals, finalized);
	if (before === null) return true;
	return again !== null && again.block === before.block && again.hash !== before.hash;
}

function lastUpTo(finals: readonly FinalBlock[], block: number): FinalBlock | null {
	return finals.findLast((final) => final.block <= block) ?? null;
}

function sameNames(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
	return one.size === other.size && [...one].every((name) => other.has(name));
}
