import type { Journal } from "../journal/records.ts";
import type { KeyLoad, StoreChange, StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import { CachedAccount } from "./cached-account.ts";
import { CachedKey } from "./cached-key.ts";
import { ExpiringSet } from "./expiring-set.ts";
import { accountsUnavailable } from "./lease-queue.ts";
import type { KeyAbsence } from "./port.ts";
import { utcDay } from "./spending-window.ts";

const TOUCH_EVERY_MS = 60_000;
const UNKNOWN_MS = 1_000;
const MAX_UNKNOWN = 10_000;
/** Shortest interval between invalidations of one name: no payment settles faster. */
const INVALIDATE_EVERY_MS = 100;
/** Entries examined for each one that is added to a full cache; pinned and recently used ones are skipped. */
const EVICTION_SCAN = 64;

/**
 * Keys and accounts as this node knows them. A cold key costs one coalesced read, and a change notice re-reads what
 * it names. Bounded: past `maxKeys` keys without recent use are evicted, except those with open holds or with posts
 * that the store has not applied. An account leaves with its last key, and its lease returns to the store.
 */
export class CallerCache {
	readonly #store: StorePort;
	readonly #journal: Journal;
	readonly #clock: Clock;
	readonly #timers: Timers;
	readonly #maxKeys: number;
	/** Keys by the hash of their text, oldest first. */
	readonly #keys = new Map<string, CachedKey>();
	readonly #accounts = new Map<string, CachedAccount>();
	/** Running first reads; a notice that arrives meanwhile sets `again`. */
	readonly #coldReads = new Map<string, { promise: Promise<CachedKey | null>; again: boolean }>();
	readonly #unknownKeys: ExpiringSet;
	/** Hashes whose keys were found to be revoked, for the text of the refusal. */
	readonly #revokedKeys: ExpiringSet;
	readonly #invalidated: ExpiringSet;
	/** Accounts whose lease could not be returned when they left the cache. */
	readonly #pendingReturns = new Set<string>();
	/** Accounts without a key that a running request still uses. */
	readonly #draining = new Set<CachedAccount>();
	readonly #stopListening: () => void;

	constructor(parts: { store: StorePort; journal: Journal; clock: Clock; timers: Timers }, maxKeys: number) {
		this.#store = parts.store;
		this.#journal = parts.journal;
		this.#clock = parts.clock;
		this.#timers = parts.timers;
		this.#maxKeys = maxKeys;
		this.#unknownKeys = new ExpiringSet(parts.clock, UNKNOWN_MS, MAX_UNKNOWN);
		this.#revokedKeys = new ExpiringSet(parts.clock, UNKNOWN_MS, MAX_UNKNOWN);
		this.#invalidated = new ExpiringSet(parts.clock, INVALIDATE_EVERY_MS, MAX_UNKNOWN);
		this.#stopListening = this.#store.onChange((change) => this.#changed(change));
	}

	/**
	 * Returns the key of a hash, at once if it is cached and fresh. null: unknown, revoked or expired. Rejects with
	 * 503.
	 */
	find(hash: string): CachedKey | null | Promise<CachedKey | null> {
		const now = this.#clock.wallMs();
		const key = this.#keys.get(hash);
		if (key === undefined) return this.#unknownKeys.has(hash) ? null : this.#first(hash);
		key.used = true;
		if (!isFresh(key, utcDay(now))) return this.#freshen(key);
		return this.#present(key, now);
	}

	/** Tells why `find` has just returned null for a hash. */
	absence(hash: string): KeyAbsence {
		if (this.#keys.has(hash)) return "expired";
		return this.#revokedKeys.has(hash) ? "revoked" : "unknown";
	}

	/**
	 * Makes the next `find` of a name read the store, since a change notice may be on its way. Returns false if this
	 * is unnecessary: only this node changes the store, or the name was invalidated a moment ago.
	 */
	invalidate(hash: string): boolean {
		if (!this.#store.shared || this.#invalidated.has(hash)) return false;
		this.#invalidated.add(hash);
		this.#unknownKeys.delete(hash);
		this.#keys.get(hash)?.cached.freshness.changed();
		return true;
	}

	/**
	 * Returns the current object of a key, ready for a request of `day`. The key may have left the cache since its
	 * request came, or its caps in that day's window may need a read. null: revoked. Rejects with 503.
	 */
	async ready(cached: CachedKey, day: number): Promise<CachedKey | null> {
		let key: CachedKey | null = cached;
		while (key?.detached) key = await this.find(key.hash);
		if (key === null) return null;
		key.wait();
		try {
			await this.#readWindow(key, day);
		} finally {
			key.waited();
		}
		return key.revoked ? null : key;
	}

	/** Handles the end of a hold of the key. */
	holdEnded(key: CachedKey): void {
		if (key.cached.keys === 0) this.#retire(key.cached);
	}

	get size(): number {
		return this.#keys.size;
	}

	close(): void {
		this.#stopListening();
	}

	/** Makes the last checks of each call: expiry by the current clock, and the record of use. */
	#present(key: CachedKey, now: number): CachedKey | null {
		const { expiresAtMs } = key.key;
		if (expiresAtMs !== null && expiresAtMs <= now) return null;
		const { recordedId } = key;
		if (recordedId !== null && now - key.touchedAtMs >= TOUCH_EVERY_MS && this.#journal.workRefusal() === null) {
			key.touchedAtMs = now;
			// A broken journal ends the process by itself, and nobody waits for a touch.
			this.#journal.append({ t: "touch", keyId: recordedId, atMs: now }).catch(() => {});
		}
		return key;
	}

	#first(hash: string): Promise<CachedKey | null> {
		const underWay = this.#coldReads.get(hash);
		if (underWay !== undefined) return underWay.promise;
		const cold = { promise: this.#readFirst(hash), again: false };
		this.#coldReads.set(hash, cold);
		const done = (): void => void this.#coldReads.delete(hash);
		cold.promise.then(done, done);
		return cold.promise;
	}

	async #readFirst(hash: string): Promise<CachedKey | null> {
		let load: KeyLoad | "revoked" | null;
		let day: number;
		do {
			const cold = this.#coldReads.get(hash);
			if (cold !== undefined) cold.again = false;
			day = utcDay(this.#clock.wallMs());
			load = await this.#ask(() => this.#store.loadKey(hash, day));
		} while (this.#coldReads.get(hash)?.again === true);
		if (load === null || load === "revoked") {
			this.#unknownKeys.add(hash);
			if (load === "revoked") this.#revokedKeys.add(hash);
			return null;
		}
		const cached = this.#account(load);
		const key = new CachedKey(hash, load, day, cached, this.#clock, this.#store.shared);
		cached.keys++;
		this.#keys.set(hash, key);
		if (this.#keys.size > this.#maxKeys) this.#evict(key);
		return this.#freshen(key);
	}

	#account(load: KeyLoad): CachedAccount {
		const { account } = load;
		const knownAccount = this.#accounts.get(account.id);
		if (knownAccount !== undefined) {
			knownAccount.account = account;
			return knownAccount;
		}
		const parts = { store: this.#store, clock: this.#clock, timers: this.#timers, journal: this.#journal };
		const cached = new CachedAccount(account, parts, this.#pendingReturns.delete(account.id));
		this.#accounts.set(account.id, cached);
		return cached;
	}

	/** Updates key, account and totals from the store. */
	async #freshen(key: CachedKey): Promise<CachedKey | null> {
		const { cached } = key;
		key.wait();
		try {
			for (;;) {
				const now = this.#clock.wallMs();
				const day = utcDay(now);
				if (key.revoked) return null;
				if (isFresh(key, day)) return this.#present(key, now);
				if (key.freshness.stale) await (key.reading ?? this.#readKey(key, day));
				else await (cached.reading ?? this.#readAccount(cached, day));
			}
		} finally {
			key.waited();
		}
	}

	#readKey(key: CachedKey, day: number): Promise<void> {
		const mark = key.freshness.mark();
		key.beginRead();
		const settle = async (): Promise<void> => {
			let load: KeyLoad | null = null;
			try {
				const answer = await this.#ask(() => this.#store.loadKey(key.hash, day));
				key.freshness.read(mark);
				if (answer === null || answer === "revoked") {
					this.#drop(key);
				} else {
					load = answer;
					key.cached.account = answer.account;
				}
			} finally {
				key.endRead(load, day);
				key.reading = null;
			}
		};
		key.reading = settle();
		return key.reading;
	}

	#readAccount(cached: CachedAccount, day: number): Promise<void> {
		const { stale } = cached.freshness;
		const mark = cached.freshness.mark();
		const call = cached.money.beginCall();
		const settle = async (): Promise<void> => {
			try {
				const [account, budgets] = await this.#ask(() =>
					Promise.all([
						stale ? this.#store.loadAccount(cached.account.id) : cached.account,
						this.#store.budgets(cached.account.id, day),
					]),
				);
				// A deleted account keeps its keys until they are revoked, but may do nothing.
				cached.account = account ?? { ...cached.account, disabled: true };
				cached.money.updateTotals(call, budgets, day);
				cached.freshness.read(mark);
			} finally {
				cached.money.endCall(call);
				cached.reading = null;
			}
		};
		cached.reading = settle();
		return cached.reading;
	}

	async #ask<T>(question: () => Promise<T>): Promise<T> {
		try {
			return await question();
		} catch (cause) {
			throw accountsUnavailable(cause);
		}
	}

	#changed(change: StoreChange): void {
		if (change.kind === "reload" || change.kind === "log-level") return;
		if (change.kind === "leases-ended") {
			for (const cached of this.#accounts.values()) cached.leases.expire();
			this.#pendingReturns.clear();
			return;
		}
		if (change.kind === "store-moved") {
			for (const key of this.#keys.values()) key.freshness.changed();
			for (const cached of this.#accounts.values()) cached.freshness.changed();
			return;
		}
		if (change.kind === "key") {
			this.#unknownKeys.delete(change.hash);
			const cold = this.#coldReads.get(change.hash);
			if (cold !== undefined) cold.again = true;
			const key = this.#keys.get(change.hash);
			if (key === undefined) return;
			key.freshness.changed();
			key.cached.leases.onCapsChanged();
			this.#readWaiting(this.#freshen(key));
			return;
		}
		const cached = this.#accounts.get(change.accountId);
		if (cached === undefined) {
			if (this.#pendingReturns.delete(change.accountId)) this.#giveBackAll(change.accountId);
			return;
		}
		if (change.kind === "recall") {
			cached.leases.onRecalled();
			return;
		}
		cached.freshness.changed();
		cached.leases.onAccountChanged();
		this.#readWaiting(cached.reading ?? this.#readAccount(cached, utcDay(this.#clock.wallMs())));
	}

	/** Reads what the key spent in the window of `day`, if that is unknown. */
	async #readWindow(key: CachedKey, day: number): Promise<void> {
		while (!key.revoked && key.window(day) === undefined) await (key.reading ?? this.#readKey(key, day));
	}

	/** Starts a read ahead of the next request. If it fails, that request reads again and gets the error. */
	#readWaiting(read: Promise<unknown>): void {
		read.catch(() => {});
	}

	#drop(key: CachedKey): void {
		key.revoked = true;
		this.#revokedKeys.add(key.hash);
		this.#remove(key);
	}

	#remove(key: CachedKey): void {
		if (this.#keys.get(key.hash) !== key) return;
		this.#keys.delete(key.hash);
		key.detached = true;
		key.cached.keys--;
		this.#retire(key.cached);
	}

	/**
	 * Makes space for `added`: examines the oldest few entries, and keeps those that were used since the last scan or
	 * must stay.
	 */
	#evict(added: CachedKey): void {
		for (const cached of [...this.#draining]) this.#retire(cached);
		let checked = 0;
		let victim: CachedKey | undefined;
		for (const key of this.#keys.values()) {
			if (checked++ >= EVICTION_SCAN || key === added) break;
			const pinned = key.busy || key.lastPostSeq > this.#journal.appliedSeq;
			if (!pinned && !key.used) {
				victim = key;
				break;
			}
			if (!pinned) victim ??= key;
			key.used = false;
			this.#keys.delete(key.hash);
			this.#keys.set(key.hash, key);
		}
		if (victim !== undefined) this.#remove(victim);
	}

	/** Removes an account without keys: at once, or when its running requests have ended. */
	#retire(cached: CachedAccount): void {
		this.#draining.delete(cached);
		const { id } = cached.account;
		if (cached.keys > 0 || this.#accounts.get(id) !== cached) return;
		if (!cached.unused) {
			this.#draining.add(cached);
			return;
		}
		this.#accounts.delete(id);
		if (cached.leases.retire()) this.#giveBackAll(id);
	}

	/**
	 * Returns the account's lease to the store. A failed return is repeated when the account comes again, or at its
	 * next notice.
	 */
	#giveBackAll(accountId: string): void {
		this.#store.giveBack(accountId, [], []).catch(() => this.#pendingReturns.add(accountId));
	}
}

/** Returns true if a request may use the cached key: no notice is pending, and the day's totals are known. */
function isFresh({ freshness, cached }: CachedKey, day: number): boolean {
	return !freshness.stale && !cached.freshness.stale && cached.money.totalsDay >= day;
}
