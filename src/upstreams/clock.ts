import { systemTimers, type Timers } from "../telemetry/clock.ts";

/** Time as this room uses it; tests hand in another. */
export interface Clock extends Timers {
	/** Milliseconds that never go back. */
	nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => performance.now(), after: systemTimers.after };
