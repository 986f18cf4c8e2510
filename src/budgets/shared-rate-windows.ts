import { MINUTE_MS, type MinuteGrant, type MinuteTake, type SharedMinutes } from "../store/minutes.ts";
import { type Clock, every, type Timers } from "../telemetry/clock.ts";
import type { RateLimit, RateState } from "./port.ts";
import { rateLimitExceeded, rateStateOf, unusedRateState } from "./rate-state.ts";
import { type TimedWindow, WindowTable } from "./window-table.ts";

/** Locally counted tokens are reported to the other nodes at this interval. */
const REPORT_EVERY_MS = 250;
/** Windows reported in one exchange; the others follow in the next. */
const MAX_REPORTED = 1_000;
/** Longest wait of a request for the store; its node then counts alone. */
const STORE_TIMEOUT_MS = 1_000;
/** While a node counts alone, it checks at this interval whether the store is back. */
const RETRY_MS = 1_000;

/** A request that waits for the store's answer. */
interface Waiter {
	readonly limit: RateLimit;
	readonly estimate: number;
	resolve(state: RateState): void;
	reject(error: unknown): void;
}

class SharedWindow implements TimedWindow {
	readonly accountId: string;
	readonly subject: string;
	endsAt: number;
	resetAtSeconds: number;
	/** Identifies the store's window; null while this node has counted alone. */
	startedAtMs: number | null = null;
	/** Requests admitted on this node. */
	used = 0;
	/** Requests, past and future, that the store counts as this node's. */
	granted = 0;
	/** Requests that the store counts over all nodes, as last reported. */
	requestsInStore = 0;
	/** At this limit and below, the store has nothing left in this window. */
	exhaustedLimit = 0;
	/** Tokens of all nodes as last reported; those being sent to the store; those counted since. */
	reportedTokens = 0;
	reportingTokens = 0;
	unreportedTokens = 0;
	limitsTokens = false;
	readonly waiting: Waiter[] = [];

	constructor(accountId: string, subject: string, endsAt: number, resetAtSeconds: number) {
		this.accountId = accountId;
		this.subject = subject;
		this.endsAt = endsAt;
		this.resetAtSeconds = resetAtSeconds;
	}

	/** Requests of all nodes. */
	get requests(): number {
		return this.requestsInStore - this.granted + this.used;
	}

	/** Tokens of all nodes. */
	get tokens(): number {
		return Math.max(0, this.reportedTokens + this.reportingTokens + this.unreportedTokens);
	}

	/** Requests that this node admitted without the store. */
	get spent(): number {
		return Math.max(0, this.used - this.granted);
	}
}

/**
 * Requests and tokens per minute over all nodes of a store (docs/money.md, Minute limits). Requests are taken in the
 * store: a request whose node has no grant left waits for one store call, shared by all that wait. Tokens are counted
 * on each node and reported every 250 ms. While the store is unreachable, or does not answer within a second, the
 * node counts alone.
 */
export class SharedRateWindows {
	readonly #store: SharedMinutes;
	readonly #clock: Clock;
	readonly #timers: Timers;
	readonly #windows: WindowTable<SharedWindow>;
	/** Windows that have waiting requests. */
	readonly #windowsWithWaiters = new Set<SharedWindow>();
	/** Windows that used more than the store knows. */
	readonly #unreportedWindows = new Set<SharedWindow>();
	/** Windows whose tokens must be reported or read. */
	readonly #reporting = new Set<SharedWindow>();
	readonly #stopReporting: () => void;
	#isExchanging = false;
	#isAlone = false;
	#calledAt = Number.NEGATIVE_INFINITY;

	constructor(store: SharedMinutes, parts: { clock: Clock; timers: Timers }, maxWindows: number) {
		this.#store = store;
		this.#clock = parts.clock;
		this.#timers = parts.timers;
		this.#windows = new WindowTable(maxWindows);
		this.#stopReporting = every(parts.timers, REPORT_EVERY_MS, () => this.#report());
	}

	/**
	 * Takes one request and counts its prompt estimate: at once if the store already granted it to this node.
	 * Throws, or rejects with, RATE_LIMIT_EXCEEDED, and then takes nothing.
	 */
	take(accountId: string, subject: string, limit: RateLimit, estimate: number): RateState | Promise<RateState> {
		const now = this.#clock.monotonicMs();
		const window = this.#windows.find(accountId, subject, now) ?? this.#open(accountId, subject, now);
		window.limitsTokens ||= limit.tokensPerMinute !== undefined;
		if (window.waiting.length === 0) {
			const state = this.#takeLocally(window, limit, estimate);
			if (state !== undefined) return state;
		}
		const { promise, resolve, reject } = Promise.withResolvers<RateState>();
		window.waiting.push({ limit, estimate, resolve, reject });
		this.#windowsWithWaiters.add(window);
		void this.#exchange();
		return promise;
	}

	/** Returns the state of a window for a request that takes nothing. A null subject means an unused window. */
	look(accountId: string, subject: string | null, limit: RateLimit): RateState {
		const now = this.#clock.monotonicMs();
		const window = subject === null ? undefined : this.#windows.find(accountId, subject, now);
		return window === undefined ? unusedRateState(limit, this.#clock) : rateStateOf(window, window, limit, now);
	}

	/** Replaces the estimate by the real tokens: see `RateWindows.settle`. */
	settle(accountId: string, subject: string, estimate: number, tokens: number, counted?: RateState): void {
		const window = this.#windows.find(accountId, subject, this.#clock.monotonicMs());
		if (window === undefined) return;
		const same = counted === undefined || counted.resetAtSeconds === window.resetAtSeconds;
		const more = tokens - estimate;
		this.#count(window, same ? more : Math.max(0, more));
	}

	/** Serves all waiting requests by what this node knows. */
	close(): void {
		this.#stopReporting();
		this.#countAlone();
	}

	#open(accountId: string, subject: string, now: number): SharedWindow {
		const resetAtSeconds = Math.ceil((this.#clock.wallMs() + MINUTE_MS) / 1000);
		const window = new SharedWindow(accountId, subject, now + MINUTE_MS, resetAtSeconds);
		this.#windows.add(window, now);
		return window;
	}

	/**
	 * Tries to take a request without the store; undefined if the store must be called. Throws RATE_LIMIT_EXCEEDED.
	 */
	#takeLocally(window: SharedWindow, limit: RateLimit, estimate: number): RateState | undefined {
		const { requestsPerMinute, tokensPerMinute } = limit;
		const now = this.#clock.monotonicMs();
		const tokensOut = tokensPerMinute !== undefined && window.tokens >= tokensPerMinute;
		const granted = window.used < window.granted;
		const requestsOut = window.used >= requestsPerMinute || (!granted && window.exhaustedLimit >= requestsPerMinute);
		const countedAlone = this.#isAlone && !granted && window.requests >= requestsPerMinute;
		// The estimates of other nodes may turn out too high, so a refusal for tokens requests their current count.
		if (tokensOut) this.#reporting.add(window);
		if (tokensOut || requestsOut || countedAlone)
			throw rateLimitExceeded(rateStateOf(window, window, limit, now), tokensOut, window.subject);
		if (!granted && !this.#isAlone) return undefined;
		window.used++;
		if (!granted) this.#unreportedWindows.add(window);
		this.#count(window, estimate);
		return rateStateOf(window, window, limit, now);
	}

	#count(window: SharedWindow, tokens: number): void {
		if (!window.limitsTokens) return;
		window.unreportedTokens += Math.max(tokens, -window.tokens);
		this.#reporting.add(window);
	}

	/** Runs every 250 ms. */
	#report(): void {
		if (this.#isAlone && this.#clock.monotonicMs() - this.#calledAt < RETRY_MS) return;
		if (this.#isAlone || this.#reporting.size + this.#unreportedWindows.size > 0) void this.#exchange(true);
	}

	/** Exchanges counts with the store until nothing waits. */
	async #exchange(withReport = false): Promise<void> {
		if (this.#isExchanging) return;
		this.#isExchanging = true;
		try {
			for (let first = true; first || (this.#windowsWithWaiters.size > 0 && !this.#isAlone); first = false)
				await this.#callStore(withReport && first);
		} finally {
			this.#isExchanging = false;
		}
	}

	async #callStore(withReport: boolean): Promise<void> {
		const sentAt = this.#clock.monotonicMs();
		this.#calledAt = sentAt;
		const takingWindows = [
			...this.#windowsWithWaiters,
			...this.#takeFrom(this.#unreportedWindows, (window) => window.spent > 0 && !this.#windowsWithWaiters.has(window)),
		];
		const takes = takingWindows.map(minuteTake);
		const reportedWindows = withReport ? this.#takeFrom(this.#reporting, (window) => window.startedAtMs !== null) : [];
		const sums = reportedWindows.map(minuteSum);
		const cancelTimeout = this.#timers.after(STORE_TIMEOUT_MS, () => this.#countAlone());
		try {
			const answer = await this.#store.exchange({ takes, sums });
			for (const [index, window] of reportedWindows.entries()) applyStoreTokens(window, answer.sums[index] ?? null);
			const complete = takes.every((take, index) =>
				this.#applyGrant(takingWindows[index], take, answer.takes[index] ?? null, sentAt),
			);
			this.#isAlone = !complete;
		} catch {
			this.#isAlone = true;
			for (const window of reportedWindows) this.#restoreUnreported(window);
			for (const window of takingWindows) if (window.spent > 0) this.#unreportedWindows.add(window);
		} finally {
			cancelTimeout();
		}
		this.#serveAll();
	}

	/** Removes open windows from a set, up to a bound, and returns them. */
	#takeFrom(windows: Set<SharedWindow>, matches: (window: SharedWindow) => boolean): SharedWindow[] {
		const now = this.#clock.monotonicMs();
		const removed: SharedWindow[] = [];
		for (const window of windows) {
			if (removed.length >= MAX_REPORTED) break;
			windows.delete(window);
			if (window.endsAt > now && matches(window)) removed.push(window);
		}
		return removed;
	}

	/** Applies the store's grant. Returns false if the store did not answer for this window. */
	#applyGrant(window: SharedWindow | undefined, take: MinuteTake, grant: MinuteGrant | null, sentAt: number): boolean {
		if (window === undefined || grant === null) return false;
		if (window.startedAtMs !== grant.startedAtMs) {
			if (window.startedAtMs !== null) restart(window);
			window.startedAtMs = grant.startedAtMs;
			// Counted from when the call began: the store's window ends no earlier than this one, so no grant outlives it.
			window.endsAt = sentAt + grant.endsInMs;
			const leftMs = window.endsAt - this.#clock.monotonicMs();
			window.resetAtSeconds = Math.ceil((this.#clock.wallMs() + leftMs) / 1000);
			if (window.unreportedTokens !== 0) this.#reporting.add(window);
		}
		window.granted += take.spent + grant.granted;
		window.requestsInStore = grant.taken;
		window.reportedTokens = grant.tokens;
		if (grant.granted < take.requested) window.exhaustedLimit = Math.max(window.exhaustedLimit, take.limit);
		return true;
	}

	#restoreUnreported(window: SharedWindow): void {
		window.unreportedTokens += window.reportingTokens;
		window.reportingTokens = 0;
		this.#reporting.add(window);
	}

	#countAlone(): void {
		this.#isAlone = true;
		this.#serveAll();
	}

	#serveAll(): void {
		for (const window of this.#windowsWithWaiters) {
			this.#serve(window);
			if (window.waiting.length === 0) this.#windowsWithWaiters.delete(window);
		}
	}

	#serve(window: SharedWindow): void {
		for (let head = window.waiting[0]; head !== undefined; head = window.waiting[0]) {
			try {
				const state = this.#takeLocally(window, head.limit, head.estimate);
				if (state === undefined) return;
				head.resolve(state);
			} catch (refusal) {
				head.reject(refusal);
			}
			window.waiting.shift();
		}
	}
}

function minuteTake(window: SharedWindow): MinuteTake {
	const { accountId, subject, waiting, spent } = window;
	return { accountId, subject, limit: waiting.at(-1)?.limit.requestsPerMinute ?? 0, requested: waiting.length, spent };
}

function minuteSum(window: SharedWindow) {
	const { accountId, subject, startedAtMs, unreportedTokens } = window;
	window.reportingTokens = unreportedTokens;
	window.unreportedTokens = 0;
	return { accountId, subject, startedAtMs: startedAtMs ?? 0, tokens: unreportedTokens };
}

function applyStoreTokens(window: SharedWindow, tokens: number | null): void {
	window.reportingTokens = 0;
	if (tokens !== null) window.reportedTokens = tokens;
}

/** Restarts a window that ended in the store during the call: its grant is void too. */
function restart(window: SharedWindow): void {
	window.used = window.spent;
	window.granted = 0;
	window.exhaustedLimit = 0;
	window.unreportedTokens = 0;
}
