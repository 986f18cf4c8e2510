import type { Clock } from "../telemetry/clock.ts";

/** A bounded set whose members expire after a fixed time. All live equally long, so the oldest leave first. */
export class ExpiringSet {
	readonly #clock: Clock;
	readonly #lifeMs: number;
	readonly #max: number;
	/** Monotonic instant of expiry by member, in order of that instant. */
	readonly #ends = new Map<string, number>();

	constructor(clock: Clock, lifeMs: number, max: number) {
		this.#clock = clock;
		this.#lifeMs = lifeMs;
		this.#max = max;
	}

	has(member: string): boolean {
		const end = this.#ends.get(member);
		return end !== undefined && this.#clock.monotonicMs() < end;
	}

	add(member: string): void {
		const now = this.#clock.monotonicMs();
		this.#ends.delete(member);
		for (const [old, end] of this.#ends) {
			if (end > now && this.#ends.size < this.#max) break;
			this.#ends.delete(old);
		}
		this.#ends.set(member, now + this.#lifeMs);
	}

	delete(member: string): void {
		this.#ends.delete(member);
	}

	get size(): number {
		return this.#ends.size;
	}
}
