import { ApiError } from "../errors/index.ts";
import { orApiError } from "../store/api-refusal.ts";
import { CREDIT_BUCKET_MS, creditBucket } from "../store/core/rpc-records.ts";
import type { CreditBucket } from "../store/idempotency.ts";
import type { StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import type { Caller } from "./caller.ts";
import { DayCredits, firstCounted } from "./day-credits.ts";
import type { CreditRequest, CreditTake, CreditWindow } from "./rpc-port.ts";

export interface CreditWindowOptions {
	readonly store: Pick<StorePort, "rpcCredits" | "shared">;
	readonly clock: Clock;
	readonly timers: Timers;
	/** Accounts kept in memory; default 50,000. */
	readonly maxAccounts?: number;
}

/** On a shared store: how often the sums of other nodes are read, and for how long after an account's last request. */
const REFRESH_MS = 200;
const ACTIVE_MS = 10_000;
const REFRESH_ACCOUNTS = 500;
/** Posts of other nodes are late by at most the difference of their clocks and journals. */
const LATE_BUCKETS = 2;
const MAX_ACCOUNTS = 50_000;

interface AccountCredits {
	readonly id: string;
	readonly credits: DayCredits;
	/** Worst-case credits of running requests. */
	openCredits: number;
	/** Requests that wait for the first read. */
	waitingRequests: number;
	/** True once the account was read from the store. */
	isRead: boolean;
	/** Monotonic instant of its last request. */
	lastRequestMs: number;
	reading: Promise<void> | null;
	/** The running store call, and the credits that were settled since it began, by bucket. */
	storeCall: Promise<void> | null;
	settledSince: Map<number, number> | null;
}

/**
 * Credits of a rolling day. An account is read at its first request on this node, and on a shared store again after
 * it was idle. Own requests are then counted in memory. While the account is active, the posts of other nodes are
 * read five times a second, off the path of requests.
 */
export class StoreCreditWindow implements CreditWindow {
	readonly #options: CreditWindowOptions;
	/** Accounts in the order of their last requests. */
	readonly #accounts = new Map<string, AccountCredits>();
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
		const account = this.#accountCredits(caller.account.id);
		const idle = store.shared && clock.monotonicMs() - account.lastRequestMs > ACTIVE_MS;
		account.lastRequestMs = clock.monotonicMs();
		if (account.isRead && !idle) return this.#take(account, request);
		return this.#afterRead(account, request);
	}

	close(): void {
		this.#closed = true;
		this.#cancelRefresh?.();
	}

	async #afterRead(account: AccountCredits, request: CreditRequest): Promise<CreditTake> {
		account.waitingRequests++;
		try {
			account.reading ??= this.#readAccount(account).finally(() => {
				account.reading = null;
			});
			await orApiError(account.reading);
		} catch (error) {
			// An account that was read before continues with its last known credits.
			if (!account.isRead) throw error;
		} finally {
			account.waitingRequests--;
		}
		return this.#take(account, request);
	}

	#take(account: AccountCredits, request: CreditRequest): CreditTake {
		const { clock } = this.#options;
		const { worstCredits, limitCredits } = request;
		const used = account.credits.used(clock.wallMs());
		if (used + account.openCredits + worstCredits > limitCredits) throw refusal(account, request, clock.wallMs());
		account.openCredits += worstCredits;
		this.#refreshSoon();
		let settled = false;
		return {
			settle: (credits) => {
				if (settled) return;
				settled = true;
				account.openCredits -= worstCredits;
				if (credits > 0) this.#add(account, credits);
			},
		};
	}

	#add(account: AccountCredits, credits: number): void {
		const now = this.#options.clock.wallMs();
		account.credits.add(now, credits);
		const { settledSince } = account;
		settledSince?.set(creditBucket(now), (settledSince.get(creditBucket(now)) ?? 0) + credits);
	}

	#accountCredits(id: string): AccountCredits {
		const known = this.#accounts.get(id);
		this.#accounts.delete(id);
		const account = known ?? {
			id,
			credits: new DayCredits(),
			openCredits: 0,
			waitingRequests: 0,
			isRead: false,
			lastRequestMs: Number.NEGATIVE_INFINITY,
			reading: null,
			storeCall: null,
			settledSince: null,
		};
		this.#accounts.set(id, account);
		if (known === undefined) this.#evictIdle();
		return account;
	}

	/** Drops idle accounts past the bound; their next request reads them again. */
	#evictIdle(): void {
		const { maxAccounts = MAX_ACCOUNTS } = this.#options;
		let excess = this.#accounts.size - maxAccounts;
		for (const account of this.#accounts.values()) {
			if (excess <= 0) return;
			excess--;
			if (account.openCredits + account.waitingRequests === 0 && account.storeCall === null) this.#accounts.delete(account.id);
		}
	}

	async #readAccount(account: AccountCredits): Promise<void> {
		// A running call may have begun before the account was idle.
		while (account.storeCall !== null) await account.storeCall.catch(() => {});
		await this.#readStore([account], firstCounted(this.#options.clock.wallMs()));
		account.isRead = true;
	}

	/** Reads the accounts for which no call is running. */
	#readStore(accounts: readonly AccountCredits[], fromBucket: number): Promise<void> {
		const readAccounts = accounts.filter((account) => account.storeCall === null);
		if (readAccounts.length === 0) return Promise.resolve();
		const storeCall = this.#applyAnswer(readAccounts, fromBucket).finally(() => {
			for (const account of readAccounts) account.storeCall = account.settledSince = null;
		});
		for (const account of readAccounts) account.storeCall = storeCall;
		return storeCall;
	}

	/** Sets each account to the store's answer plus what was settled on this node since the call began. */
	async #applyAnswer(readAccounts: readonly AccountCredits[], fromBucket: number): Promise<void> {
		for (const account of readAccounts) account.settledSince = new Map();
		const accountIds = readAccounts.map((account) => account.id);
		const byAccount = new Map(accountIds.map((id) => [id, new Map<number, number>()]));
		const storeBuckets: readonly CreditBucket[] = await this.#options.store.rpcCredits({ accountIds, fromBucket });
		for (const { accountId, bucket, credits } of storeBuckets) byAccount.get(accountId)?.set(bucket, credits);
		for (const account of readAccounts) {
			const buckets = byAccount.get(account.id) ?? new Map<number, number>();
			for (const [bucket, credits] of account.settledSince ?? []) buckets.set(bucket, (buckets.get(bucket) ?? 0) + credits);
			for (const [bucket, credits] of buckets) account.credits.setBucket(bucket, credits);
		}
	}

	#refreshSoon(): void {
		if (!this.#options.store.shared || this.#closed) return;
		this.#cancelRefresh ??= this.#options.timers.after(REFRESH_MS, () => void this.#refresh());
	}

	/**
	 * Reads what other nodes used: new posts fall into the newest buckets. If the store is unreachable, the next
	 * refresh catches up.
	 */
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

	/** Returns accounts with recent requests, newest first. */
	#active(): AccountCredits[] {
		const now = this.#options.clock.monotonicMs();
		const active: AccountCredits[] = [];
		for (const account of [...this.#accounts.values()].reverse()) {
			if (now - account.lastRequestMs > ACTIVE_MS) break;
			if (account.isRead && account.storeCall === null) active.push(account);
		}
		return active;
	}
}

/**
 * Returns the 429 of a refused request. Running requests may settle far below their worst case: where only they
 * exceed the limit, an early retry helps.
 */
function refusal(
	{ credits, openCredits }: AccountCredits,
	{ worstCredits, limitCredits, subject }: CreditRequest,
	nowMs: number,
): ApiError {
	const used = credits.used(nowMs);
	const tooMany = used + worstCredits - limitCredits;
	const retryAtMs = tooMany <= 0 ? nowMs : credits.expiryOfCreditsMs(nowMs, tooMany);
	const resetAtMs = credits.firstExpiryMs(nowMs) ?? nowMs;
	return new ApiError("RATE_LIMIT_EXCEEDED", {
		message: "Rate limit exceeded",
		extra: { customMessage: `Crypto RPC limit of ${limitCredits} credits per 24 hours reached` },
		retryAfterSeconds: Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000)),
		headers: {
			"X-RateLimit-Limit": `${limitCredits}`,
			"X-RateLimit-Remaining": `${Math.max(0, limitCredits - used - openCredits)}`,
			"X-RateLimit-Reset": `${Math.ceil(Math.max(resetAtMs, nowMs + 1_000) / 1000)}`,
		},
		limit: { kind: "RPD", subject },
	});
}
