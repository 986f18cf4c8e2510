import { orApiError } from "../store/api-refusal.ts";
import type { ReadAnswer, ReadInput, ReadName } from "../store/reader/reads.ts";
import { StoreReader } from "../store/reader/store-reader.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";

export type { AuditReport } from "../ledger/audit.ts";
export type { RequestRecord } from "../ledger/requests.ts";
export type { KeyEntry } from "../store/queries/key-page.ts";
export type { RefusalEntry } from "../store/queries/refusal-page.ts";
export type { SendView } from "../store/queries/sends.ts";
export type { TopUpEntry } from "../store/queries/top-up-page.ts";
export type { UsagePart, UsageSum as OperatorUsage } from "../store/queries/usage-rows.ts";

export interface OperatorBooksOptions {
	/** A data folder, or the address of a PostgreSQL database. */
	readonly place: string;
	readonly clock: Clock;
	readonly timers: Timers;
}

/** One page, and whether another follows. */
interface Page<T> {
	readonly entries: readonly T[];
	readonly more: boolean;
}

type Listed<Name extends ReadName> = ReadAnswer<Name> extends readonly (infer Item)[] ? Item : never;

/** Sums of many days are asked for again and again by the same page. */
const CACHE_MS = 30_000;
const MAX_CACHED = 50;
const DAY_MS = 86_400_000;
/** A day's last requests may be booked when it is over: what ran at midnight, what waited for the store. */
const SETTLED_DAYS = 2;

/**
 * The books of all accounts as the operator reads them: beside the work of the server, as the store has applied them
 * (within a second). Throws 503 where the store cannot be read now.
 */
export class OperatorBooks {
	readonly #options: OperatorBooksOptions;
	readonly #reader: StoreReader;
	readonly #audits = new Set<StoreReader>();
	/** Of days that are over; null: nothing was charged. */
	readonly #days = new Map<number, ReadAnswer<"usageRows">[number] | null>();
	readonly #cached = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();

	constructor(options: OperatorBooksOptions) {
		this.#options = options;
		this.#reader = new StoreReader(options);
	}

	/** Newest first, one more than a page is read to know whether another follows. */
	async page<Name extends "accounts" | "keys" | "refusals" | "sends" | "topUps" | "wallets">(
		name: Name,
		query: ReadInput<Name> & { readonly limit: number },
	): Promise<Page<Listed<Name>>> {
		const { limit } = query;
		const read = this.#reader.read(name, { ...query, limit: limit + 1 });
		const found = (await orApiError(read)) as readonly Listed<Name>[];
		return { entries: found.slice(0, limit), more: found.length > limit };
	}

	request(requestId: string): Promise<ReadAnswer<"request">> {
		return orApiError(this.#reader.read("request", { requestId }));
	}

	/** At most half a minute old. */
	usage(query: ReadInput<"usageRows">): Promise<ReadAnswer<"usageRows">> {
		return this.#cachedOrRead("usageRows", query);
	}

	/**
	 * What was charged on each UTC day that has a charge, at most half a minute old. Days that are over are read once, so
	 * that who looks at the same month again and again costs what today costs.
	 */
	async chargesByDay(range: {
		readonly firstDay: number;
		readonly lastDay: number;
	}): Promise<ReadonlyMap<number, ReadAnswer<"usageRows">[number]>> {
		const settledUpTo = this.today() - SETTLED_DAYS;
		let firstDay = range.firstDay;
		while (firstDay <= settledUpTo && this.#days.has(firstDay)) firstDay++;
		const limit = range.lastDay - firstDay + 1;
		const read = limit > 0 ? await this.usage({ ...range, firstDay, by: ["day"], limit }) : [];
		const days = new Map(read.map((row) => [row.day ?? 0, row]));
		for (let day = firstDay; day <= Math.min(settledUpTo, range.lastDay); day++) this.#days.set(day, days.get(day) ?? null);
		for (let day = range.firstDay; day < firstDay; day++) {
			const kept = this.#days.get(day);
			if (kept) days.set(day, kept);
		}
		return days;
	}

	/** Metered requests by UTC day, at most half a minute old. */
	requestDays(query: ReadInput<"requestDays">): Promise<ReadAnswer<"requestDays">> {
		return this.#cachedOrRead("requestDays", query);
	}

	/** The UTC day number now. */
	today(): number {
		return Math.floor(this.#options.clock.wallMs() / DAY_MS);
	}

	/** Proves the whole books; in a thread of its own, since it takes as long as the books are big. */
	async audit(): Promise<ReadAnswer<"audit">> {
		const reader = new StoreReader(this.#options);
		this.#audits.add(reader);
		try {
			return await orApiError(reader.read("audit", null));
		} finally {
			reader.close();
			this.#audits.delete(reader);
		}
	}

	close(): void {
		this.#reader.close();
		for (const reader of this.#audits) reader.close();
	}

	#cachedOrRead<Name extends ReadName>(name: Name, query: ReadInput<Name>): Promise<ReadAnswer<Name>> {
		const question = `${name} ${JSON.stringify(query)}`;
		const nowMs = this.#options.clock.monotonicMs();
		const kept = this.#cached.get(question);
		if (kept !== undefined && nowMs - kept.atMs < CACHE_MS) return kept.answer as Promise<ReadAnswer<Name>>;
		const answer = orApiError(this.#reader.read(name, query));
		this.#cached.delete(question);
		this.#cached.set(question, { atMs: nowMs, answer });
		const [oldest] = this.#cached.keys();
		if (this.#cached.size > MAX_CACHED && oldest !== undefined) this.#cached.delete(oldest);
		// What failed is asked for again.
		answer.catch(() => this.#cached.delete(question));
		return answer;
	}
}
