import type { Journal } from "../journal/records.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, systemTimers, type Timers } from "../telemetry/clock.ts";
import type { CachedKey } from "./cached-key.ts";
import type { Caller } from "./caller.ts";
import { CallerCache } from "./caller-cache.ts";
import { FailureGuard } from "./failure-guard.ts";
import { HoldAllocator } from "./hold-allocator.ts";
import { IdleLeases } from "./idle-leases.ts";
import type { HoldDeps } from "./open-hold.ts";
import type { Budgets, RateLimit } from "./port.ts";
import { RateWindows } from "./rate-windows.ts";
import { SharedRateWindows } from "./shared-rate-windows.ts";
import { findWallet, WalletCaller } from "./wallet-caller.ts";

/** The dependencies and settings of a node's budgets. */
export interface BudgetsOptions {
	readonly store: StorePort;
	readonly journal: Journal;
	readonly clock: Clock;
	/** Timers that wake waiting claims and the return of idle leases; default: those of the system. */
	readonly timers?: Timers;
	/** `limits.failedRequests` of the config now in force; 0 is off. */
	readonly failedRequests: () => number;
	/** The service that returns idle leases; default: one that runs every second. */
	readonly idleLeases?: IdleLeases;
	/** Keys cached in memory; default 100,000. */
	readonly maxCallers?: number;
	/** Minute windows kept in memory; default 200,000. */
	readonly maxRateWindows?: number;
	/** Subjects whose failures are remembered; default 50,000. */
	readonly maxGuarded?: number;
}

/** Wallets without an account whose minutes are counted; past this number the oldest counts are dropped. */
const MAX_UNREGISTERED_WALLETS = 50_000;

/** Budgets on one node. `close` ends the subscription to changes and the return of idle leases. */
export interface NodeBudgets extends Budgets {
	close(): void;
}

/** Assembles the budgets of a node. Reads nothing before the first caller comes. */
export function createBudgets(options: BudgetsOptions): NodeBudgets {
	const { store, journal, clock, timers = systemTimers } = options;
	const cache = new CallerCache({ store, journal, clock, timers }, options.maxCallers ?? 100_000);
	const maxWindows = options.maxRateWindows ?? 200_000;
	const sharedWindows = store.minutes && new SharedRateWindows(store.minutes, { clock, timers }, maxWindows);
	const rates = sharedWindows ?? new RateWindows(clock, maxWindows);
	const unregisteredRates = sharedWindows === undefined ? rates : new RateWindows(clock, MAX_UNREGISTERED_WALLETS);
	// The store has rows only for accounts.
	const windowsOf = (caller: Caller) => (caller instanceof WalletCaller && caller.isUnregistered ? unregisteredRates : rates);
	const guard = new FailureGuard(clock, options.failedRequests, options.maxGuarded ?? 50_000);
	const idle = options.idleLeases ?? new IdleLeases(timers);
	const ended = (key: CachedKey): void => {
		idle.note(key.cached);
		cache.holdEnded(key);
	};
	const deps: HoldDeps = { journal, clock, holdsOpen: 0, onEnded: ended };
	const holds = new HoldAllocator(cache, deps);
	return {
		caller: (hash) => cache.find(hash),
		absence: (hash) => cache.absence(hash),
		wallet: (identity) => findWallet(cache, identity),
		countRequest: (caller: Caller, subject: string, limit: RateLimit, estimate: number) =>
			windowsOf(caller).take(caller.account.id, subject, limit, estimate),
		rateState: (caller, subject, limit) => windowsOf(caller).look(caller.account.id, subject, limit),
		settleTokens: (caller, subject, estimate, tokens, counted) =>
			windowsOf(caller).settle(caller.account.id, subject, estimate, tokens, counted),
		hold: (caller, context, worstNano) => holds.hold(caller, context, worstNano),
		holdCeiling: (caller, context, request) => holds.holdCeiling(caller, context, request),
		checkGuard: (subject) => guard.check(subject),
		countFailure: (subject) => guard.count(subject),
		get holdsOpen() {
			return deps.holdsOpen;
		},
		close: () => {
			idle.stop();
			sharedWindows?.close();
			cache.close();
		},
	};
}
