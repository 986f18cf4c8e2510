import { PartyCapacity } from "./party-capacity.ts";
import { RecentUse } from "./recent-use.ts";
import type { Requester } from "./requester.ts";
import { partyOf } from "./tenants.ts";

export interface FairQueueOptions {
	/** The number of concurrent pieces of work. */
	readonly places: number;
	/**
	 * True: while all places are taken, one more is available for a party that has no work running and has used little lately.
	 */
	readonly reserve: boolean;
	/** The number of pieces that may wait, over all tenants; each has a share (`PartyCapacity`). */
	readonly maxWaiting: number;
	/** Returns the error for a full queue, or for a tenant that has used its share of it. */
	overflow(): Error;
	/** Default: the monotonic clock. */
	monotonicMs?(): number;
}

/** A party with more recent use has no claim to the reserve, which is for parties that others' work delays. */
const LITTLE_USE_MS = 10_000;
/** Among parties with the same number of running pieces, differences in recent use count in steps of this. */
const USE_STEP_MS = 10_000;

interface Waiting {
	enter(): void;
	refuse(reason: unknown): void;
}

/**
 * Bounds concurrent work, with a queue for each tenant. The next place goes to the party with the fewest running pieces: an
 * account, or all callers without one. Equal parties take turns (round robin), and so do the networks of callers without an
 * account. The work of one tenant keeps its order.
 */
export class FairQueue {
	readonly #options: FairQueueOptions;
	#places: number;
	#reserve: boolean;
	readonly #queue: PartyCapacity;
	/** Waiting work by party, then by tenant. On both levels the one whose last turn is longest ago is first. */
	readonly #waiting = new Map<string, Map<string, Waiting[]>>();
	/** The number of running pieces by party. */
	readonly #underWay = new Map<string, number>();
	readonly #use: RecentUse;
	readonly #monotonicMs: () => number;
	#running = 0;

	constructor(options: FairQueueOptions) {
		this.#options = options;
		this.#places = options.places;
		this.#reserve = options.reserve;
		this.#queue = new PartyCapacity(options.maxWaiting);
		this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
		this.#use = new RecentUse(this.#monotonicMs);
	}

	/** Returns the number of running pieces. */
	get running(): number {
		return this.#running;
	}

	/** Returns the number of waiting pieces. */
	get waiting(): number {
		return this.#queue.used;
	}

	/**
	 * Runs a piece of work when it is the requester's turn.
	 * @throws the error of `overflow`; the reason of the requester's signal, also while waiting; errors of the work
	 */
	async run<T>(requester: Requester, work: () => Promise<T>): Promise<T> {
		requester.signal.throwIfAborted();
		if (!this.#enterNow(requester.tenant)) await this.#turn(requester);
		const leave = this.#leaver(requester.tenant);
		try {
			requester.signal.throwIfAborted();
			return await work();
		} finally {
			leave();
		}
	}

	/** Takes a place without waiting; null if none is free. The returned function releases it, once. */
	tryEnter(tenant: string): (() => void) | null {
		return this.#enterNow(tenant) ? this.#leaver(tenant) : null;
	}

	/**
	 * Waits for a place; the returned function releases it, as for `tryEnter`.
	 * @throws the error of `overflow`; the reason of the requester's signal, which the caller has to check first
	 */
	async enter(requester: Requester): Promise<() => void> {
		if (!this.#enterNow(requester.tenant)) await this.#turn(requester);
		return this.#leaver(requester.tenant);
	}

	/** Applies new bounds; running work continues. */
	resize({ places, reserve }: Pick<FairQueueOptions, "places" | "reserve">): void {
		this.#places = places;
		this.#reserve = reserve;
		while (this.#letNextIn());
	}

	/** Rejects all waiting pieces. */
	refuseWaiting(reason: unknown): void {
		const all = [...this.#waiting.values()].flatMap((tenants) => [...tenants]);
		this.#waiting.clear();
		for (const [tenant, pieces] of all) {
			this.#queue.giveBack(tenant, pieces.length);
			for (const piece of pieces) piece.refuse(reason);
		}
	}

	#hasPlace(party: string): boolean {
		if (this.#running < this.#places) return true;
		const mayHaveReserve = this.#reserve && !this.#underWay.has(party) && this.#use.of(party) < LITTLE_USE_MS;
		return mayHaveReserve && this.#running === this.#places;
	}

	#enterNow(tenant: string): boolean {
		if (!this.#hasPlace(partyOf(tenant))) return false;
		this.#begin(tenant);
		return true;
	}

	#leaver(tenant: string): () => void {
		const sinceMs = this.#monotonicMs();
		let isIn = true;
		return () => {
			if (!isIn) return;
			isIn = false;
			this.#use.add(partyOf(tenant), this.#monotonicMs() - sinceMs);
			this.#end(tenant);
		};
	}

	async #turn({ tenant, signal }: Requester): Promise<void> {
		if (this.#queue.take(tenant, 1) !== "taken") throw this.#options.overflow();
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const piece: Waiting = { enter: resolve, refuse: reject };
		const party = partyOf(tenant);
		const tenants = this.#waiting.get(party) ?? new Map<string, Waiting[]>();
		this.#waiting.set(party, tenants);
		const pieces = tenants.get(tenant);
		if (pieces === undefined) tenants.set(tenant, [piece]);
		else pieces.push(piece);
		const leave = () => {
			if (this.#remove(tenant, piece)) reject(signal.reason);
		};
		signal.addEventListener("abort", leave, { once: true });
		await promise.finally(() => signal.removeEventListener("abort", leave));
	}

	#begin(tenant: string): void {
		const party = partyOf(tenant);
		this.#running++;
		this.#underWay.set(party, (this.#underWay.get(party) ?? 0) + 1);
	}

	#end(tenant: string): void {
		const party = partyOf(tenant);
		this.#running--;
		const remaining = (this.#underWay.get(party) ?? 0) - 1;
		if (remaining > 0) this.#underWay.set(party, remaining);
		else this.#underWay.delete(party);
		this.#letNextIn();
	}

	/** Starts the next piece; returns false if none may start. */
	#letNextIn(): boolean {
		const party = this.#nextParty();
		const tenants = party === undefined ? undefined : this.#waiting.get(party);
		const [tenant, pieces] = tenants?.entries().next().value ?? [];
		const piece = pieces?.[0];
		if (party === undefined || tenants === undefined || tenant === undefined || piece === undefined) return false;
		this.#remove(tenant, piece);
		// The next turn of both comes after those of all others.
		putLast(tenants, tenant);
		putLast(this.#waiting, party);
		this.#begin(tenant);
		piece.enter();
		return true;
	}

	#nextParty(): string | undefined {
		let nextParty: string | undefined;
		let leastLoad = Number.POSITIVE_INFINITY;
		for (const party of this.#waiting.keys()) {
			const underWay = this.#underWay.get(party) ?? 0;
			// Recent use counts as less than one piece of work, however large it is.
			const recentUse = 1 - 1 / (1 + Math.floor(this.#use.of(party) / USE_STEP_MS));
			if (underWay + recentUse >= leastLoad) continue;
			nextParty = party;
			leastLoad = underWay + recentUse;
			if (leastLoad === 0) break;
		}
		return nextParty !== undefined && this.#hasPlace(nextParty) ? nextParty : undefined;
	}

	/** Removes a waiting piece; returns false if it no longer waits. */
	#remove(tenant: string, piece: Waiting): boolean {
		const party = partyOf(tenant);
		const tenants = this.#waiting.get(party);
		const pieces = tenants?.get(tenant);
		const at = pieces?.indexOf(piece) ?? -1;
		if (tenants === undefined || pieces === undefined || at < 0) return false;
		pieces.splice(at, 1);
		if (pieces.length === 0) tenants.delete(tenant);
		if (tenants.size === 0) this.#waiting.delete(party);
		this.#queue.giveBack(tenant, 1);
		return true;
	}
}

/** Moves an existing entry behind all others. */
function putLast<Value>(map: Map<string, Value>, key: string): void {
	const value = map.get(key);
	if (value === undefined) return;
	map.delete(key);
	map.set(key, value);
}
