import { type Clock, systemClock } from "../../src/upstreams/clock.ts";

/** The system's clock, and how many timers are pending. */
export function countingClock(): Clock & { pending: number } {
	const clock = {
		pending: 0,
		monotonicMs: systemClock.monotonicMs,
		after(delayMs: number, action: () => void) {
			clock.pending++;
			let counted = true;
			const uncount = () => {
				if (counted) clock.pending--;
				counted = false;
			};
			const cancel = systemClock.after(delayMs, () => {
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
