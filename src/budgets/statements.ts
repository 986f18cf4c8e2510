import { orApiError } from "../store/api-refusal.ts";
import type { AdminAnswer, AdminInput, StorePort } from "../store/port.ts";
import { SecretReader } from "../store/secret-reader.ts";

export type { AccountMovement as StatementMovement } from "../store/admin/list-money.ts";
export type { AccountBalance } from "../store/queries/account-balance.ts";
export type { StatementEntry } from "../store/queries/statement.ts";
export type { KeySum, UsageSum, UsageSums } from "../store/queries/usage-sums.ts";

/**
 * The balance and usage of an account, as stored. Every read includes all posts that were written when it began, runs
 * off the event loop, and costs the same at any length of the journal. Throws 503 if the store cannot answer now.
 */
export class Statements {
	readonly #store: Pick<StorePort, "admin">;
	readonly #cursorSecret: SecretReader;

	constructor(store: Pick<StorePort, "admin">) {
		this.#store = store;
		this.#cursorSecret = new SecretReader(store, "usage-cursor");
	}

	balance(query: AdminInput<"accountBalance">): Promise<AdminAnswer<"accountBalance">> {
		return orApiError(this.#store.admin("accountBalance", query));
	}

	/** Returns entries by their position, and the total number. */
	page(query: AdminInput<"usagePage">): Promise<AdminAnswer<"usagePage">> {
		return orApiError(this.#store.admin("usagePage", query));
	}

	/** Returns entries that follow a position. */
	history(query: AdminInput<"usageHistory">): Promise<AdminAnswer<"usageHistory">> {
		return orApiError(this.#store.admin("usageHistory", query));
	}

	/** Returns movements into and out of the account other than charges, newest first. */
	movements(query: AdminInput<"listMovements">): Promise<AdminAnswer<"listMovements">> {
		return orApiError(this.#store.admin("listMovements", query));
	}

	/** Returns sums of days, from counters that are kept per day. */
	sums(query: AdminInput<"usageSums">): Promise<AdminAnswer<"usageSums">> {
		return orApiError(this.#store.admin("usageSums", query));
	}

	/**
	 * Returns balance and history of a wallet that pays with its own money, newest first; empty if it never topped
	 * up.
	 */
	wallet(query: AdminInput<"walletEntries">): Promise<AdminAnswer<"walletEntries">> {
		return orApiError(this.#store.admin("walletEntries", query));
	}

	/** Returns the secret that seals cursors, as hex: the same on all nodes, and after a restart. */
	cursorSecret(): Promise<string> {
		return this.#cursorSecret.read();
	}
}
