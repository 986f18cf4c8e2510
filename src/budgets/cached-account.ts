import type { Journal } from "../journal/records.ts";
import type { Account, StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import { AccountMoney } from "./account-money.ts";
import { Freshness } from "./freshness.ts";
import { LeaseQueue } from "./lease-queue.ts";

/** An account as this node knows it, shared by all of its keys. Lives as long as a key, a hold or a trip needs it. */
export class CachedAccount {
	account: Account;
	readonly money = new AccountMoney();
	readonly leases: LeaseQueue;
	/** Cached keys of the account. */
	keys = 0;
	/** Open holds of the account, those of price 0 too. */
	holds = 0;
	/** Requests of its keys that wait: for money, a read or a count. They will hold on this object. */
	waiting = 0;
	/** For the return of idle leases: when one of its holds ended last, and whether it is being watched. */
	lastEndedTick = 0;
	queuedAsIdle = false;
	readonly freshness = new Freshness();
	/** The reads under way, shared by all who wait for them. */
	reading: Promise<void> | null = null;

	constructor(
		account: Account,
		parts: { store: StorePort; clock: Clock; timers: Timers; journal: Journal },
		giveBackFirst: boolean,
	) {
		this.account = account;
		this.leases = new LeaseQueue(account.id, this.money, parts, giveBackFirst);
	}

	/** True where nothing on this node needs it any more. */
	get unused(): boolean {
		return this.keys === 0 && this.holds === 0 && this.waiting === 0 && this.reading === null && this.leases.idle;
	}
}
