import { ApiError } from "../errors/index.ts";
import type { Journal } from "../journal/records.ts";
import { nano } from "../ledger/nano.ts";
import type { AcquireResult, StorePort } from "../store/port.ts";
import { type Clock, sleep, type Timers } from "../telemetry/clock.ts";
import type { AccountMoney } from "./account-money.ts";
import type { Claim } from "./claim.ts";
import { LeasedCaps } from "./leased-caps.ts";

/** After a store call that granted too little, claims are refused without another call for this long. */
const REFUSAL_CACHE_MS = 100;
/** Waits for money that other nodes were asked to return: this many times, this long each, at most 300 ms. */
const RECALL_TRIES = 6;
const RECALL_WAIT_MS = 50;
/** Requests of one account that may wait for money at the same time; more are refused with 503. */
const MAX_WAITING = 10_000;

interface Waiter {
	readonly claim: Claim<unknown>;
	/** Number of store calls that granted too little. */
	tries: number;
	/** Claims that wait for this one: see `#deferUntilRecalled`. */
	capQueue?: CapQueue;
	resolve(result: unknown): void;
	reject(error: unknown): void;
}

/** Claims on the limits of one key, while the first of them waits for other nodes to return these limits. */
interface CapQueue {
	readonly window: object;
	readonly behind: Waiter[];
}

/**
 * Until this monotonic instant a claim that lacks at least this much is refused without a store call: the last one
 * granted too little.
 */
interface CachedRefusal {
	readonly until: number;
	readonly need: number;
}

const NO_REFUSAL: CachedRefusal = { until: Number.NEGATIVE_INFINITY, need: 0 };

/**
 * Returns the 503 of an unreachable store: nothing is held, and nothing is known to be wrong with the caller's money.
 */
export function accountsUnavailable(cause: unknown): ApiError {
	return new ApiError("SERVICE_UNAVAILABLE", {
		message: "The accounts cannot be read right now; try again shortly",
		retryAfterSeconds: 1,
		cause,
	});
}

/**
 * Serves the claims on one account. A claim that fits into this node's lease is served at once, in the caller's turn.
 * The others wait for one store call at a time and are served in order of arrival. A failed store call refuses all
 * waiting claims with 503; the node then returns what it holds before the next call, so that both sides agree.
 *
 * Never: takes a hold or decides a refusal itself (the claim does), or waits where the lease suffices.
 */
export class LeaseQueue {
	readonly #accountId: string;
	readonly #money: AccountMoney;
	readonly #store: StorePort;
	readonly #clock: Clock;
	readonly #timers: Timers;
	readonly #journal: Journal;
	readonly #waiting: Waiter[] = [];
	/** Days that were acquired for. A claim of another day calls the store first, so that diem is spent before USD. */
	readonly #knownDays = new Set<number>();
	readonly #caps: LeasedCaps;
	readonly #capQueues = new Map<object, CapQueue>();
	/** Number of waiters that are set aside for a moment. */
	#deferred = 0;
	#refusal: CachedRefusal = NO_REFUSAL;
	/** Cached refusals for the limits of single keys. */
	readonly #capRefusals = new Map<object, CachedRefusal>();
	#running = false;
	#returnRequested: boolean;

	/** @param giveBackFirst true if the store may have leases for this account that this object does not know */
	constructor(
		accountId: string,
		money: AccountMoney,
		parts: { store: StorePort; clock: Clock; timers: Timers; journal: Journal },
		giveBackFirst: boolean,
	) {
		this.#accountId = accountId;
		this.#money = money;
		this.#store = parts.store;
		this.#clock = parts.clock;
		this.#timers = parts.timers;
		this.#journal = parts.journal;
		this.#returnRequested = giveBackFirst;
		this.#caps = new LeasedCaps(giveBackFirst && parts.store.shared);
	}

	/** Serves a claim now, or in its turn. Throws, or rejects with, the claim's refusal or 503. */
	enter<T>(claim: Claim<T>): T | Promise<T> {
		if (this.#waiting.length === 0 && this.#knownDays.has(claim.day)) {
			const result = claim.attempt(this.#isKnownToFail(claim));
			if (result !== undefined) return result;
		}
		if (this.#waiting.length + this.#deferredCount() >= MAX_WAITING)
			throw accountsUnavailable(new Error("too many requests of the account wait for money"));
		const { promise, resolve, reject } = Promise.withResolvers<T>();
		this.#waiting.push({ claim, tries: 0, resolve: resolve as (result: unknown) => void, reject });
		this.#run();
		return promise;
	}

	/** Handles money that was freed on this node: cached refusals end, and waiting claims may be served. */
	onReleased(): void {
		this.#clearRefusals();
		for (let head = this.#waiting[0]; head !== undefined && this.#serve(head, false); head = this.#waiting[0]);
	}

	/**
	 * Handles a change of the account in the store: money that no hold needs is returned, and the next claim acquires
	 * again.
	 */
	onAccountChanged(): void {
		this.#clearRefusals();
		this.#returnRequested = true;
		this.#money.totalsDay = -1;
		this.#run();
	}

	/** Handles a recall by another node that lacks money of the account: money that no hold needs is returned. */
	onRecalled(): void {
		this.#caps.invalidate();
		this.#returnRequested = true;
		this.#run();
	}

	/** Handles changed limits of a key: leased limits are returned, and the next claim acquires again. */
	onCapsChanged(): void {
		this.#capRefusals.clear();
		if (this.#caps.hasLeases) this.onRecalled();
	}

	/** Handles the end of this node's leases by the store: nothing is free on this node, and nothing must be returned. */
	expire(): void {
		this.#money.expireLeases();
		this.#caps.expire();
		this.#returnRequested = false;
		this.#knownDays.clear();
	}

	/**
	 * Removes the account from the cache: from now on this object has no money, even where something still refers to
	 * it.
	 * @returns true if the store may still have a lease of it
	 */
	retire(): boolean {
		let leased = this.#caps.retire() || this.#returnRequested;
		this.#returnRequested = false;
		this.#knownDays.clear();
		for (const balance of this.#money.balances()) {
			leased ||= balance.leased > 0;
			balance.leased = 0;
		}
		return leased;
	}

	/** Returns the lease of an account that nobody used for a while; the next claim acquires again. */
	returnIdle(): void {
		this.#returnRequested ||= this.#caps.hasIdleLeases;
		for (const balance of this.#money.balances()) this.#returnRequested ||= balance.free > 0;
		if (this.#returnRequested) this.#run();
	}

	/** Returns true if nothing waits and nothing is running. */
	get idle(): boolean {
		return this.#waiting.length === 0 && this.#deferred === 0 && !this.#running;
	}

	#clearRefusals(): void {
		this.#refusal = NO_REFUSAL;
		this.#capRefusals.clear();
	}

	#isKnownToFail(claim: Claim<unknown>): boolean {
		const now = this.#clock.monotonicMs();
		const { until, need } = this.#refusal;
		if (now < until && claim.shortfall() >= need) return true;
		if (this.#capRefusals.size === 0) return false;
		const caps = this.#capRefusals.get(claim.caps?.()?.window ?? claim);
		return caps !== undefined && now < caps.until && claim.shortfall() >= caps.need;
	}

	#deferredCount(): number {
		let behind = 0;
		for (const capQueue of this.#capQueues.values()) behind += capQueue.behind.length;
		return behind + this.#deferred;
	}

	#run(): void {
		if (this.#running) return;
		this.#running = true;
		void this.#serveQueue();
	}

	/**
	 * Serves the queue. It ends in the same turn in which it finds nothing left to do, so that no claim can slip in
	 * behind it.
	 */
	async #serveQueue(): Promise<void> {
		try {
			for (;;) {
				const head = this.#waiting[0];
				if (this.#returnRequested) await this.#returnLeases();
				else if (head === undefined) break;
				else if (!this.#enqueueBehind(head) && !this.#serve(head, this.#isKnownToFail(head.claim))) await this.#acquire(head);
			}
		} catch (cause) {
			this.#returnRequested = true;
			for (const { behind } of this.#capQueues.values()) this.#waiting.push(...behind);
			this.#capQueues.clear();
			for (const waiter of this.#waiting.splice(0)) waiter.reject(accountsUnavailable(cause));
		}
		this.#running = false;
	}

	/** Tries the head of the queue; returns true if it left the queue. */
	#serve(head: Waiter, mustDecide: boolean): boolean {
		if (!this.#knownDays.has(head.claim.day)) return false;
		try {
			// The node may have lost the right to spend between the claim's admission and its turn.
			const refusesWork = this.#journal.workRefusal();
			if (refusesWork !== null) throw accountsUnavailable(new Error(refusesWork.message));
			const result = head.claim.attempt(mustDecide);
			if (result === undefined) return false;
			this.#dequeue(head);
			head.resolve(result);
		} catch (refusal) {
			this.#dequeue(head);
			head.reject(refusal);
		}
		return true;
	}

	/** Removes the head from the queue; claims that waited behind it come next. */
	#dequeue({ capQueue }: Waiter): void {
		this.#waiting.shift();
		if (capQueue === undefined) return;
		this.#capQueues.delete(capQueue.window);
		this.#waiting.unshift(...capQueue.behind);
	}

	/** Returns true if another claim waits for the limits of the same key: this one then waits behind it. */
	#enqueueBehind(head: Waiter): boolean {
		if (this.#capQueues.size === 0 || head.capQueue !== undefined) return false;
		const capQueue = this.#capQueues.get(head.claim.caps?.()?.window ?? head);
		if (capQueue === undefined) return false;
		this.#waiting.shift();
		capQueue.behind.push(head);
		return true;
	}

	/**
	 * Waits until other nodes return a key's limits. Only claims on the same limits wait behind it, not other keys of
	 * the account.
	 */
	#deferUntilRecalled(head: Waiter, window: object): void {
		this.#waiting.shift();
		head.capQueue ??= { window, behind: [] };
		this.#capQueues.set(window, head.capQueue);
		this.#deferred++;
		void sleep(this.#timers, RECALL_WAIT_MS).then(() => {
			this.#deferred--;
			this.#waiting.push(head);
			this.#run();
		});
	}

	async #acquire(head: Waiter): Promise<void> {
		const { claim } = head;
		let answer: AcquireResult;
		for (;;) {
			const hadIdle = this.#caps.hasIdleLeases;
			answer = await this.#acquireFromStore(claim);
			// Money that was freed meanwhile may have served it already.
			if (this.#waiting[0] !== head || this.#serve(head, false)) return;
			if (answer.cap?.short && hadIdle) {
				// The idle lease may be of another day of the same limit. What this call granted does not count: returned,
				// it would be granted again, without end.
				await this.#returnLeases();
				if (this.#waiting[0] !== head) return;
				continue;
			}
			head.tries++;
			if (answer.recalled !== true || claim.allowPartial || !claim.moreMoneyHelps() || head.tries > RECALL_TRIES) break;
			const caps = answer.cap?.short ? claim.caps?.() : undefined;
			if (caps !== undefined) {
				this.#deferUntilRecalled(head, caps.window);
				return;
			}
			await sleep(this.#timers, RECALL_WAIT_MS);
			if (this.#waiting[0] !== head || this.#serve(head, false)) return;
			// Two nodes that each wait for the other's rest would both wait in vain.
			if (this.#returnRequested) await this.#returnLeases();
		}
		// One key's caps say nothing about the other keys of the account.
		if (claim.moreMoneyHelps()) {
			const refusal = { until: this.#clock.monotonicMs() + REFUSAL_CACHE_MS, need: claim.shortfall() };
			const caps = answer.cap?.short ? claim.caps?.() : undefined;
			if (caps === undefined) this.#refusal = refusal;
			else this.#capRefusals.set(caps.window, refusal);
		}
		this.#serve(head, true);
	}

	/** Makes one acquire call. */
	async #acquireFromStore(claim: Claim<unknown>): Promise<AcquireResult> {
		const { day, allowPartial } = claim;
		const caps = claim.caps?.();
		const usable = caps === undefined ? claim.usableElsewhere() : undefined;
		const request = {
			accountId: this.#accountId,
			day,
			needNano: nano(claim.shortfall()),
			part: allowPartial,
			...(usable ? { usable } : {}),
			...(caps ? { cap: caps.request() } : {}),
		};
		if (caps !== undefined) this.#caps.add(caps.holder);
		const call = this.#money.beginCall();
		try {
			const answer = await this.#store.acquire(request);
			this.#money.addGrants(call, answer.grants);
			this.#money.updateTotals(call, answer.budgets, day);
			if (caps !== undefined && answer.cap !== undefined && !caps.applyAnswer(answer.cap)) this.#returnRequested = true;
			this.#knownDays.add(day);
			return answer;
		} finally {
			this.#money.endCall(call);
		}
	}

	/**
	 * Returns leases to the store. What holds secure stays leased; what they leave over later is free on this node
	 * again.
	 */
	async #returnLeases(): Promise<void> {
		this.#returnRequested = false;
		this.#knownDays.clear();
		const retained = [];
		for (const balance of this.#money.balances()) {
			balance.leased = balance.held;
			if (balance.heldOnLease > 0) retained.push({ source: balance.source, day: balance.day, amount: nano(balance.heldOnLease) });
		}
		await this.#store.giveBack(this.#accountId, retained, this.#caps.dropIdle());
		this.#caps.onReturned();
	}
}
