import { expect, test } from "bun:test";
import { systemClock } from "../../telemetry/clock.ts";
import { TermClock, termTimes } from "../core/term-times.ts";
import { TermGuard } from "./term-guard.ts";

const clock = new TermClock(systemClock);

const ago = (ms: number, wallMs = ms) => {
	const now = clock.instant();
	return { monotonicMs: now.monotonicMs - ms, wallMs: now.wallMs - wallMs };
};

test("a node spends for 20 s after the sending of its last good heartbeat, by whichever clock says more", () => {
	const guard = (sentAt: ReturnType<typeof ago>) =>
		new TermGuard(termTimes().spendForMs, sentAt, clock).check()?.reason ?? "spends";
	expect(guard(ago(19_000))).toBe("spends");
	expect(guard(ago(21_000))).toBe("term");
	// The machine slept, and its monotonic clock with it.
	expect(guard(ago(1_000, 60_000))).toBe("term");
	// The wall clock was set back.
	expect(guard(ago(21_000, -3_600_000))).toBe("term");
	expect(guard(ago(1_000, -3_600_000))).toBe("spends");
});

test("an ended term stays ended until a heartbeat of the next one is good", () => {
	const guard = new TermGuard(20_000, clock.instant(), clock);
	guard.end();
	expect(guard.check()?.reason).toBe("term");
	guard.beat(clock.instant());
	expect(guard.check()).toBeNull();
});

test("a node that has not heard of changes for 30 s takes no work", () => {
	const guard = new TermGuard(60_000, clock.instant(), clock);
	guard.fed(ago(31_000));
	expect(guard.check()?.reason).toBe("feed");
	guard.fed(clock.instant());
	expect(guard.check()).toBeNull();
});

test("a thread tells instants of the event loop's clock, never later than they were", () => {
	let nowMs = 500;
	const thread = new TermClock({ wallMs: () => 0, monotonicMs: () => nowMs });
	// The loop began an hour before the thread. Its message waited 22 s while modules were loaded.
	thread.align(3_600_500 - 22_000);
	expect(thread.monotonicMs()).toBe(3_600_500 - 22_000);
	// A message with a delay of 3 ms is more exact, and one that took longer changes nothing.
	nowMs += 8_000;
	thread.align(3_608_500 - 3);
	expect(thread.monotonicMs()).toBe(3_608_500 - 3);
	thread.align(3_608_500 - 5_000);
	expect(thread.monotonicMs()).toBe(3_608_500 - 3);
});
