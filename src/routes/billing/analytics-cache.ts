import type { Statements, UsageSums } from "../../budgets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Clock } from "../../telemetry/clock.ts";

interface SumsQuery {
	readonly accountId: string;
	/** null: all keys of the account. */
	readonly keyId: string | null;
	/** UTC day numbers, both included. */
	readonly firstDay: number;
	readonly lastDay: number;
}

interface CachedSums {
	readonly sums: Promise<UsageSums>;
	readonly untilMs: number;
}

const LIFE_MS = 10 * 60_000;
const MAX_CACHED = 500;
const TIME_LIMIT_MS = 30_000;
/** Maximum number of keys reported day by day. */
const TOP_KEYS = 8;

/** Caches the sums read in the last ten minutes; simultaneous callers share one read. */
export class AnalyticsCache {
	readonly #statements: Pick<Statements, "sums">;
	readonly #clock: Clock;
	readonly #timeLimitMs: number;
	/** Cached sums in the order of reading. */
	readonly #cached = new Map<string, CachedSums>();

	constructor(statements: Pick<Statements, "sums">, clock: Clock, timeLimitMs = TIME_LIMIT_MS) {
		this.#statements = statements;
		this.#clock = clock;
		this.#timeLimitMs = timeLimitMs;
	}

	/**
	 * Returns the sums; a failed read is not cached.
	 * @throws ApiError 504 past the time limit
	 */
	sums(query: SumsQuery): Promise<UsageSums> {
		const name = `${query.accountId} ${query.keyId} ${query.firstDay} ${query.lastDay}`;
		const now = this.#clock.monotonicMs();
		const cached = this.#cached.get(name);
		if (cached !== undefined && cached.untilMs > now) return cached.sums;
		this.#cached.delete(name);
		const sums = this.#read(query);
		this.#cached.set(name, { sums, untilMs: now + LIFE_MS });
		sums.catch(() => {
			if (this.#cached.get(name)?.sums === sums) this.#cached.delete(name);
		});
		for (const oldest of this.#cached.keys()) {
			if (this.#cached.size <= MAX_CACHED) break;
			this.#cached.delete(oldest);
		}
		return sums;
	}

	async #read(query: SumsQuery): Promise<UsageSums> {
		const late = Promise.withResolvers<never>();
		const message = "The usage could not be summed up in time; ask for fewer days";
		const timer = setTimeout(() => late.reject(new ApiError("REQUEST_TIMEOUT", { message })), this.#timeLimitMs);
		try {
			return await Promise.race([this.#statements.sums({ ...query, topKeys: TOP_KEYS }), late.promise]);
		} finally {
			clearTimeout(timer);
		}
	}
}
