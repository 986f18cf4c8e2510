import { every, systemTimers, type Timers } from "../telemetry/clock.ts";
import type { CachedAccount } from "./cached-account.ts";

const TICK_MS = 1_000;
/** An account is idle when it has no open hold and none has ended for this many ticks. */
const IDLE_TICKS = 5;
/** Most accounts in one tick, since the store thread must serve requests too. */
const MAX_GIVEN_BACK = 100;
const MAX_CHECKED = 10_000;

/**
 * Returns leases that nobody uses to the store after about 5 s, so that the operator's commands and other nodes can
 * use the money. An account with an open hold keeps its whole lease, since a price above the hold is charged from it.
 */
export class IdleLeases {
	/** Accounts that may be idle, each at most once. */
	#queue: CachedAccount[] = [];
	#tick = 0;
	readonly #endTicks: () => void;

	constructor(timers: Timers = systemTimers) {
		this.#endTicks = every(timers, TICK_MS, () => this.tick());
	}

	/** Notes that a hold of the account has ended. */
	note(account: CachedAccount): void {
		account.lastEndedTick = this.#tick;
		if (account.queuedAsIdle) return;
		account.queuedAsIdle = true;
		this.#queue.push(account);
	}

	/** Call once a second. */
	tick(): void {
		this.#tick++;
		const batch = this.#queue.splice(0, MAX_CHECKED);
		let givenBack = 0;
		for (const account of batch) {
			const idle = account.holds === 0 && account.lastEndedTick <= this.#tick - IDLE_TICKS;
			if (!idle || givenBack >= MAX_GIVEN_BACK) {
				this.#queue.push(account);
				continue;
			}
			account.queuedAsIdle = false;
			account.leases.returnIdle();
			givenBack++;
		}
	}

	stop(): void {
		this.#endTicks();
		this.#queue = [];
	}
}
