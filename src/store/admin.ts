/**
 * Operator's changes to accounts, keys and credit, made on the store itself: from the command line in a separate
 * process while a server runs, or over HTTP. Every change writes its `changes` row in its own transaction, so that
 * the running server learns of it.
 *
 * It never leases money, and never changes what a node has leased.
 */
export { ACCOUNT_TIERS } from "./admin/account-fields.ts";
export { type AccountBalances, type AccountView, listAccounts, showAccount } from "./admin/account-view.ts";
export { createAccount, createFirstAccount, isEmpty, type NewAccount } from "./admin/accounts.ts";
export { type Backlog, readBacklog } from "./admin/backlog.ts";
export { requestLogLevel, requestReload } from "./admin/changes.ts";
export { credit } from "./admin/credit.ts";
export { debit } from "./admin/debit.ts";
export { type ErasedAccount, eraseAccount } from "./admin/erase-account.ts";
export { AdminError, type AdminErrorCode } from "./admin/errors.ts";
export { createKey, findKeyByHash, listKeys, type NewKey, revokeKey } from "./admin/keys.ts";
export { type ListMoney, listMoney, type MoneyEntry } from "./admin/list-money.ts";
export type { BookedOnce, MoneyRequest } from "./admin/money-request.ts";
export { type AdminStore, openAdmin } from "./admin/open-admin.ts";
export { LEASED_PATIENCE_MS, recallMoney, waitForMoney } from "./admin/recall-money.ts";
export { type Refunded, type RefundRequest, refund } from "./admin/refund.ts";
export { type AccountChanges, disableAccount, enableAccount, setAccount } from "./admin/set-account.ts";
export { findTopUp, listTopUps } from "./admin/top-ups/open-top-ups.ts";
export { type WalletEntryRow, walletEntries } from "./admin/top-ups/wallet-entries.ts";
export { listWallets, showWallet, type WalletView } from "./admin/top-ups/wallet-views.ts";
