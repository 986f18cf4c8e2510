import { ApiError } from "../errors/index.ts";
import type { Clock } from "../telemetry/clock.ts";

const WITHIN_MS = 30_000;
const BLOCK_MS = 30_000;

interface Failures {
	/** Monotonic instants of the failures of the last 30 s, oldest first. */
	readonly failureTimes: number[];
	/** Monotonic instant of the end of a block. */
	blockedUntil: number;
}

/**
 * Abuse protection (docs/api.md): more than `allowed` failures of a subject within any 30 s block it for 30 s.
 * Bounded: past `maxSubjects` the subject whose last failure is oldest is forgotten.
 */
export class FailureGuard {
	readonly #clock: Clock;
	readonly #allowed: () => number;
	readonly #maxSubjects: number;
	/** Subjects in the order of their last failure. */
	readonly #subjects = new Map<string, Failures>();

	/** @param allowed number of failures that do not block; 0 switches the guard off */
	constructor(clock: Clock, allowed: () => number, maxSubjects: number) {
		this.#clock = clock;
		this.#allowed = allowed;
		this.#maxSubjects = maxSubjects;
	}

	/** Throws RATE_LIMIT_EXCEEDED while the subject is blocked. */
	check(subject: string): void {
		if (this.#subjects.size === 0) return;
		const failures = this.#subjects.get(subject);
		if (failures === undefined || failures.blockedUntil === 0) return;
		const allowed = this.#allowed();
		const leftMs = failures.blockedUntil - this.#clock.monotonicMs();
		if (leftMs <= 0 || allowed === 0) {
			this.#subjects.delete(subject);
			return;
		}
		const seconds = Math.ceil(leftMs / 1000);
		throw new ApiError("RATE_LIMIT_EXCEEDED", {
			message: `More than ${allowed} failed requests; retry in ${seconds}s`,
			retryAfterSeconds: seconds,
			headers: { "x-ratelimit-type": "user" },
			limit: { kind: "FAILED_REQUESTS", subject: null },
		});
	}

	count(subject: string): void {
		const allowed = this.#allowed();
		if (allowed === 0) return;
		const now = this.#clock.monotonicMs();
		const failures = this.#subjects.get(subject) ?? { failureTimes: [], blockedUntil: 0 };
		this.#subjects.delete(subject);
		this.#evictIdle(now);
		this.#subjects.set(subject, failures);
		if (failures.blockedUntil > now) return;
		failures.blockedUntil = 0;
		failures.failureTimes.push(now);
		let expiredCount = 0;
		while ((failures.failureTimes[expiredCount] ?? now) <= now - WITHIN_MS) expiredCount++;
		if (expiredCount > 0) failures.failureTimes.splice(0, expiredCount);
		if (failures.failureTimes.length <= allowed) return;
		failures.blockedUntil = now + BLOCK_MS;
		failures.failureTimes.length = 0;
	}

	get size(): number {
		return this.#subjects.size;
	}

	/** Drops the oldest subjects that have no recent failure and no block, and as many others as the bound requires. */
	#evictIdle(now: number): void {
		for (const [subject, failures] of this.#subjects) {
			const last = failures.failureTimes.at(-1) ?? Number.NEGATIVE_INFINITY;
			const idle = last <= now - WITHIN_MS && failures.blockedUntil <= now;
			if (!idle && this.#subjects.size < this.#maxSubjects) return;
			this.#subjects.delete(subject);
		}
	}
}
