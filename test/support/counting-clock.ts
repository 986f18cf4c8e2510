import { systemTimerClock, type TimerClock } from "../../src/telemetry/timer-clock.ts";

/** The system's clock, and how many timers are pending. */
export function countingClock(): TimerClock & { pending: number } {
	const clock = {
		pending: 0,
		monotonicMs: systemTimerClock.monotonicMs,
		after(delayMs: number, action: () => void) {
			clock.pending++;
			let counted = true;
			const uncount = () => {
				if (counted) clock.pending--;
				counted = false;
			};
			const cancel = systemTimerClock.after(delayMs, () => {
				uncount();
				action();
			});
			return () => {
				uncount();
				cancel();
			};
		},
	};
	return clock;
}
