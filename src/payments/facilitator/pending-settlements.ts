/** The interface through which the facilitator's library remembers transactions without a block. */
export interface PendingStore {
	get(key: string): Promise<string | undefined>;
	set(key: string, transaction: string): Promise<void>;
	delete(key: string): Promise<void>;
}

/** Most payments that run at the same time: an older one is sent anew. */
const MAX_ENTRIES = 10_000;

/**
 * Remembers sent transactions only as long as the node does. Otherwise each retry would wait for a dropped
 * transaction, and never send it again.
 */
export class PendingSettlements implements PendingStore {
	readonly #isKnown: (transaction: string) => Promise<boolean>;
	readonly #sent = new Map<string, string>();

	constructor(isKnown: (transaction: string) => Promise<boolean>) {
		this.#isKnown = isKnown;
	}

	async get(key: string): Promise<string | undefined> {
		const transaction = this.#sent.get(key);
		if (transaction === undefined || (await this.#isKnown(transaction))) return transaction;
		this.#sent.delete(key);
		return undefined;
	}

	async set(key: string, transaction: string): Promise<void> {
		const [oldest] = this.#sent.keys();
		if (this.#sent.size >= MAX_ENTRIES && oldest !== undefined) this.#sent.delete(oldest);
		this.#sent.set(key, transaction);
	}

	async delete(key: string): Promise<void> {
		this.#sent.delete(key);
	}
}
