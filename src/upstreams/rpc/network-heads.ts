import type { Clock } from "../clock.ts";
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

/** What a member told of its blocks, by number; null: it does not say. */
export interface ToldHeads {
	readonly latest: number | null;
	readonly finalized: number | null;
}

export interface NetworkHeadsOptions {
	readonly clock: Clock;
	/** The members to ask: those that serve this chain and are not out. */
	readonly members: () => readonly RpcMember[];
	/** Never throws. */
	readonly ask: (member: RpcMember) => Promise<ToldHeads>;
	readonly onFinality: (finality: RpcFinality | null) => void;
	/** True where somebody wants to know: a cache, or a pool with a choice. */
	readonly isWanted: () => boolean;
}

interface Told {
	readonly finalized: number;
	readonly atMs: number;
}

/**
 * How far the members of one network are, asked as long as the network is in use. Final is what the most careful of them
 * says: the lowest number among those that are healthy and tell one. It goes back when one of them goes back.
 */
export class NetworkHeads {
	readonly #options: NetworkHeadsOptions;
	readonly #told = new Map<RpcMember["facts"], Told>();
	#finality: RpcFinality | null = null;
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
		this.#usedMs = this.#options.clock.nowMs();
		if (this.#cancelTimer === null && !this.#isAsking && !this.#closed) void this.#round();
	}

	close(): void {
		this.#closed = true;
		this.#cancelTimer?.();
		this.#cancelTimer = null;
		this.#forget();
	}

	async #round(): Promise<void> {
		const { clock, members, ask, isWanted } = this.#options;
		if (!isWanted()) return;
		this.#isAsking = true;
		await Promise.all(
			members().map(async (member) => {
				const told = await ask(member);
				if (!this.#closed) this.#take(member, told);
			}),
		);
		this.#isAsking = false;
		if (this.#closed) return;
		this.#decide();
		this.#learnPeriod();
		this.#cancelTimer = clock.after(this.#periodMs, () => {
			this.#cancelTimer = null;
			if (clock.nowMs() - this.#usedMs < UNUSED_MS) void this.#round();
			else this.#forget();
		});
	}

	#take(member: RpcMember, { latest, finalized }: ToldHeads): void {
		const { facts } = member;
		// One that went back to before what it told has another chain of blocks now, or is behind a balancer.
		if (latest !== null) facts.reached = latest;
		if (finalized !== null) {
			this.#told.set(facts, { finalized, atMs: this.#options.clock.nowMs() });
			// Forward it goes when all have been asked, back at once.
			if (this.#finality !== null && finalized < this.#finality.block) this.#decide();
		}
	}

	#decide(): void {
		const { clock, members } = this.#options;
		const nowMs = clock.nowMs();
		const current = members();
		let block: number | null = null;
		for (const { facts } of current) {
			const told = this.#told.get(facts);
			if (told === undefined || nowMs - told.atMs > MAX_AGE_MS) continue;
			if (block === null || told.finalized < block) block = told.finalized;
		}
		if (block === null) {
			this.#set(null);
			return;
		}
		const upstreams = new Set<string>();
		for (const { name, facts } of current) {
			const known = Math.max(facts.reached ?? -1, this.#told.get(facts)?.finalized ?? -1);
			if (known >= block) upstreams.add(name);
		}
		this.#set({ block, upstreams });
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
		const nowMs = this.#options.clock.nowMs();
		let block = -1;
		for (const { facts } of this.#options.members()) block = Math.max(block, facts.reached ?? -1);
		if (block < 0) return;
		if (this.#best !== null && block > this.#best.block) {
			const blockMs = (nowMs - this.#best.atMs) / (block - this.#best.block);
			this.#periodMs = Math.min(Math.max((this.#periodMs + blockMs) / 2, LEAST_PERIOD_MS), MOST_PERIOD_MS);
		}
		if (this.#best === null || block !== this.#best.block) this.#best = { block, atMs: nowMs };
	}

	/** What was told may be wrong when the network is called again. */
	#forget(): void {
		this.#told.clear();
		this.#best = null;
		this.#set(null);
	}
}

function sameNames(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
	return one.size === other.size && [...one].every((name) => other.has(name));
}
