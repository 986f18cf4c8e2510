import type { TimerClock } from "../../telemetry/timer-clock.ts";
import type { RpcFinality } from "./head-port.ts";
import type { RpcMember } from "./member.ts";

/** A network that nobody has called for this long is not polled any more. */
const UNUSED_MS = 300_000;
/** How long a member's report is valid. */
const MAX_AGE_MS = 120_000;
/** Bounds of the polling period, which is about one block. */
const LEAST_PERIOD_MS = 1_000;
const MOST_PERIOD_MS = 12_000;
const FIRST_PERIOD_MS = 2_000;
/** Number of final blocks that are remembered. A member behind a balancer goes back to one of them, not below all. */
const MOST_FINALS = 64;

/** A block that was final, by its number and its hash. */
export interface FinalBlock {
	readonly block: number;
	readonly hash: string;
}

/** The block numbers that a member reports; null for those that it does not report. */
export interface ReportedHeads {
	readonly latest: number | null;
	readonly finalized: number | null;
	/** The hash of the final block. */
	readonly hash: string | null;
	/** The block that was requested once more, as it is now. null if none was requested, or the member lacks it. */
	readonly again: FinalBlock | null;
}

export interface NetworkHeadsOptions {
	readonly clock: TimerClock;
	/** The members to poll: those that serve this chain and are not ejected. */
	readonly members: () => readonly RpcMember[];
	/** Never throws. `toAskAgain` returns the block to request once more, chosen by the member's final block. */
	readonly ask: (member: RpcMember, toAskAgain: (finalized: number) => number | null) => Promise<ReportedHeads>;
	readonly onFinality: (finality: RpcFinality | null) => void;
	/** Returns true if a cache, or a pool with a choice of members, needs the heads. */
	readonly isNeeded: () => boolean;
}

interface HeadReport {
	readonly finalized: number;
	readonly hash: string | null;
	readonly atMs: number;
}

/** No block is final, not even the first, because the chain is not the one that it was. */
const NOTHING: RpcFinality = { block: -1, upstreams: new Set() };

/**
 * Tracks how far the members of one network are. They are polled as long as the network is in use.
 * The final block is the lowest one that healthy members report. It goes back if one of them goes back.
 * If a final block is gone or has another hash, nothing is final until the next poll: a developer's node was restarted
 * or set back.
 */
export class NetworkHeads {
	readonly #options: NetworkHeadsOptions;
	readonly #reported = new Map<RpcMember["state"], HeadReport>();
	#finality: RpcFinality | null = null;
	/**
	 * The last final blocks, by number. They stay while the network is not in use, because cached answers depend on them.
	 */
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

	/** Records a call of the network, which starts the polling. */
	touch(): void {
		this.#usedMs = this.#options.clock.monotonicMs();
		if (this.#cancelTimer === null && !this.#isAsking && !this.#closed) void this.#round();
	}

	close(): void {
		this.#closed = true;
		this.#cancelTimer?.();
		this.#cancelTimer = null;
		// The next user of these blocks may be on another chain.
		this.#set(NOTHING);
		this.#forget();
	}

	async #round(): Promise<void> {
		const { clock, members, ask, isNeeded } = this.#options;
		if (!isNeeded()) return;
		this.#isAsking = true;
		await Promise.all(
			members().map(async (member) => {
				const finals = this.#finals;
				const report = await ask(member, (finalized) => lastUpTo(finals, finalized)?.block ?? null);
				if (!this.#closed) this.#take(member, report, finals);
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

	#take(member: RpcMember, report: ReportedHeads, finals: readonly FinalBlock[]): void {
		const { latest, finalized, hash } = report;
		const { state } = member;
		if (finals === this.#finals && isAnotherChain(report, finals)) {
			this.#finals = [];
			this.#reported.clear();
			this.#set(NOTHING);
		}
		// A member that went back has other blocks now, or is behind a balancer.
		if (latest !== null) state.reached = latest;
		if (finalized !== null) {
			this.#reported.set(state, { finalized, hash, atMs: this.#options.clock.monotonicMs() });
			// The final block goes forward when all members have answered, and back at once.
			if (this.#finality !== null && finalized < this.#finality.block) this.#decide();
		}
	}

	#decide(): void {
		const { clock, members } = this.#options;
		const nowMs = clock.monotonicMs();
		const current = members();
		let lowest: HeadReport | null = null;
		for (const { state } of current) {
			const report = this.#reported.get(state);
			if (report === undefined || nowMs - report.atMs > MAX_AGE_MS) continue;
			if (lowest === null || report.finalized < lowest.finalized) lowest = report;
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

	/** Forgets all reports, which may be wrong when the network is called again. */
	#forget(): void {
		this.#reported.clear();
		this.#best = null;
		this.#set(null);
	}
}

/**
 * Returns true if a block that was final is another one now. A final block below all that are remembered proves
 * nothing: the chain below it may be another one too.
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
