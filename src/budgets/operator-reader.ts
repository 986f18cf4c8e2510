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

export interface OperatorReaderOptions {
	/** A data folder, or the address of a PostgreSQL database. */
	readonly place: string;
	readonly clock: Clock;
	readonly timers: Timers;
}

/** One page, and whether another one follows. */
interface Page<T> {
	readonly entries: readonly T[];
	readonly more: boolean;
}

type Listed<Name extends ReadName> = ReadAnswer<Name> extends readonly (infer Item)[] ? Item : never;

/** The same page requests sums of many days again and again. */
const CACHE_MS = 30_000;
const MAX_CACHED = 50;
const DAY_MS = 86_400_000;
/**
 * The last requests of a day may be applied after its end: requests that ran at midnight, or that waited for the
 * store.
 */
const SETTLED_DAYS = 2;

/**
 * The books of all accounts for the operator, read off the event loop, as the store has applied them (within a
 * second). Throws 503 if the store cannot be read now.
 */
export class OperatorReader {
	readonly #options: OperatorReaderOptions;
	readonly #reader: StoreReader;
	readonly #audits = new Set<StoreReader>();
	/** Sums of past days; null: nothing was charged. */
	readonly #days = new Map<number, ReadAnswer<"usageRows">[number] | null>();
	readonly #cached = new Map<string, { readonly atMs: number; readonly answer: Promise<unknown> }>();

	constructor(options: OperatorReaderOptions) {
		this.#options = options;
		this.#reader = new StoreReader(options);
	}

	/** Returns a page, newest first. It reads one row more to know whether another page follows. */
	async page<Name extends "accounts" | "keys" | "refusals" | "sends" | "topUps" | "wallets">(
		name: Name,
		query: ReadInput<Name> & { readonly limit: number },
	): Promise<Page<Listed<Name>>> {
		const { limit } = query;
		const rowsRead = this.#reader.read(name, { ...query, limit: limit + 1 });
		const foundRows = (await orApiError(rowsRead)) as readonly Listed<Name>[];
		return { entries: foundRows.slice(0, limit), more: foundRows.length > limit };
	}

	request(requestId: string): Promise<ReadAnswer<"request">> {
		return orApiError(this.#reader.read("request", { requestId }));
	}

	/** Returns usage rows that are at most half a minute old. */
	usage(query: ReadInput<"usageRows">): Promise<ReadAnswer<"usageRows">> {
		return this.#cachedOrRead("usageRows", query);
	}

	/**
	 * Returns the charges of each UTC day that has any, at most half a minute old. Past days are read once, so that
	 * repeated reads of a month cost no more than a read of today.
	 */
	async chargesByDay(range: {
		readonly firstDay: number;
		readonly lastDay: number;
	}): Promise<ReadonlyMap<number, ReadAnswer<"usageRows">[number]>> {
		const settledUpTo = this.today() - SETTLED_DAYS;
		let firstDay = range.firstDay;
		while (firstDay <= settledUpTo && this.#days.has(firstDay)) firstDay++;
		const limit = range.lastDay - firstDay + 1;
		const rowsRead = limit > 0 ? await this.usage({ ...range, firstDay, by: ["day"], limit }) : [];
		const days = new Map(rowsRead.map((row) => [row.day ?? 0, row]));
		for (let day = firstDay; day <= Math.min(settledUpTo, range.lastDay); day++) this.#days.set(day, days.get(day) ?? null);
		for (let day = range.firstDay; day < firstDay; day++) {
			const cachedAnswer = this.#days.get(day);
			if (cachedAnswer) days.set(day, cachedAnswer);
		}
		return days;
	}

	/** Returns metered requests by UTC day, at most half a minute old. */
	requestDays(query: ReadInput<"requestDays">): Promise<ReadAnswer<"requestDays">> {
		return this.#cachedOrRead("requestDays", query);
	}

	/** Returns the current UTC day number. */
	today(): number {
		return Math.floor(this.#options.clock.wallMs() / DAY_MS);
	}

	/** Audits the whole books, in a thread of its own, since the duration grows with the books. */
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
		const cachedAnswer = this.#cached.get(question);
		if (cachedAnswer !== undefined && nowMs - cachedAnswer.atMs < CACHE_MS)
			return cachedAnswer.answer as Promise<ReadAnswer<Name>>;
		const answer = orApiError(this.#reader.read(name, query));
		this.#cached.delete(question);
		this.#cached.set(question, { atMs: nowMs, answer });
		const [oldest] = this.#cached.keys();
		if (this.#cached.size > MAX_CACHED && oldest !== undefined) this.#cached.delete(oldest);
		// A failed read is repeated by the next call.
		answer.catch(() => this.#cached.delete(question));
		return answer;
	}
}
