import type { Nano } from "../ledger/nano.ts";
import { nano } from "../ledger/nano.ts";
import { limitNano } from "../store/core/key-limits.ts";
import type { Account, ApiKey, CapAmounts, KeyLoad } from "../store/port.ts";
import { isWalletKey } from "../store/wallet-callers.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { CachedAccount } from "./cached-account.ts";
import type { Caller } from "./caller.ts";
import { Freshness } from "./freshness.ts";
import type { CapHolder } from "./leased-caps.ts";
import type { OpenHold } from "./open-hold.ts";
import { SpendingWindow, utcDay, windowStart } from "./spending-window.ts";

/** Windows that a key keeps: the current one, and one or two in which running requests were admitted. */
const MAX_WINDOWS = 4;

/** Posts of a key since a read of it began: the answer does not include them. */
type PostsSince = { readonly day: number; readonly usd: number; readonly diem: number }[];

/** A key as this node knows it: the caller of all its requests, with what it has spent and holds against its caps. */
export class CachedKey implements Caller, CapHolder {
	readonly hash: string;
	readonly wallet = null;
	readonly cached: CachedAccount;
	readonly openHolds = new Set<OpenHold>();
	key: ApiKey;
	readonly freshness = new Freshness();
	/** The key was deleted in the store: running requests end normally, and no new one begins. */
	revoked = false;
	/** The key is no longer in the cache: no hold may begin on this object. */
	detached = false;
	/** The key was used since the last eviction scan. */
	used = false;
	/** When a use was last recorded, in Unix milliseconds. */
	touchedAtMs: number;
	/** Journal sequence of its last post. */
	lastPostSeq = 0;
	/** The running read, shared by all requests that wait for it. */
	reading: Promise<void> | null = null;
	readonly #clock: Clock;
	/** True if other nodes spend under the same caps: see `SpendingWindow`. */
	readonly #shared: boolean;
	readonly #windows = new Map<number, SpendingWindow>();
	#lastDay = -1;
	#lastWindow: SpendingWindow | undefined;
	#capped = false;
	#waitingRequests = 0;
	#postsSince: PostsSince | null = null;

	constructor(hash: string, load: KeyLoad, day: number, cached: CachedAccount, clock: Clock, shared: boolean) {
		this.hash = hash;
		this.key = load.key;
		this.cached = cached;
		this.touchedAtMs = load.key.lastUsedAtMs ?? 0;
		this.#clock = clock;
		this.#shared = shared;
		this.#take(load, day, []);
	}

	/** The key id for records; null if a wallet calls, since its key is a substitute. */
	get recordedId(): string | null {
		return isWalletKey(this.key) ? null : this.key.id;
	}

	get account(): Account {
		return this.cached.account;
	}

	/** Marks that a request waits: this keeps the key in the cache, and the account even where the key is revoked. */
	wait(): void {
		this.#waitingRequests++;
		this.cached.waiting++;
	}

	waited(): void {
		this.#waitingRequests--;
		this.cached.waiting--;
	}

	/** Returns true if something running refers to this object. */
	get busy(): boolean {
		return this.openHolds.size > 0 || this.#waitingRequests > 0 || this.reading !== null;
	}

	balances(): { readonly usd: Nano; readonly diem: Nano } {
		const { money } = this.cached;
		return { usd: nano(money.usd.total + money.bundled.total), diem: nano(money.diem(utcDay(this.#clock.wallMs())).total) };
	}

	/** Returns the window for a request of `day`; null without caps; undefined if it must be read first. */
	window(day: number): SpendingWindow | null | undefined {
		if (!this.#capped) return null;
		if (day !== this.#lastDay) {
			this.#lastDay = day;
			this.#lastWindow = this.#windows.get(this.#startOf(day));
		}
		return this.#lastWindow;
	}

	/** Call in the turn in which a read of this key goes out. */
	beginRead(): void {
		this.#postsSince = [];
	}

	/** Applies the read's answer for `day`; null if the read failed. */
	endRead(load: KeyLoad | null, day: number): void {
		const posts = this.#postsSince ?? [];
		this.#postsSince = null;
		if (load !== null) this.#take(load, day, posts);
	}

	/** Counts a journaled post of this key in its windows, and notes it for a running read. */
	posted(window: SpendingWindow | null | undefined, day: number, paid: CapAmounts, owed: CapAmounts, seq: number): void {
		this.lastPostSeq = seq;
		window?.post(paid, owed);
		this.#postsSince?.push({ day, usd: paid.usd + owed.usd, diem: paid.diem + owed.diem });
	}

	get keyId(): string {
		return this.key.id;
	}

	windows(): Iterable<SpendingWindow> {
		return this.#windows.values();
	}

	/** Returns false for a window that the key has dropped. */
	hasWindow(window: SpendingWindow): boolean {
		return this.#windows.get(window.start) === window;
	}

	#startOf(day: number): number {
		return this.#shared ? day : windowStart(this.key.limitPeriod, day);
	}

	#drop(window: SpendingWindow): void {
		this.#windows.delete(window.start);
		// The store may have a lease of this window that this node no longer knows.
		if (window.inUse && this.#shared) this.cached.leases.onRecalled();
	}

	/**
	 * Applies new limits, which bind new requests. Windows of the same period continue with the new limits. A new
	 * period counts what was spent in its own window, which has just been read. Windows of a shared store always
	 * continue, because their days do not change.
	 */
	#take(load: KeyLoad, day: number, posts: PostsSince): void {
		const period = load.key.limitPeriod;
		const limitUsd = limitNano(load.key.limits.usd);
		const limitDiem = limitNano(load.key.limits.diem);
		const capped = limitUsd !== Number.POSITIVE_INFINITY || limitDiem !== Number.POSITIVE_INFINITY;
		if (!capped || (!this.#shared && period !== this.key.limitPeriod)) for (const old of this.#windows.values()) this.#drop(old);
		this.key = load.key;
		this.#capped = capped;
		this.#lastDay = -1;
		if (capped) {
			for (const other of this.#windows.values()) {
				other.limitUsd = limitUsd;
				other.limitDiem = limitDiem;
			}
			const start = this.#startOf(day);
			const knownWindow = this.#shared ? this.#windows.get(start) : undefined;
			const window = knownWindow ?? new SpendingWindow(start, limitUsd, limitDiem, this.#shared);
			window.spentUsd = load.spent.usd;
			window.spentDiem = load.spent.diem;
			for (const post of posts) {
				if (windowStart(period, post.day) !== windowStart(period, day)) continue;
				window.spentUsd += post.usd;
				window.spentDiem += post.diem;
			}
			this.#windows.set(start, window);
			// The most distant windows are dropped, in whichever direction the clock was wrong; never the one just read.
			const byDistance = [...this.#windows.keys()].sort((a, b) => Math.abs(a - start) - Math.abs(b - start));
			for (const distantStart of byDistance.slice(MAX_WINDOWS)) {
				const old = this.#windows.get(distantStart);
				if (old !== undefined) this.#drop(old);
			}
		}
		for (const window of this.#windows.values()) {
			window.heldUsd = 0;
			window.heldDiem = 0;
		}
		for (const hold of this.openHolds) hold.moveTo(capped ? this.#windows.get(this.#startOf(hold.day)) : null);
	}
}
