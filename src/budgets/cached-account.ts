import type { Journal } from "../journal/records.ts";
import type { Account, StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import { AccountMoney } from "./account-money.ts";
import { Freshness } from "./freshness.ts";
import { LeaseQueue } from "./lease-queue.ts";

/**
 * An account as this node knows it, shared by all of its keys. It lives as long as a key, a hold or a store call
 * needs it.
 */
export class CachedAccount {
	account: Account;
	readonly money = new AccountMoney();
	readonly leases: LeaseQueue;
	/** Cached keys of the account. */
	keys = 0;
	/** Open holds of the account, including those of price 0. */
	holds = 0;
	/** Requests of its keys that wait for money, a read or a token count. Their holds will use this object. */
	waiting = 0;
	/**
	 * For the return of idle leases: the tick in which one of its holds ended last, and whether the account is queued.
	 */
	lastEndedTick = 0;
	queuedAsIdle = false;
	readonly freshness = new Freshness();
	/** The running reads, shared by all requests that wait for them. */
	reading: Promise<void> | null = null;

	constructor(
		account: Account,
		parts: { store: StorePort; clock: Clock; timers: Timers; journal: Journal },
		giveBackFirst: boolean,
	) {
		this.account = account;
		this.leases = new LeaseQueue(account.id, this.money, parts, giveBackFirst);
	}

	/** Returns true if nothing on this node needs the account any more. */
	get unused(): boolean {
		return this.keys === 0 && this.holds === 0 && this.waiting === 0 && this.reading === null && this.leases.idle;
	}
}
