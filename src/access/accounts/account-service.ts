import { ApiError } from "../../errors/index.ts";
import { accountIdOf, newAccountId } from "../../store/account-id.ts";
import type { AccountPlace, AccountView } from "../../store/admin/account-view.ts";
import type { NewAccount } from "../../store/admin/accounts.ts";
import type { ListMoney, MoneyEntry } from "../../store/admin/list-money.ts";
import type { BookedOnce, MoneyRequest } from "../../store/admin/money-request.ts";
import { LEASED_PATIENCE_MS, waitForMoney } from "../../store/admin/recall-money.ts";
import type { Refunded, RefundRequest } from "../../store/admin/refund.ts";
import type { AccountChanges } from "../../store/admin/set-account.ts";
import { orApiError } from "../../store/api-refusal.ts";
import type { StorePort } from "../../store/port.ts";

export type { AccountPlace } from "../../store/admin/account-view.ts";

/** No account has an id of another form: the store gets no text of any length and content. */
const ACCOUNT_ID = /^[A-Za-z0-9_:.-]{1,128}$/;
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** One page, and whether another follows. */
export interface Page<T> {
	readonly entries: readonly T[];
	readonly more: boolean;
}

/**
 * What the operator does with accounts and their money while the server runs. A change binds the next request on this
 * node when its promise resolves. Throws the errors of docs/api.md (Accounts): 400, 404, 409 and 503.
 */
export class AccountService {
	readonly #store: Pick<StorePort, "admin">;

	constructor(store: Pick<StorePort, "admin">) {
		this.#store = store;
	}

	/** Makes an account; under a key once: a repeat answers with the account as it is now. */
	create(
		account: Omit<NewAccount, "id" | "firstKey">,
		idempotencyKey: string | null,
	): Promise<{ readonly account: AccountView; readonly replayed: boolean }> {
		const id = idempotencyKey === null ? newAccountId() : accountIdOf(`account ${idempotencyKey}`);
		return orApiError(this.#store.admin("createAccount", { ...account, id }));
	}

	/** Newest first. */
	async list(after: AccountPlace | null, limit: number): Promise<Page<AccountView>> {
		const found = await orApiError(this.#store.admin("listAccounts", { order: "newest-first", after, limit: limit + 1 }));
		return pageOf(found, limit);
	}

	show(accountId: string): Promise<AccountView> {
		return orApiError(this.#store.admin("showAccount", { accountId: known(accountId) }));
	}

	change(accountId: string, changes: AccountChanges): Promise<AccountView> {
		const id = known(accountId);
		return this.#takingBack(id, () => this.#store.admin("changeAccount", { accountId: id, changes }));
	}

	credit(request: Required<MoneyRequest>): Promise<BookedOnce> {
		return orApiError(this.#store.admin("credit", { ...request, accountId: known(request.accountId) }));
	}

	debit(request: Required<MoneyRequest>): Promise<BookedOnce> {
		const accountId = known(request.accountId);
		return this.#takingBack(accountId, () => this.#store.admin("debit", { ...request, accountId }));
	}

	refund(request: RefundRequest & { readonly accountId: string; readonly reference: string }): Promise<Refunded> {
		const requestId = REQUEST_ID.test(request.requestId) ? request.requestId : "";
		return orApiError(this.#store.admin("refund", { ...request, requestId, accountId: known(request.accountId) }));
	}

	/** Credits, debits or refunds, newest first. */
	async money(query: ListMoney): Promise<Page<MoneyEntry>> {
		const { limit, accountId } = query;
		const call = this.#store.admin("listMoney", { ...query, accountId: known(accountId), limit: limit + 1 });
		return pageOf(await orApiError(call), limit);
	}

	#takingBack<T>(accountId: string, attempt: () => Promise<T>): Promise<T> {
		const ask = () => this.#store.admin("askForMoney", { accountId });
		return orApiError(waitForMoney(attempt, ask, LEASED_PATIENCE_MS));
	}
}

function pageOf<T>(found: readonly T[], limit: number): Page<T> {
	return { entries: found.slice(0, limit), more: found.length > limit };
}

function known(accountId: string): string {
	if (ACCOUNT_ID.test(accountId)) return accountId;
	throw new ApiError("NOT_FOUND", { message: "There is no such account" });
}
