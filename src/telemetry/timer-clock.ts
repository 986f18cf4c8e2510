import { type Clock, systemClock, systemTimers, type Timers } from "./clock.ts";

/** A clock with timers, for waits and time limits. Tests pass another one. */
export type TimerClock = Pick<Clock, "monotonicMs"> & Timers;

export const systemTimerClock: TimerClock = { monotonicMs: systemClock.monotonicMs, after: systemTimers.after };
