import { MINUTE_MS, type MinuteGrant, type MinuteTake, type SharedMinutes } from "../store/minutes.ts";
import { type Clock, every, type Timers } from "../telemetry/clock.ts";
import type { RateLimit, RateState } from "./port.ts";
import { rateLimitExceeded, rateStateOf, unusedRateState } from "./rate-state.ts";
import { type TimedWindow, WindowTable } from "./window-table.ts";

/** Tokens that were counted here are told to the other nodes this often. */
const REPORT_EVERY_MS = 250;
/** Windows told of in one exchange; the others come with the next. */
const MAX_REPORTED = 1_000;
/** No request waits longer for the store: its node then counts alone. */
const STORE_TIMEOUT_MS = 1_000;
/** While it counts alone the node asks the store this often whether it is back. */
const RETRY_MS = 1_000;

/** A request that waits for the store's word. */
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
	/** Names the store's window; null while this node has counted alone. */
	startedAtMs: number | null = null;
	/** Requests let through here. */
	used = 0;
	/** Of those, and of those to come, what the store counts as this node's. */
	granted = 0;
	/** What the store counts over all nodes, as last heard. */
	taken = 0;
	/** At this limit and below the store has no more in this window. */
	exhaustedLimit = 0;
	/** Tokens of all nodes, as last heard; on their way to the store; counted since. */
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

	/** Of all nodes. */
	get requests(): number {
		return this.taken - this.granted + this.used;
	}

	/** Of all nodes. */
	get tokens(): number {
		return Math.max(0, this.reportedTokens + this.reportingTokens + this.unreportedTokens);
	}

	/** Let through here without the store. */
	get spent(): number {
		return Math.max(0, this.used - this.granted);
	}
}

/**
 * Requests and tokens per minute over all nodes of a store (docs/money.md, Minute limits). Requests are taken in the
 * store: a request that finds none granted to its node waits for one trip, shared by all that wait. Tokens are counted
 * here and told every 250 ms. While the store cannot be asked, or does not answer within a second, the node counts alone.
 */
export class SharedRateWindows {
	readonly #store: SharedMinutes;
	readonly #clock: Clock;
	readonly #timers: Timers;
	readonly #windows: WindowTable<SharedWindow>;
	/** Windows with requests that wait. */
	readonly #asking = new Set<SharedWindow>();
	/** Windows that used more than the store knows of. */
	readonly #unreportedWindows = new Set<SharedWindow>();
	/** Windows whose tokens are to be told, or heard. */
	readonly #reporting = new Set<SharedWindow>();
	readonly #stopReporting: () => void;
	#isExchanging = false;
	#isAlone = false;
	#askedAt = Number.NEGATIVE_INFINITY;

	constructor(store: SharedMinutes, parts: { clock: Clock; timers: Timers }, maxWindows: number) {
		this.#store = store;
		this.#clock = parts.clock;
		this.#timers = parts.timers;
		this.#windows = new WindowTable(maxWindows);
		this.#stopReporting = every(parts.timers, REPORT_EVERY_MS, () => this.#report());
	}

	/**
	 * Takes one request and counts its prompt's estimate: at once where the store granted it to this node already.
	 * Throws, or rejects with, RATE_LIMIT_EXCEEDED and then takes nothing.
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
		this.#asking.add(window);
		void this.#exchange();
		return promise;
	}

	/** What is told of a window to a request that takes nothing; null: of one that nobody has used. */
	look(accountId: string, subject: string | null, limit: RateLimit): RateState {
		const now = this.#clock.monotonicMs();
		const window = subject === null ? undefined : this.#windows.find(accountId, subject, now);
		return window === undefined ? unusedRateState(limit, this.#clock) : rateStateOf(window, window, limit, now);
	}

	/** Puts the real tokens in the place of the estimate: see `RateWindows.settle`. */
	settle(accountId: string, subject: string, estimate: number, tokens: number, taken?: RateState): void {
		const window = this.#windows.find(accountId, subject, this.#clock.monotonicMs());
		if (window === undefined) return;
		const same = taken === undefined || taken.resetAtSeconds === window.resetAtSeconds;
		const more = tokens - estimate;
		this.#count(window, same ? more : Math.max(0, more));
	}

	/** Who still waits is served by what this node knows. */
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

	/** One try without the store; undefined where it has to be asked. Throws RATE_LIMIT_EXCEEDED. */
	#takeLocally(window: SharedWindow, limit: RateLimit, estimate: number): RateState | undefined {
		const { requestsPerMinute, tokensPerMinute } = limit;
		const now = this.#clock.monotonicMs();
		const tokensOut = tokensPerMinute !== undefined && window.tokens >= tokensPerMinute;
		const granted = window.used < window.granted;
		const out = window.used >= requestsPerMinute || (!granted && window.exhaustedLimit >= requestsPerMinute);
		const countedAlone = this.#isAlone && !granted && window.requests >= requestsPerMinute;
		// The other nodes' estimates may turn out too high: who is refused for tokens wants to hear of it.
		if (tokensOut) this.#reporting.add(window);
		if (tokensOut || out || countedAlone)
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

	/** Every 250 ms. */
	#report(): void {
		if (this.#isAlone && this.#clock.monotonicMs() - this.#askedAt < RETRY_MS) return;
		if (this.#isAlone || this.#reporting.size + this.#unreportedWindows.size > 0) void this.#exchange(true);
	}

	/** One exchange with the store after the other, until nobody waits. */
	async #exchange(tell = false): Promise<void> {
		if (this.#isExchanging) return;
		this.#isExchanging = true;
		try {
			for (let first = true; first || (this.#asking.size > 0 && !this.#isAlone); first = false) await this.#ask(tell && first);
		} finally {
			this.#isExchanging = false;
		}
	}

	async #ask(tell: boolean): Promise<void> {
		const sentAt = this.#clock.monotonicMs();
		this.#askedAt = sentAt;
		const asking = [
			...this.#asking,
			...this.#takeFrom(this.#unreportedWindows, (window) => window.spent > 0 && !this.#asking.has(window)),
		];
		const takes = asking.map(takeOf);
		const telling = tell ? this.#takeFrom(this.#reporting, (window) => window.startedAtMs !== null) : [];
		const sums = telling.map(sumOf);
		const cancelTimeout = this.#timers.after(STORE_TIMEOUT_MS, () => this.#countAlone());
		try {
			const answer = await this.#store.exchange({ takes, sums });
			for (const [index, window] of telling.entries()) applyStoreTokens(window, answer.sums[index] ?? null);
			const complete = takes.every((take, index) => this.#granted(asking[index], take, answer.takes[index] ?? null, sentAt));
			this.#isAlone = !complete;
		} catch {
			this.#isAlone = true;
			for (const window of telling) this.#unreported(window);
			for (const window of asking) if (window.spent > 0) this.#unreportedWindows.add(window);
		} finally {
			cancelTimeout();
		}
		this.#serveAll();
	}

	/** Takes up to a bound of windows that are still open out of a set. */
	#takeFrom(windows: Set<SharedWindow>, wanted: (window: SharedWindow) => boolean): SharedWindow[] {
		const now = this.#clock.monotonicMs();
		const taken: SharedWindow[] = [];
		for (const window of windows) {
			if (taken.length >= MAX_REPORTED) break;
			windows.delete(window);
			if (window.endsAt > now && wanted(window)) taken.push(window);
		}
		return taken;
	}

	/** False where the store did not say. */
	#granted(window: SharedWindow | undefined, take: MinuteTake, grant: MinuteGrant | null, sentAt: number): boolean {
		if (window === undefined || grant === null) return false;
		if (window.startedAtMs !== grant.startedAtMs) {
			if (window.startedAtMs !== null) restart(window);
			window.startedAtMs = grant.startedAtMs;
			// From when it was asked: the store's window ends no earlier than this one, so no grant outlives it.
			window.endsAt = sentAt + grant.endsInMs;
			const leftMs = window.endsAt - this.#clock.monotonicMs();
			window.resetAtSeconds = Math.ceil((this.#clock.wallMs() + leftMs) / 1000);
			if (window.unreportedTokens !== 0) this.#reporting.add(window);
		}
		window.granted += take.spent + grant.granted;
		window.taken = grant.taken;
		window.reportedTokens = grant.tokens;
		if (grant.granted < take.wanted) window.exhaustedLimit = Math.max(window.exhaustedLimit, take.limit);
		return true;
	}

	#unreported(window: SharedWindow): void {
		window.unreportedTokens += window.reportingTokens;
		window.reportingTokens = 0;
		this.#reporting.add(window);
	}

	#countAlone(): void {
		this.#isAlone = true;
		this.#serveAll();
	}

	#serveAll(): void {
		for (const window of this.#asking) {
			this.#serve(window);
			if (window.waiting.length === 0) this.#asking.delete(window);
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

function takeOf(window: SharedWindow): MinuteTake {
	const { accountId, subject, waiting, spent } = window;
	return { accountId, subject, limit: waiting.at(-1)?.limit.requestsPerMinute ?? 0, wanted: waiting.length, spent };
}

function sumOf(window: SharedWindow) {
	const { accountId, subject, startedAtMs, unreportedTokens } = window;
	window.reportingTokens = unreportedTokens;
	window.unreportedTokens = 0;
	return { accountId, subject, startedAtMs: startedAtMs ?? 0, tokens: unreportedTokens };
}

function applyStoreTokens(window: SharedWindow, tokens: number | null): void {
	window.reportingTokens = 0;
	if (tokens !== null) window.reportedTokens = tokens;
}

/** The store's window ended while it was asked: what it had granted is gone with it. */
function restart(window: SharedWindow): void {
	window.used = window.spent;
	window.granted = 0;
	window.exhaustedLimit = 0;
	window.unreportedTokens = 0;
}
