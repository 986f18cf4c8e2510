/**
 * What an operator does to accounts, keys and credit, on the store itself: from the command line in a process of its
 * own, while a server runs, or over HTTP. Every change writes its `changes` row in its own transaction, so the
 * running server hears of it.
 *
 * Never: leases money, or touches what a node has leased.
 */
export {
	type AccountBalances,
	type AccountChanges,
	type AccountView,
	createAccount,
	createFirstAccount,
	disableAccount,
	enableAccount,
	isEmpty,
	listAccounts,
	type NewAccount,
	setAccount,
	showAccount,
} from "./admin/accounts.ts";
export { type Backlog, readBacklog } from "./admin/backlog.ts";
export { requestReload } from "./admin/changes.ts";
export { type Credited, type CreditRequest, credit } from "./admin/credit.ts";
export { AdminError, type AdminErrorCode } from "./admin/errors.ts";
export { createKey, findKeyByHash, listKeys, type NewKey, revokeKey } from "./admin/keys.ts";
export { type AdminStore, openAdmin } from "./admin/open-admin.ts";
