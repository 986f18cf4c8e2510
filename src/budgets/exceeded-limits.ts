import type { ExceededLimit } from "../store/admin/exceeded-limits.ts";
import type { StorePort } from "../store/port.ts";

/** Most entries that wait for the store; past it the oldest is dropped. A refused request must cost no memory. */
const MAX_PENDING = 1_000;
const MAX_PENDING_OF_ACCOUNT = 50;
/** A caller that keeps hitting a limit causes one write a second. */
const WRITE_EVERY_MS = 1_000;

/**
 * Records requests that a limit refused, so that the account can read them. Entries are gathered in memory and
 * written to the store once a second: a killed process loses them, which is acceptable since no money is involved.
 */
export class ExceededLimits {
	readonly #store: Pick<StorePort, "admin">;
	#pending: ExceededLimit[] = [];
	readonly #pendingByAccount = new Map<string, number>();
	#timer: Timer | null = null;
	#writing: Promise<void> = Promise.resolve();

	constructor(store: Pick<StorePort, "admin">) {
		this.#store = store;
	}

	note(entry: ExceededLimit): void {
		const ofAccount = this.#pendingByAccount.get(entry.accountId) ?? 0;
		if (ofAccount >= MAX_PENDING_OF_ACCOUNT) this.#drop((old) => old.accountId === entry.accountId);
		else if (this.#pending.length >= MAX_PENDING) this.#drop(() => true);
		this.#pending.push(entry);
		this.#pendingByAccount.set(entry.accountId, (this.#pendingByAccount.get(entry.accountId) ?? 0) + 1);
		this.#timer ??= setTimeout(() => void this.#write(), WRITE_EVERY_MS);
	}

	/**
	 * Returns the last 50 entries of an account, newest first, including all of this node. Rejects with the error of
	 * the store.
	 */
	async latest(accountId: string): Promise<readonly ExceededLimit[]> {
		await this.#write();
		return this.#store.admin("listExceededLimits", { accountId });
	}

	/** Writes the gathered entries. Call before the store closes. */
	async close(): Promise<void> {
		await this.#write();
	}

	#drop(matches: (entry: ExceededLimit) => boolean): void {
		const index = this.#pending.findIndex(matches);
		const [dropped] = index < 0 ? [] : this.#pending.splice(index, 1);
		if (dropped !== undefined)
			this.#pendingByAccount.set(dropped.accountId, (this.#pendingByAccount.get(dropped.accountId) ?? 1) - 1);
	}

	#write(): Promise<void> {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
		const entries = this.#pending;
		if (entries.length === 0) return this.#writing;
		this.#pending = [];
		this.#pendingByAccount.clear();
		// If the store has trouble, a log of refusals is the first thing to drop.
		const write = this.#store.admin("noteExceededLimits", entries).catch(() => {});
		this.#writing = Promise.all([this.#writing, write]).then(() => {});
		return this.#writing;
	}
}
