import type { Statements, UsageSums } from "../../budgets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Clock } from "../../telemetry/clock.ts";

interface Wanted {
	readonly accountId: string;
	/** null: all keys of the account. */
	readonly keyId: string | null;
	/** UTC day numbers, both included. */
	readonly firstDay: number;
	readonly lastDay: number;
}

interface Kept {
	readonly sums: Promise<UsageSums>;
	readonly untilMs: number;
}

const LIFE_MS = 10 * 60_000;
const MAX_KEPT = 500;
const TIME_LIMIT_MS = 30_000;
/** Maximum number of keys reported day by day. */
const TOP_KEYS = 8;

/** Caches the sums read in the last ten minutes; simultaneous callers share one read. */
export class AnalyticsCache {
	readonly #statements: Pick<Statements, "sums">;
	readonly #clock: Clock;
	readonly #timeLimitMs: number;
	/** Cached sums in the order of reading. */
	readonly #kept = new Map<string, Kept>();

	constructor(statements: Pick<Statements, "sums">, clock: Clock, timeLimitMs = TIME_LIMIT_MS) {
		this.#statements = statements;
		this.#clock = clock;
		this.#timeLimitMs = timeLimitMs;
	}

	/**
	 * Returns the sums; a failed read is not cached.
	 * @throws ApiError 504 past the time limit
	 */
	sums(wanted: Wanted): Promise<UsageSums> {
		const name = `${wanted.accountId} ${wanted.keyId} ${wanted.firstDay} ${wanted.lastDay}`;
		const now = this.#clock.monotonicMs();
		const kept = this.#kept.get(name);
		if (kept !== undefined && kept.untilMs > now) return kept.sums;
		this.#kept.delete(name);
		const sums = this.#read(wanted);
		this.#kept.set(name, { sums, untilMs: now + LIFE_MS });
		sums.catch(() => {
			if (this.#kept.get(name)?.sums === sums) this.#kept.delete(name);
		});
		for (const oldest of this.#kept.keys()) {
			if (this.#kept.size <= MAX_KEPT) break;
			this.#kept.delete(oldest);
		}
		return sums;
	}

	async #read(wanted: Wanted): Promise<UsageSums> {
		const late = Promise.withResolvers<never>();
		const message = "The usage could not be summed up in time; ask for fewer days";
		const timer = setTimeout(() => late.reject(new ApiError("REQUEST_TIMEOUT", { message })), this.#timeLimitMs);
		try {
			return await Promise.race([this.#statements.sums({ ...wanted, topKeys: TOP_KEYS }), late.promise]);
		} finally {
			clearTimeout(timer);
		}
	}
}
