import { ApiError } from "../errors/index.ts";
import { orApiError } from "../store/api-refusal.ts";
import type { CreditBucket } from "../store/idempotency.ts";
import type { StorePort } from "../store/port.ts";
import { CREDIT_BUCKET_MS, creditBucket } from "../store/rpc-records.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import { DayCredits, firstCounted } from "./day-credits.ts";
import type { Caller } from "./port.ts";
import type { CreditRequest, CreditTake, CreditWindow } from "./rpc-port.ts";

export interface CreditWindowOptions {
	readonly store: Pick<StorePort, "rpcCredits" | "shared">;
	readonly clock: Clock;
	readonly timers: Timers;
	/** Accounts kept in memory; default 50,000. */
	readonly maxAccounts?: number;
}

/** On a shared store: how often the sums of other nodes are read, and how long after an account's last request. */
const REFRESH_MS = 200;
const ACTIVE_MS = 10_000;
const REFRESH_ACCOUNTS = 500;
/** Posts of other nodes come late by no more than their clocks and their journals differ. */
const LATE_BUCKETS = 2;
const MAX_ACCOUNTS = 50_000;

interface Counted {
	readonly id: string;
	readonly credits: DayCredits;
	/** Worst cases of requests under way. */
	open: number;
	/** Requests that wait for it to be read. */
	waiting: number;
	/** Read from the store once. */
	known: boolean;
	/** Monotonic instant of its last request. */
	lastAsked: number;
	reading: Promise<void> | null;
	/** The question to the store that is under way, and what was settled since it was asked, by bucket. */
	asking: Promise<void> | null;
	since: Map<number, number> | null;
}

/**
 * Credits of a rolling day. An account is read at its first request on this node, and on a shared store again where it was
 * idle; then own requests are counted in memory, and what other nodes post is read five times a second while the account is
 * active, beside the requests.
 */
export class StoreCreditWindow implements CreditWindow {
	readonly #options: CreditWindowOptions;
	/** In the order of their last requests. */
	readonly #accounts = new Map<string, Counted>();
	#cancelRefresh: (() => void) | null = null;
	#closed = false;

	constructor(options: CreditWindowOptions) {
		this.#options = options;
	}

	get size(): number {
		return this.#accounts.size;
	}

	take(caller: Caller, request: CreditRequest): CreditTake | Promise<CreditTake> {
		const { clock, store } = this.#options;
		const counted = this.#counted(caller.account.id);
		const idle = store.shared && clock.monotonicMs() - counted.lastAsked > ACTIVE_MS;
		counted.lastAsked = clock.monotonicMs();
		if (counted.known && !idle) return this.#take(counted, request);
		return this.#afterRead(counted, request);
	}

	close(): void {
		this.#closed = true;
		this.#cancelRefresh?.();
	}

	async #afterRead(counted: Counted, request: CreditRequest): Promise<CreditTake> {
		counted.waiting++;
		try {
			counted.reading ??= this.#read(counted).finally(() => {
				counted.reading = null;
			});
			await orApiError(counted.reading);
		} catch (error) {
			// An account that was known goes on by what was known of it.
			if (!counted.known) throw error;
		} finally {
			counted.waiting--;
		}
		return this.#take(counted, request);
	}

	#take(counted: Counted, request: CreditRequest): CreditTake {
		const { clock } = this.#options;
		const { worstCredits, limitCredits } = request;
		const used = counted.credits.used(clock.wallMs());
		if (used + counted.open + worstCredits > limitCredits) throw refusal(counted, request, clock.wallMs());
		counted.open += worstCredits;
		this.#refreshSoon();
		let settled = false;
		return {
			settle: (credits) => {
				if (settled) return;
				settled = true;
				counted.open -= worstCredits;
				if (credits > 0) this.#add(counted, credits);
			},
		};
	}

	#add(counted: Counted, credits: number): void {
		const now = this.#options.clock.wallMs();
		counted.credits.add(now, credits);
		const { since } = counted;
		since?.set(creditBucket(now), (since.get(creditBucket(now)) ?? 0) + credits);
	}

	#counted(id: string): Counted {
		const known = this.#accounts.get(id);
		this.#accounts.delete(id);
		const counted = known ?? {
			id,
			credits: new DayCredits(),
			open: 0,
			waiting: 0,
			known: false,
			lastAsked: Number.NEGATIVE_INFINITY,
			reading: null,
			asking: null,
			since: null,
		};
		this.#accounts.set(id, counted);
		if (known === undefined) this.#makeRoom();
		return counted;
	}

	/** What has nothing under way is read again when it is asked for. */
	#makeRoom(): void {
		const { maxAccounts = MAX_ACCOUNTS } = this.#options;
		let over = this.#accounts.size - maxAccounts;
		for (const counted of this.#accounts.values()) {
			if (over <= 0) return;
			over--;
			if (counted.open + counted.waiting === 0 && counted.asking === null) this.#accounts.delete(counted.id);
		}
	}

	async #read(counted: Counted): Promise<void> {
		// What is under way may have been asked before the account was idle.
		while (counted.asking !== null) await counted.asking.catch(() => {});
		await this.#readStore([counted], firstCounted(this.#options.clock.wallMs()));
		counted.known = true;
	}

	/** Asks for the accounts of which nothing is being asked. */
	#readStore(accounts: readonly Counted[], fromBucket: number): Promise<void> {
		const asked = accounts.filter((counted) => counted.asking === null);
		if (asked.length === 0) return Promise.resolve();
		const asking = this.#applyAnswer(asked, fromBucket).finally(() => {
			for (const counted of asked) counted.asking = counted.since = null;
		});
		for (const counted of asked) counted.asking = asking;
		return asking;
	}

	/** What the store tells, and what was settled here since it was asked, is what there is. */
	async #applyAnswer(asked: readonly Counted[], fromBucket: number): Promise<void> {
		for (const counted of asked) counted.since = new Map();
		const accountIds = asked.map((counted) => counted.id);
		const byAccount = new Map(accountIds.map((id) => [id, new Map<number, number>()]));
		const told: readonly CreditBucket[] = await this.#options.store.rpcCredits({ accountIds, fromBucket });
		for (const { accountId, bucket, credits } of told) byAccount.get(accountId)?.set(bucket, credits);
		for (const counted of asked) {
			const buckets = byAccount.get(counted.id) ?? new Map<number, number>();
			for (const [bucket, credits] of counted.since ?? []) buckets.set(bucket, (buckets.get(bucket) ?? 0) + credits);
			for (const [bucket, credits] of buckets) counted.credits.put(bucket, credits);
		}
	}

	#refreshSoon(): void {
		if (!this.#options.store.shared || this.#closed) return;
		this.#cancelRefresh ??= this.#options.timers.after(REFRESH_MS, () => void this.#refresh());
	}

	/** What other nodes used: posts of now fall into the newest buckets. Where the store is away, the next one tells. */
	async #refresh(): Promise<void> {
		const { clock } = this.#options;
		const active = this.#active();
		const from = Math.floor(clock.wallMs() / CREDIT_BUCKET_MS) - LATE_BUCKETS;
		for (let at = 0; at < active.length && !this.#closed; at += REFRESH_ACCOUNTS) {
			await this.#readStore(active.slice(at, at + REFRESH_ACCOUNTS), from).catch(() => {});
		}
		this.#cancelRefresh = null;
		if (active.length > 0) this.#refreshSoon();
	}

	/** Newest first, up to those that have been idle for long. */
	#active(): Counted[] {
		const now = this.#options.clock.monotonicMs();
		const active: Counted[] = [];
		for (const counted of [...this.#accounts.values()].reverse()) {
			if (now - counted.lastAsked > ACTIVE_MS) break;
			if (counted.known && counted.asking === null) active.push(counted);
		}
		return active;
	}
}

/** What is open may settle far below its worst case: where only that stands in the way, trying again soon helps. */
function refusal({ credits, open }: Counted, { worstCredits, limitCredits, subject }: CreditRequest, nowMs: number): ApiError {
	const used = credits.used(nowMs);
	const tooMany = used + worstCredits - limitCredits;
	const retryAtMs = tooMany <= 0 ? nowMs : credits.haveLeft(nowMs, tooMany);
	const resetAtMs = credits.firstLeaves(nowMs) ?? nowMs;
	return new ApiError("RATE_LIMIT_EXCEEDED", {
		message: "Rate limit exceeded",
		extra: { customMessage: `Crypto RPC limit of ${limitCredits} credits per 24 hours reached` },
		retryAfterSeconds: Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000)),
		headers: {
			"X-RateLimit-Limit": `${limitCredits}`,
			"X-RateLimit-Remaining": `${Math.max(0, limitCredits - used - open)}`,
			"X-RateLimit-Reset": `${Math.ceil(Math.max(resetAtMs, nowMs + 1_000) / 1000)}`,
		},
		limit: { kind: "RPD", subject },
	});
}
