import { systemTimers, type Timers } from "../telemetry/clock.ts";

/** Time as this room uses it; tests hand in another. */
export interface Clock extends Timers {
	/** Milliseconds that never go back. */
	monotonicMs(): number;
}

export const systemClock: Clock = { monotonicMs: () => performance.now(), after: systemTimers.after };
