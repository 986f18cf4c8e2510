import { ApiError } from "../../errors/index.ts";
import { accountIdOf, createAccountId } from "../../store/account-id.ts";
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

/** All account ids match this pattern, so the store never sees text of arbitrary length or content. */
const ACCOUNT_ID = /^[A-Za-z0-9_:.-]{1,128}$/;
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** One page, and whether another follows. */
export interface Page<T> {
	readonly entries: readonly T[];
	readonly more: boolean;
}

/**
 * The operator's operations on accounts and their money while the server runs. A change applies to the next request on this
 * node when its promise resolves.
 * @throws the errors of docs/api.md (Accounts): 400, 404, 409 and 503
 */
export class AccountService {
	readonly #store: Pick<StorePort, "admin">;

	constructor(store: Pick<StorePort, "admin">) {
		this.#store = store;
	}

	/** Creates an account, once for each idempotency key: a repeat returns the account as it is now. */
	create(
		account: Omit<NewAccount, "id" | "firstKey">,
		idempotencyKey: string | null,
	): Promise<{ readonly account: AccountView; readonly replayed: boolean }> {
		const id = idempotencyKey === null ? createAccountId() : accountIdOf(`account ${idempotencyKey}`);
		return orApiError(this.#store.admin("createAccount", { ...account, id }));
	}

	/** Lists accounts, newest first. */
	async list(after: AccountPlace | null, limit: number): Promise<Page<AccountView>> {
		const rows = await orApiError(this.#store.admin("listAccounts", { order: "newest-first", after, limit: limit + 1 }));
		return pageOf(rows, limit);
	}

	show(accountId: string): Promise<AccountView> {
		return orApiError(this.#store.admin("showAccount", { accountId: checkedId(accountId) }));
	}

	change(accountId: string, changes: AccountChanges): Promise<AccountView> {
		const id = checkedId(accountId);
		return this.#takingBack(id, () => this.#store.admin("changeAccount", { accountId: id, changes }));
	}

	credit(request: Required<MoneyRequest>): Promise<BookedOnce> {
		return orApiError(this.#store.admin("credit", { ...request, accountId: checkedId(request.accountId) }));
	}

	debit(request: Required<MoneyRequest>): Promise<BookedOnce> {
		const accountId = checkedId(request.accountId);
		return this.#takingBack(accountId, () => this.#store.admin("debit", { ...request, accountId }));
	}

	refund(request: RefundRequest & { readonly accountId: string; readonly reference: string }): Promise<Refunded> {
		const requestId = REQUEST_ID.test(request.requestId) ? request.requestId : "";
		return orApiError(this.#store.admin("refund", { ...request, requestId, accountId: checkedId(request.accountId) }));
	}

	/** Lists credits, debits or refunds, newest first. */
	async money(query: ListMoney): Promise<Page<MoneyEntry>> {
		const { limit, accountId } = query;
		const call = this.#store.admin("listMoney", { ...query, accountId: checkedId(accountId), limit: limit + 1 });
		return pageOf(await orApiError(call), limit);
	}

	#takingBack<T>(accountId: string, attempt: () => Promise<T>): Promise<T> {
		const ask = () => this.#store.admin("askForMoney", { accountId });
		return orApiError(waitForMoney(attempt, ask, LEASED_PATIENCE_MS));
	}
}

function pageOf<T>(rows: readonly T[], limit: number): Page<T> {
	return { entries: rows.slice(0, limit), more: rows.length > limit };
}

function checkedId(accountId: string): string {
	if (ACCOUNT_ID.test(accountId)) return accountId;
	throw new ApiError("NOT_FOUND", { message: "There is no such account" });
}
