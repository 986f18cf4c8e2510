import { type Clock, systemClock, systemTimers, type Timers } from "./clock.ts";

/** A clock that also wakes its owner: what waits and time limits need. Tests hand in another. */
export type TimerClock = Pick<Clock, "monotonicMs"> & Timers;

export const systemTimerClock: TimerClock = { monotonicMs: systemClock.monotonicMs, after: systemTimers.after };
