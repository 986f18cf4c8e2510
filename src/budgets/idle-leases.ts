import { every, systemTimers, type Timers } from "../telemetry/clock.ts";
import type { CachedAccount } from "./cached-account.ts";

const TICK_MS = 1_000;
/** An account is idle when none of its holds has ended for this many ticks and none is open. */
const IDLE_TICKS = 5;
/** Bounds of one tick: the store thread has requests to serve too. */
const MAX_GIVEN_BACK = 100;
const MAX_LOOKED_AT = 10_000;

/**
 * Gives leases that nobody uses back to the store after about 5 s, so that what an account has is free there:
 * for the operator's commands, and for other nodes. An account with an open hold keeps all of its lease, since
 * a price above the hold is charged from it.
 */
export class IdleLeases {
	/** Accounts that may be idle, each once. */
	#queue: CachedAccount[] = [];
	#tick = 0;
	readonly #endTicks: () => void;

	constructor(timers: Timers = systemTimers) {
		this.#endTicks = every(timers, TICK_MS, () => this.tick());
	}

	/** A hold of the account has ended. */
	note(account: CachedAccount): void {
		account.lastEndedTick = this.#tick;
		if (account.queuedAsIdle) return;
		account.queuedAsIdle = true;
		this.#queue.push(account);
	}

	/** One second has passed. */
	tick(): void {
		this.#tick++;
		const looked = this.#queue.splice(0, MAX_LOOKED_AT);
		let givenBack = 0;
		for (const account of looked) {
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
