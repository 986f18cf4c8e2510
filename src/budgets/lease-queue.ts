import { ApiError } from "../errors/index.ts";
import type { Journal } from "../journal/records.ts";
import { nano } from "../ledger/nano.ts";
import type { StorePort, UsableMoney } from "../store/port.ts";
import { type Clock, sleep, type Timers } from "../telemetry/clock.ts";
import type { AccountMoney } from "./account-money.ts";

/** After a store trip that brought too little, refusals need no further trip for this long. */
const DRY_MS = 100;
/** What other nodes were asked to give back is waited for this often, this long each: 300 ms at most. */
const RECALL_TRIES = 6;
const RECALL_WAIT_MS = 50;
/** Requests of one account that may wait for money at once; more are refused with 503. */
const MAX_WAITING = 10_000;

/** A request's wish for money. */
export interface Claim<T> {
	/** UTC day of the admission. */
	readonly day: number;
	/**
	 * One synchronous try. Returns undefined where more money could help and `last` is false; with `last` it
	 * decides: a result, or a thrown refusal. May refuse earlier where no money would help.
	 */
	attempt(last: boolean): T | undefined;
	/** What is missing for it, in nano-USD: the need of a store trip. */
	lack(): number;
	/** What it could use beyond what is free here; undefined: any amount of any source. */
	usable(): UsableMoney | undefined;
	/** False where the money that it could use is here: only the caps of its key stand in its way. */
	moneyHelps(): boolean;
	/** Less than what it lacks helps, too. */
	readonly part: boolean;
}

interface Waiter {
	readonly claim: Claim<unknown>;
	resolve(result: unknown): void;
	reject(error: unknown): void;
}

/** The store could not be asked: nothing is held, nothing is known to be wrong with the caller's money. */
export function unavailable(cause: unknown): ApiError {
	return new ApiError("SERVICE_UNAVAILABLE", {
		message: "The accounts cannot be read right now; try again shortly",
		retryAfterSeconds: 1,
		cause,
	});
}

/**
 * Serves the claims on one account. A claim that fits in what this node has leased is served at once, in the
 * caller's turn; the others wait for one store trip at a time and are served first come, first served.
 * A store call that fails refuses all who wait with 503, and what the node then holds is settled with the
 * store by giving back before the next trip.
 */
export class LeaseQueue {
	readonly #accountId: string;
	readonly #money: AccountMoney;
	readonly #store: StorePort;
	readonly #clock: Clock;
	readonly #timers: Timers;
	readonly #journal: Journal;
	readonly #waiting: Waiter[] = [];
	/** Days whose diem the store was asked for: without that, USD could be spent before diem. */
	readonly #knownDays = new Set<number>();
	#dryUntil = Number.NEGATIVE_INFINITY;
	/** What lacked after that: for less there may be money. */
	#dryNeed = 0;
	#running = false;
	#giveBackWanted: boolean;

	/** @param giveBackFirst true where the store may hold leases for this account that this object does not know of */
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
		this.#giveBackWanted = giveBackFirst;
	}

	/** Serves a claim now, or in its turn. Throws, or rejects with, the claim's refusal or 503. */
	enter<T>(claim: Claim<T>): T | Promise<T> {
		if (this.#waiting.length === 0 && this.#knownDays.has(claim.day)) {
			const result = claim.attempt(this.#dry(claim));
			if (result !== undefined) return result;
		}
		if (this.#waiting.length >= MAX_WAITING) throw unavailable(new Error("too many requests of the account wait for money"));
		const { promise, resolve, reject } = Promise.withResolvers<T>();
		this.#waiting.push({ claim, resolve: resolve as (result: unknown) => void, reject });
		this.#run();
		return promise;
	}

	/** Money was freed on this node: the budget is not dry any more, and who waits may be served. */
	freed(): void {
		this.#dryUntil = Number.NEGATIVE_INFINITY;
		for (let head = this.#waiting[0]; head !== undefined && this.#serve(head, false); head = this.#waiting[0]);
	}

	/** The account changed in the store: what no hold needs goes back, and the next claim asks again. */
	changed(): void {
		this.#dryUntil = Number.NEGATIVE_INFINITY;
		this.#giveBackWanted = true;
		this.#money.totalsDay = -1;
		this.#run();
	}

	/** Another node lacks money of the account: what no hold needs goes back. */
	recalled(): void {
		this.#giveBackWanted = true;
		this.#run();
	}

	/** The store ended this node's leases: nothing is free here any more, and nothing is to be given back. */
	lapse(): void {
		this.#money.lapse();
		this.#giveBackWanted = false;
		this.#knownDays.clear();
	}

	/**
	 * The account leaves the cache: from here on this object has nothing, whoever still refers to it.
	 * @returns true where the store may still have a lease of it
	 */
	retire(): boolean {
		let leased = this.#giveBackWanted;
		this.#giveBackWanted = false;
		this.#knownDays.clear();
		for (const purse of this.#money.purses()) {
			leased ||= purse.left > 0;
			purse.left = 0;
		}
		return leased;
	}

	/** Nobody used the account for a while: what this node has of it goes back, and the next claim asks again. */
	giveBackIdle(): void {
		for (const purse of this.#money.purses()) this.#giveBackWanted ||= purse.free > 0;
		if (this.#giveBackWanted) this.#run();
	}

	/** True where nothing waits and nothing is under way. */
	get idle(): boolean {
		return this.#waiting.length === 0 && !this.#running;
	}

	#dry(claim: Claim<unknown>): boolean {
		return this.#clock.monotonic() < this.#dryUntil && claim.lack() >= this.#dryNeed;
	}

	#run(): void {
		if (this.#running) return;
		this.#running = true;
		void this.#trips();
	}

	/** Ends in the same turn in which it finds nothing left to do, so that no claim can slip in behind it. */
	async #trips(): Promise<void> {
		try {
			for (;;) {
				const head = this.#waiting[0];
				if (this.#giveBackWanted) await this.#giveBack();
				else if (head === undefined) break;
				else if (!this.#serve(head, this.#dry(head.claim))) await this.#acquire(head);
			}
		} catch (cause) {
			this.#giveBackWanted = true;
			for (const waiter of this.#waiting.splice(0)) waiter.reject(unavailable(cause));
		}
		this.#running = false;
	}

	/** Tries the head of the queue; true where it left the queue. */
	#serve(head: Waiter, last: boolean): boolean {
		if (!this.#knownDays.has(head.claim.day)) return false;
		try {
			// Between its admission and its turn the node may have lost the right to spend.
			const noRoom = this.#journal.room();
			if (noRoom !== null) throw unavailable(new Error(noRoom.message));
			const result = head.claim.attempt(last);
			if (result === undefined) return false;
			this.#waiting.shift();
			head.resolve(result);
		} catch (refusal) {
			this.#waiting.shift();
			head.reject(refusal);
		}
		return true;
	}

	async #acquire(head: Waiter): Promise<void> {
		const { claim } = head;
		for (let tries = 1; ; tries++) {
			const recalled = await this.#trip(claim);
			// Money that was freed meanwhile may have served it already.
			if (this.#waiting[0] !== head || this.#serve(head, false)) return;
			if (!recalled || claim.part || !claim.moneyHelps() || tries > RECALL_TRIES) break;
			await sleep(this.#timers, RECALL_WAIT_MS);
			if (this.#waiting[0] !== head || this.#serve(head, false)) return;
			// Two nodes that wait for each other's rest would both wait in vain.
			if (this.#giveBackWanted) await this.#giveBack();
		}
		// Of one key's caps nothing follows for the other keys of the account.
		if (claim.moneyHelps()) {
			this.#dryUntil = this.#clock.monotonic() + DRY_MS;
			this.#dryNeed = claim.lack();
		}
		this.#serve(head, true);
	}

	/** One acquire. Returns true where other nodes were asked to give back. */
	async #trip(claim: Claim<unknown>): Promise<boolean> {
		const { day, part } = claim;
		const usable = claim.usable();
		const request = { accountId: this.#accountId, day, needNano: nano(claim.lack()), part, ...(usable ? { usable } : {}) };
		const call = this.#money.begin();
		try {
			const answer = await this.#store.acquire(request);
			this.#money.grow(call, answer.grants);
			this.#money.takeTotals(call, answer.budgets, day);
			this.#knownDays.add(day);
			return answer.recalled ?? false;
		} finally {
			this.#money.end(call);
		}
	}

	/** What holds secure stays leased; what they leave over later is free on this node again. */
	async #giveBack(): Promise<void> {
		this.#giveBackWanted = false;
		this.#knownDays.clear();
		const kept = [];
		for (const purse of this.#money.purses()) {
			purse.left = purse.held;
			if (purse.kept > 0) kept.push({ source: purse.source, day: purse.day, amount: nano(purse.kept) });
		}
		await this.#store.giveBack(this.#accountId, kept);
	}
}
