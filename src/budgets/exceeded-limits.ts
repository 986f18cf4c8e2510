import type { ExceededLimit } from "../store/admin/exceeded-limits.ts";
import type { StorePort } from "../store/port.ts";

/** What waits for the store is at most this; past it the oldest is forgotten. A refused request costs no memory. */
const MAX_PENDING = 1_000;
const MAX_PENDING_OF_ACCOUNT = 50;
/** A caller who hammers a limit makes one write a second. */
const WRITE_EVERY_MS = 1_000;

/**
 * Remembers requests that a limit refused, for the account's own reading. Gathered here and written by the store
 * once a second: what a killed process had gathered is lost, since it is no one's money.
 */
export class ExceededLimits {
	readonly #store: Pick<StorePort, "admin">;
	#pending: ExceededLimit[] = [];
	readonly #pendingOf = new Map<string, number>();
	#timer: Timer | null = null;
	#writing: Promise<void> = Promise.resolve();

	constructor(store: Pick<StorePort, "admin">) {
		this.#store = store;
	}

	note(entry: ExceededLimit): void {
		const ofAccount = this.#pendingOf.get(entry.accountId) ?? 0;
		if (ofAccount >= MAX_PENDING_OF_ACCOUNT) this.#drop((old) => old.accountId === entry.accountId);
		else if (this.#pending.length >= MAX_PENDING) this.#drop(() => true);
		this.#pending.push(entry);
		this.#pendingOf.set(entry.accountId, (this.#pendingOf.get(entry.accountId) ?? 0) + 1);
		this.#timer ??= setTimeout(() => void this.#write(), WRITE_EVERY_MS);
	}

	/** The last 50 of an account, newest first; those of this node up to now. Rejects with what the store throws. */
	async latest(accountId: string): Promise<readonly ExceededLimit[]> {
		await this.#write();
		return this.#store.admin("listExceededLimits", { accountId });
	}

	/** Writes what is gathered. Call before the store closes. */
	async close(): Promise<void> {
		await this.#write();
	}

	#drop(isIt: (entry: ExceededLimit) => boolean): void {
		const index = this.#pending.findIndex(isIt);
		const [dropped] = index < 0 ? [] : this.#pending.splice(index, 1);
		if (dropped !== undefined) this.#pendingOf.set(dropped.accountId, (this.#pendingOf.get(dropped.accountId) ?? 1) - 1);
	}

	#write(): Promise<void> {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
		const entries = this.#pending;
		if (entries.length === 0) return this.#writing;
		this.#pending = [];
		this.#pendingOf.clear();
		// Where the store is in trouble a log of refusals is the first to be let go.
		const written = this.#store.admin("noteExceededLimits", entries).catch(() => {});
		this.#writing = Promise.all([this.#writing, written]).then(() => {});
		return this.#writing;
	}
}
