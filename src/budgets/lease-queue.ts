import { ApiError } from "../errors/index.ts";
import type { Journal } from "../journal/records.ts";
import { nano } from "../ledger/nano.ts";
import type { AcquireResult, StorePort } from "../store/port.ts";
import { type Clock, sleep, type Timers } from "../telemetry/clock.ts";
import type { AccountMoney } from "./account-money.ts";
import type { Claim } from "./claim.ts";
import { LeasedCaps } from "./leased-caps.ts";

/** After a store trip that brought too little, refusals need no further trip for this long. */
const DRY_MS = 100;
/** What other nodes were asked to give back is waited for this often, this long each: 300 ms at most. */
const RECALL_TRIES = 6;
const RECALL_WAIT_MS = 50;
/** Requests of one account that may wait for money at once; more are refused with 503. */
const MAX_WAITING = 10_000;

interface Waiter {
	readonly claim: Claim<unknown>;
	/** Store trips that brought too little. */
	tries: number;
	/** Claims that wait for it: see `#setAsideFor`. */
	line?: Line;
	resolve(result: unknown): void;
	reject(error: unknown): void;
}

/** Claims on the limits of one key, while the first of them waits for what other nodes shall give back of these. */
interface Line {
	readonly window: object;
	readonly behind: Waiter[];
}

/** Until then (monotonic) a claim that lacks at least so much needs no trip to be refused: the last one brought too little. */
interface Dry {
	readonly until: number;
	readonly need: number;
}

const WET: Dry = { until: Number.NEGATIVE_INFINITY, need: 0 };

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
	readonly #caps: LeasedCaps;
	readonly #lines = new Map<object, Line>();
	/** Waiters that are set aside for a moment. */
	#aside = 0;
	#dry: Dry = WET;
	/** The same for the limits of single keys. */
	readonly #dryCaps = new Map<object, Dry>();
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
		this.#caps = new LeasedCaps(giveBackFirst && parts.store.shared);
	}

	/** Serves a claim now, or in its turn. Throws, or rejects with, the claim's refusal or 503. */
	enter<T>(claim: Claim<T>): T | Promise<T> {
		if (this.#waiting.length === 0 && this.#knownDays.has(claim.day)) {
			const result = claim.attempt(this.#isDry(claim));
			if (result !== undefined) return result;
		}
		if (this.#waiting.length + this.#setAside() >= MAX_WAITING)
			throw unavailable(new Error("too many requests of the account wait for money"));
		const { promise, resolve, reject } = Promise.withResolvers<T>();
		this.#waiting.push({ claim, tries: 0, resolve: resolve as (result: unknown) => void, reject });
		this.#run();
		return promise;
	}

	/** Money was freed on this node: the budget is not dry any more, and who waits may be served. */
	freed(): void {
		this.#wet();
		for (let head = this.#waiting[0]; head !== undefined && this.#serve(head, false); head = this.#waiting[0]);
	}

	/** The account changed in the store: what no hold needs goes back, and the next claim asks again. */
	changed(): void {
		this.#wet();
		this.#giveBackWanted = true;
		this.#money.totalsDay = -1;
		this.#run();
	}

	/** Another node lacks money of the account: what no hold needs goes back. */
	recalled(): void {
		this.#caps.doubt();
		this.#giveBackWanted = true;
		this.#run();
	}

	/** The limits of a key changed: what is leased of limits goes back, and the next claim asks again. */
	capsChanged(): void {
		this.#dryCaps.clear();
		if (this.#caps.any) this.recalled();
	}

	/** The store ended this node's leases: nothing is free here any more, and nothing is to be given back. */
	lapse(): void {
		this.#money.lapse();
		this.#caps.lapse();
		this.#giveBackWanted = false;
		this.#knownDays.clear();
	}

	/**
	 * The account leaves the cache: from here on this object has nothing, whoever still refers to it.
	 * @returns true where the store may still have a lease of it
	 */
	retire(): boolean {
		let leased = this.#caps.retire() || this.#giveBackWanted;
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
		this.#giveBackWanted ||= this.#caps.idle;
		for (const purse of this.#money.purses()) this.#giveBackWanted ||= purse.free > 0;
		if (this.#giveBackWanted) this.#run();
	}

	/** True where nothing waits and nothing is under way. */
	get idle(): boolean {
		return this.#waiting.length === 0 && this.#aside === 0 && !this.#running;
	}

	#wet(): void {
		this.#dry = WET;
		this.#dryCaps.clear();
	}

	#isDry(claim: Claim<unknown>): boolean {
		const now = this.#clock.monotonic();
		const { until, need } = this.#dry;
		if (now < until && claim.lack() >= need) return true;
		if (this.#dryCaps.size === 0) return false;
		const caps = this.#dryCaps.get(claim.caps?.()?.window ?? claim);
		return caps !== undefined && now < caps.until && claim.lack() >= caps.need;
	}

	#setAside(): number {
		let behind = 0;
		for (const line of this.#lines.values()) behind += line.behind.length;
		return behind + this.#aside;
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
				else if (!this.#lineUp(head) && !this.#serve(head, this.#isDry(head.claim))) await this.#acquire(head);
			}
		} catch (cause) {
			this.#giveBackWanted = true;
			for (const { behind } of this.#lines.values()) this.#waiting.push(...behind);
			this.#lines.clear();
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
			this.#leave(head);
			head.resolve(result);
		} catch (refusal) {
			this.#leave(head);
			head.reject(refusal);
		}
		return true;
	}

	/** The head leaves the queue; who waited for it is next. */
	#leave({ line }: Waiter): void {
		this.#waiting.shift();
		if (line === undefined) return;
		this.#lines.delete(line.window);
		this.#waiting.unshift(...line.behind);
	}

	/** True where another claim waits for the limits of the same key: this one waits behind it. */
	#lineUp(head: Waiter): boolean {
		if (this.#lines.size === 0 || head.line !== undefined) return false;
		const line = this.#lines.get(head.claim.caps?.()?.window ?? head);
		if (line === undefined) return false;
		this.#waiting.shift();
		line.behind.push(head);
		return true;
	}

	/**
	 * Waits for what other nodes give back of a key's limits. Other keys of the account do not wait for that: only what
	 * needs the same limits waits behind it.
	 */
	#setAsideFor(head: Waiter, window: object): void {
		this.#waiting.shift();
		head.line ??= { window, behind: [] };
		this.#lines.set(window, head.line);
		this.#aside++;
		void sleep(this.#timers, RECALL_WAIT_MS).then(() => {
			this.#aside--;
			this.#waiting.push(head);
			this.#run();
		});
	}

	async #acquire(head: Waiter): Promise<void> {
		const { claim } = head;
		let answer: AcquireResult;
		for (;;) {
			answer = await this.#trip(claim);
			// Money that was freed meanwhile may have served it already.
			if (this.#waiting[0] !== head || this.#serve(head, false)) return;
			if (answer.cap?.short && this.#caps.idle) {
				// Of another day of the same limit.
				await this.#giveBack();
				if (this.#waiting[0] !== head) return;
				continue;
			}
			head.tries++;
			if (answer.recalled !== true || claim.part || !claim.moneyHelps() || head.tries > RECALL_TRIES) break;
			const caps = answer.cap?.short ? claim.caps?.() : undefined;
			if (caps !== undefined) {
				this.#setAsideFor(head, caps.window);
				return;
			}
			await sleep(this.#timers, RECALL_WAIT_MS);
			if (this.#waiting[0] !== head || this.#serve(head, false)) return;
			// Two nodes that wait for each other's rest would both wait in vain.
			if (this.#giveBackWanted) await this.#giveBack();
		}
		// Of one key's caps nothing follows for the other keys of the account.
		if (claim.moneyHelps()) {
			const dry = { until: this.#clock.monotonic() + DRY_MS, need: claim.lack() };
			const caps = answer.cap?.short ? claim.caps?.() : undefined;
			if (caps === undefined) this.#dry = dry;
			else this.#dryCaps.set(caps.window, dry);
		}
		this.#serve(head, true);
	}

	/** One acquire. */
	async #trip(claim: Claim<unknown>): Promise<AcquireResult> {
		const { day, part } = claim;
		const caps = claim.caps?.();
		const usable = caps === undefined ? claim.usable() : undefined;
		const request = {
			accountId: this.#accountId,
			day,
			needNano: nano(claim.lack()),
			part,
			...(usable ? { usable } : {}),
			...(caps ? { cap: caps.ask() } : {}),
		};
		if (caps !== undefined) this.#caps.add(caps.holder);
		const call = this.#money.begin();
		try {
			const answer = await this.#store.acquire(request);
			this.#money.grow(call, answer.grants);
			this.#money.takeTotals(call, answer.budgets, day);
			if (caps !== undefined && answer.cap !== undefined && !caps.take(answer.cap)) this.#giveBackWanted = true;
			this.#knownDays.add(day);
			return answer;
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
		await this.#store.giveBack(this.#accountId, kept, this.#caps.cut());
		this.#caps.returned();
	}
}
