import type { TimerClock } from "../telemetry/timer-clock.ts";
import { type UpstreamFailure, upstreamTimedOut } from "./failures.ts";

/**
 * Ends one attempt at a silence limit, at a fixed instant, or when the caller leaves. One timer serves the whole
 * attempt: activity only moves a number, and a timer that fires early sets itself again. `close` leaves nothing behind.
 */
export class AttemptTimeout {
	readonly #clock: TimerClock;
	readonly #caller: AbortSignal;
	readonly #controller = new AbortController();
	readonly #onLeft = () => {
		this.#controller.abort(this.#caller.reason);
		this.onCallerLeft();
	};
	/** Called when the caller has left, after the upstream was stopped. */
	onCallerLeft: () => void = nothing;
	#cancelTimer: (() => void) | null = null;
	#timerDueMs = 0;
	#silenceMs = Number.POSITIVE_INFINITY;
	#silentSinceMs: number;
	#hardAtMs = Number.POSITIVE_INFINITY;
	#label = "";
	#paused = false;
	#failure: UpstreamFailure | null = null;

	constructor(caller: AbortSignal, clock: TimerClock) {
		this.#clock = clock;
		this.#caller = caller;
		this.#silentSinceMs = clock.monotonicMs();
		if (caller.aborted) this.#onLeft();
		else caller.addEventListener("abort", this.#onLeft, { once: true });
	}

	/** The signal for this attempt's fetch. */
	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** The time-out that ended the attempt, if one did. */
	get failure(): UpstreamFailure | null {
		return this.#failure;
	}

	/** True once the instant that ends the attempt has passed. */
	get isOver(): boolean {
		return this.#clock.monotonicMs() >= this.#hardAtMs;
	}

	/**
	 * Limits the attempt from now on: to `silenceMs` without activity, and to the instant `hardAtMs`.
	 * @param label names in the log what was awaited
	 */
	limit(silenceMs: number, label: string, hardAtMs: number = Number.POSITIVE_INFINITY): void {
		this.#silenceMs = silenceMs;
		this.#hardAtMs = hardAtMs;
		this.#label = label;
		this.#silentSinceMs = this.#clock.monotonicMs();
		this.#schedule();
	}

	/** Called when bytes arrive. */
	onBytes(): void {
		this.#silentSinceMs = this.#clock.monotonicMs();
	}

	/** Pauses the silence limit while our own reader is slow. */
	pause(): void {
		this.#paused = true;
	}

	resume(): void {
		this.#paused = false;
		this.onBytes();
	}

	/** Aborts the upstream at once. */
	abort(reason: unknown): void {
		this.#controller.abort(reason);
	}

	close(): void {
		this.#cancelTimer?.();
		this.#cancelTimer = null;
		this.#caller.removeEventListener("abort", this.#onLeft);
	}

	/** Sets the timer. One that is due too early stays: it will set itself again. */
	#schedule(): void {
		const silenceEndsMs = this.#silentSinceMs + this.#silenceMs;
		const dueMs = this.#paused ? silenceEndsMs : Math.min(silenceEndsMs, this.#hardAtMs);
		if (this.#cancelTimer !== null && this.#timerDueMs <= dueMs) return;
		this.#cancelTimer?.();
		this.#cancelTimer = null;
		if (!Number.isFinite(dueMs)) return;
		this.#timerDueMs = dueMs;
		this.#cancelTimer = this.#clock.after(Math.max(0, dueMs - this.#clock.monotonicMs()), () => this.#due());
	}

	#due(): void {
		this.#cancelTimer = null;
		const nowMs = this.#clock.monotonicMs();
		if (this.#paused) this.onBytes();
		const silent = nowMs - this.#silentSinceMs >= this.#silenceMs;
		if (!silent && (nowMs < this.#hardAtMs || this.#paused)) {
			this.#schedule();
			return;
		}
		this.#failure = upstreamTimedOut(`no ${this.#label} in time`);
		this.#controller.abort(this.#failure);
	}
}

function nothing(): void {}
