import type { TimerClock } from "../../telemetry/timer-clock.ts";
import { AllAttemptsFailed } from "./all-attempts-failed.ts";
import { RpcFault } from "./faults.ts";
import type { RpcMember } from "./member.ts";
import type { CallKind, NetworkPool, WaitingCall } from "./network.ts";

/** Bounds of the delay before a second upstream is tried, and the default if no latency is known, in milliseconds. */
const LEAST_HEDGE_MS = 25;
const MOST_HEDGE_MS = 2_000;
const UNKNOWN_HEDGE_MS = 400;
/** Share of its whole time that a read waits for one upstream, independent of the hedge budget. */
const PATIENCE = 1 / 3;

export interface RaceCall {
	readonly pool: NetworkPool;
	readonly clock: TimerClock;
	/** The tenant whose share of an upstream's places the call counts in. */
	readonly tenant: string;
	/** The members in the order in which they are tried. */
	readonly members: readonly RpcMember[];
	readonly kind: CallKind;
	/**
	 * `read`: may be retried, and sent to a second member. `raw-send`: the same bytes may go to the next member after a
	 * fault, but not after a silence. `send`: the next member is tried only if the previous one certainly did not accept
	 * it.
	 */
	readonly safety: "read" | "raw-send" | "send";
	/** The instant at which the race ends, on the monotonic clock. */
	readonly deadlineMs: number;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** Returns true for members known to lack the method. They are not tried to confirm another member's refusal. */
	readonly lacksMethod?: (member: RpcMember) => boolean;
}

/** One attempt at one upstream. */
export interface RpcAttempt {
	readonly member: RpcMember;
	readonly signal: AbortSignal;
	/** True if an earlier attempt of this call may have been accepted. */
	readonly earlierMayBeAccepted: boolean;
	/** True to use a new connection. */
	readonly fresh: boolean;
}

export interface RaceResult<T> {
	readonly value: T;
	readonly member: RpcMember;
	readonly retries: number;
	/**
	 * Releases the place of the attempt. Called once. Until then the attempt's signal follows the caller's.
	 * @param fault set if the attempt failed after all
	 */
	readonly end: (fault?: RpcFault) => void;
}

interface RunningAttempt {
	readonly attempt: RpcAttempt;
	readonly controller: AbortController;
	readonly startedMs: number;
	readonly giveBack: () => void;
}

/**
 * Tries one upstream after another, and a second one beside the first if a read takes longer than nearly all do. The
 * first answer wins, and the others are aborted. An overtaken attempt whose member has answered nothing since counts as
 * failed.
 */
export class Race<T> implements WaitingCall {
	readonly #call: RaceCall;
	readonly #send: (attempt: RpcAttempt) => Promise<T>;
	readonly #result = Promise.withResolvers<RaceResult<T>>();
	readonly #faults: RpcFault[] = [];
	readonly #running = new Set<RunningAttempt>();
	readonly #onLeft = () => this.#onCallerLeft();
	#next = 0;
	#sent = 0;
	#again: RpcMember | null = null;
	#mayBeAccepted = false;
	#cancelTimer: (() => void) | null = null;
	#hedgeAtMs: number;
	readonly #waitAfterLastMs: number;
	#giveUpAtMs: number;
	#winner: RunningAttempt | null = null;
	#over = false;
	#hasWaited = false;
	/** Aborts with the end of the race. */
	readonly #waiting = new AbortController();

	constructor(call: RaceCall, attempt: (attempt: RpcAttempt) => Promise<T>) {
		this.#call = call;
		this.#send = attempt;
		const { pool, clock, deadlineMs, kind, members, safety } = call;
		const nowMs = clock.monotonicMs();
		const alone = members.length < 2 || safety !== "read";
		const quantileMs = alone || pool.hedges.isOff ? null : pool.latency(kind).quantileMs;
		const hedgeMs = quantileMs === null ? UNKNOWN_HEDGE_MS : Math.min(Math.max(quantileMs, LEAST_HEDGE_MS), MOST_HEDGE_MS);
		this.#hedgeAtMs = alone || pool.hedges.isOff ? Number.POSITIVE_INFINITY : nowMs + hedgeMs;
		this.#waitAfterLastMs = alone ? Number.POSITIVE_INFINITY : (deadlineMs - nowMs) * PATIENCE;
		this.#giveUpAtMs = nowMs + this.#waitAfterLastMs;
	}

	/** Resolves with the first answer. Rejects with AllAttemptsFailed, or with the reason of the caller's signal. */
	run(): Promise<RaceResult<T>> {
		const { signal, pool, safety } = this.#call;
		if (signal.aborted) return Promise.reject(signal.reason);
		signal.addEventListener("abort", this.#onLeft, { once: true });
		pool.waiting.add(this);
		if (safety === "read") pool.hedges.earn();
		this.#startNext();
		if (!this.#over) this.#schedule();
		return this.#result.promise;
	}

	/** Stops waiting for an ejected member, if the call is a read. */
	onEjected(member: RpcMember): void {
		if (this.#call.safety !== "read" || this.#over) return;
		let waits = false;
		for (const { attempt } of this.#running) waits ||= attempt.member === member;
		if (waits && this.#running.size === 1) this.#startNext();
	}

	/** Starts an attempt at the next member that has a free place. Returns false if there is none. */
	#startNext(): boolean {
		const { members, pool, tenant, lacksMethod } = this.#call;
		const again = this.#again;
		this.#again = null;
		const isUnsupported = this.#faults.at(-1)?.kind === "unsupported";
		let full: RpcMember | null = null;
		for (let member = again ?? members[this.#next++]; member !== undefined; member = members[this.#next++]) {
			if (isUnsupported && lacksMethod?.(member)) continue;
			const giveBack = pool.monitor.take(member, tenant);
			if (giveBack !== null) {
				this.#start(member, giveBack, member === again);
				return true;
			}
			full ??= member;
			this.#faults.push(new RpcFault("full", "runs as many calls as it may"));
		}
		if (this.#running.size > 0) return false;
		// The race waits once. The members tried so far, and the time, continue to count.
		if (full === null || this.#hasWaited) this.#fail(false);
		else void this.#startInTurn(full);
		return false;
	}

	/** Waits for a free place at the first member, if every member is full. */
	async #startInTurn(member: RpcMember): Promise<void> {
		this.#hasWaited = true;
		const { pool, tenant } = this.#call;
		const giveBack = await pool.monitor.wait(member, { tenant, signal: this.#waiting.signal }).catch(() => null);
		if (this.#over) giveBack?.();
		else if (giveBack === null) this.#fail(false);
		else {
			// It is no longer full, so its outcome counts.
			while (this.#faults.at(-1)?.kind === "full") this.#faults.pop();
			this.#start(member, giveBack, false);
		}
	}

	#start(member: RpcMember, giveBack: () => void, isAgain: boolean): void {
		const controller = new AbortController();
		const { safety, clock } = this.#call;
		const { signal } = controller;
		const attempt: RpcAttempt = {
			member,
			signal,
			earlierMayBeAccepted: this.#mayBeAccepted,
			fresh: isAgain || safety !== "read",
		};
		const running: RunningAttempt = { attempt, controller, giveBack, startedMs: clock.monotonicMs() };
		this.#running.add(running);
		this.#sent++;
		this.#send(attempt).then(
			(value) => this.#onSuccess(running, value),
			(error: unknown) => this.#lost(running, error),
		);
	}

	#onSuccess(running: RunningAttempt, value: T): void {
		if (!this.#running.delete(running) || this.#over) return;
		const { pool, clock, kind } = this.#call;
		const { member } = running.attempt;
		this.#over = true;
		this.#winner = running;
		this.#stopTimer();
		pool.waiting.delete(this);
		pool.latency(kind).add(clock.monotonicMs() - running.startedMs);
		pool.reportSuccess(member);
		for (const other of this.#running) this.#overtake(other, running);
		this.#running.clear();
		this.#result.resolve({ value, member, retries: this.#sent - 1, end: (fault) => this.#end(running, fault) });
	}

	/**
	 * Ends an overtaken attempt. It had enough time. A member that answers other calls meanwhile is only slow with this
	 * one.
	 */
	#overtake({ attempt, controller, giveBack, startedMs }: RunningAttempt, winner: RunningAttempt): void {
		const { pool, kind } = this.#call;
		const { lastGoodMs } = attempt.member.state;
		controller.abort(new RpcFault("timeout", "overtaken"));
		giveBack();
		if (startedMs > winner.startedMs || lastGoodMs > startedMs) return;
		pool.latency(kind).add(this.#call.clock.monotonicMs() - startedMs);
		pool.reportFailure(attempt.member, new RpcFault("timeout", "slower than a second upstream that was asked after it"));
	}

	#end(running: RunningAttempt, fault: RpcFault | undefined): void {
		if (this.#winner !== running) return;
		this.#winner = null;
		this.#call.signal.removeEventListener("abort", this.#onLeft);
		running.giveBack();
		if (fault !== undefined) {
			running.controller.abort(fault);
			this.#call.pool.reportFailure(running.attempt.member, fault);
		}
	}

	#lost(running: RunningAttempt, error: unknown): void {
		if (!this.#running.delete(running) || this.#over) return;
		running.giveBack();
		running.controller.abort(error);
		if (!(error instanceof RpcFault)) {
			// An error that is no fault is a bug of ours, and another attempt must not hide it.
			this.#finish(() => this.#result.reject(error));
			return;
		}
		const { pool, safety } = this.#call;
		const { member } = running.attempt;
		if (error.beforeAnswer && !running.attempt.fresh) {
			// A reused connection may just have been closed, which says nothing about the server.
			this.#again = member;
			this.#startNext();
			return;
		}
		this.#faults.push(error);
		pool.reportFailure(member, error);
		if (error.mayBeAccepted) this.#mayBeAccepted = true;
		if (safety === "send" && error.mayBeAccepted) this.#fail(false);
		else if (this.#running.size === 0) this.#startNext();
	}

	/** Reports a member that was silent to all calls for long, even if the caller left before our time limit. */
	#onCallerLeft(): void {
		const { reason } = this.#call.signal;
		if (this.#winner !== null) {
			this.#winner.controller.abort(reason);
			this.#winner.giveBack();
			this.#winner = null;
			return;
		}
		const { clock, pool } = this.#call;
		pool.waiting.delete(this);
		for (const { attempt, startedMs } of this.#running)
			if (clock.monotonicMs() - startedMs >= MOST_HEDGE_MS && attempt.member.state.lastGoodMs < startedMs)
				pool.reportFailure(attempt.member, new RpcFault("timeout", "silent until the caller left"));
		this.#finish(() => this.#result.reject(reason));
	}

	/** Sets one timer for the earliest of these: the second attempt, the end of patience, the end of the race. */
	#schedule(): void {
		const { clock, deadlineMs } = this.#call;
		const dueMs = Math.min(this.#hedgeAtMs, this.#giveUpAtMs, deadlineMs);
		this.#cancelTimer = clock.after(Math.max(0, dueMs - clock.monotonicMs()), () => this.#due());
	}

	#due(): void {
		const { clock, deadlineMs, pool, members } = this.#call;
		const nowMs = clock.monotonicMs();
		if (nowMs >= deadlineMs) {
			this.#fail(true);
			return;
		}
		if (nowMs >= this.#giveUpAtMs) {
			this.#giveUpAtMs = nowMs + this.#waitAfterLastMs;
			this.#hedgeAtMs = Number.POSITIVE_INFINITY;
			this.#startNext();
		} else if (nowMs >= this.#hedgeAtMs) {
			this.#hedgeAtMs = Number.POSITIVE_INFINITY;
			if (this.#running.size === 1 && this.#next < members.length && pool.hedges.spend()) this.#startNext();
		}
		if (!this.#over) this.#schedule();
	}

	#fail(late: boolean): void {
		const { pool } = this.#call;
		if (late) {
			// Reports from now on must not start another attempt of this call.
			pool.waiting.delete(this);
			for (const { attempt } of this.#running) {
				const fault = new RpcFault("timeout", "no answer in time");
				this.#faults.push(fault);
				this.#mayBeAccepted = true;
				pool.reportFailure(attempt.member, fault);
			}
		}
		this.#finish(() =>
			this.#result.reject(new AllAttemptsFailed(this.#faults, late, Math.max(0, this.#sent - 1), this.#mayBeAccepted)),
		);
	}

	#finish(settle: () => void): void {
		if (this.#over) return;
		this.#over = true;
		this.#stopTimer();
		this.#call.pool.waiting.delete(this);
		this.#call.signal.removeEventListener("abort", this.#onLeft);
		if (this.#hasWaited) this.#waiting.abort();
		const reason: unknown = this.#call.signal.aborted ? this.#call.signal.reason : new RpcFault("timeout", "it is over");
		for (const { controller, giveBack } of this.#running) {
			controller.abort(reason);
			giveBack();
		}
		this.#running.clear();
		settle();
	}

	#stopTimer(): void {
		this.#cancelTimer?.();
		this.#cancelTimer = null;
	}
}
