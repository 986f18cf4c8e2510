/**
 * The operations that a running server may call on the store beside its regular calls: changes by accounts and
 * operators, and reads of the books. Each operation is a function in a file of its own, with one argument that can be
 * sent between threads. The store thread runs it (`StorePort.admin`), in the order of all calls. To add one: write
 * its file, and name it here.
 *
 * An operation that changes something uses one transaction, together with its `changes` row, and may be run again
 * where the store failed in the middle of it. It refuses with an `AdminError`.
 */
import { accountBalance } from "../queries/account-balance.ts";
import { usageHistory } from "../queries/usage-history.ts";
import { usagePage } from "../queries/usage-page.ts";
import { usageSums } from "../queries/usage-sums.ts";
import { retentionStep } from "../retention/retention-step.ts";
import { type AccountView, listAccountPage, showAccount } from "./account-view.ts";
import { createAccountOnce } from "./accounts.ts";
import { markAlertDelivered, updateAlerts } from "./alerts.ts";
import { beginConsoleSession, endConsoleSession, findConsoleSession, prolongConsoleSession } from "./console-sessions.ts";
import { countActiveKeys } from "./count-active-keys.ts";
import { createAccountKey } from "./create-account-key.ts";
import { createWeb3Key, walletEligibility } from "./create-web3-key.ts";
import { credit } from "./credit.ts";
import { debit } from "./debit.ts";
import { listExceededLimits, noteExceededLimits } from "./exceeded-limits.ts";
import { getAccountKey } from "./get-account-key.ts";
import { hasCustomers } from "./has-customers.ts";
import { listAccountKeys } from "./list-account-keys.ts";
import { listMoney, listMovements } from "./list-money.ts";
import type { AdminStore } from "./open-admin.ts";
import { keptAnswerFiles, pruneRpc } from "./prune-rpc.ts";
import { recallMoney } from "./recall-money.ts";
import { refund } from "./refund.ts";
import { revokeAccountKey } from "./revoke-account-key.ts";
import { type AccountChanges, changeAccount } from "./set-account.ts";
import { chooseStakeBlock, finishStakeReading, listUnreadStakers, takeStakeReading, writeStakes } from "./stake-readings.ts";
import { sharedSecret } from "./store-secret.ts";
import { endBroadcastTurn, takeBroadcastTurn } from "./top-ups/broadcast-turns.ts";
import { creditTopUp } from "./top-ups/credit-top-up.ts";
import { beginTopUp, failTopUp, findTopUp, listDueTopUps, listTopUps, noteTopUp, takeTopUp } from "./top-ups/open-top-ups.ts";
import { walletEntries } from "./top-ups/wallet-entries.ts";
import { isWalletDisabled, listWallets, showWallet } from "./top-ups/wallet-views.ts";
import { updateAccountKey } from "./update-account-key.ts";
import { useToken } from "./use-token.ts";
import { deleteVoice, pruneVoices, touchVoice } from "./voices/change-voice.ts";
import { findVoice, listVoices, readVoicePart } from "./voices/read-voice.ts";
import { createVoice, storeVoicePart } from "./voices/store-voice.ts";
import {
	claimOrphanedVoices,
	claimUpstreamVoice,
	dropUpstreamVoice,
	forgetUpstreamVoice,
	keepUpstreamVoice,
} from "./voices/upstream-voice.ts";

const ADMIN_OPERATIONS = {
	accountBalance,
	alertDelivered: markAlertDelivered,
	askForMoney: recallMoney,
	beginConsoleSession,
	beginTopUp,
	changeAccount: (admin: AdminStore, input: { readonly accountId: string; readonly changes: AccountChanges }) =>
		changeAccount(admin, input.accountId, input.changes),
	chooseStakeBlock,
	claimUpstreamVoice,
	countActiveKeys,
	createAccount: createAccountOnce,
	createKey: createAccountKey,
	createVoice,
	createWeb3Key,
	credit,
	creditTopUp,
	debit,
	deleteVoice,
	dropUpstreamVoice,
	endBroadcastTurn,
	endConsoleSession,
	failTopUp,
	findConsoleSession,
	findTopUp,
	findVoice,
	finishStakeReading,
	forgetUpstreamVoice,
	getKey: getAccountKey,
	hasCustomers,
	isWalletDisabled,
	keepUpstreamVoice,
	keptAnswerFiles,
	listAccounts: listAccountPage,
	listDueTopUps,
	listExceededLimits,
	listKeys: listAccountKeys,
	listMoney,
	listMovements,
	lookAtAlerts: updateAlerts,
	listTopUps,
	listUnreadStakers,
	listVoices,
	listWallets,
	noteExceededLimits,
	noteTopUp,
	prolongConsoleSession,
	readVoicePart,
	refund,
	retain: retentionStep,
	revokeKey: revokeAccountKey,
	sharedSecret,
	showAccount: (admin: AdminStore, input: { readonly accountId: string }): Promise<AccountView> =>
		showAccount(admin, input.accountId),
	showWallet,
	storeVoicePart,
	sweepRpc: pruneRpc,
	sweepVoices: pruneVoices,
	takeBroadcastTurn,
	takeLeftVoices: claimOrphanedVoices,
	takeStakeReading,
	takeTopUp,
	touchVoice,
	updateKey: updateAccountKey,
	usageHistory,
	usagePage,
	usageSums,
	walletEntries,
	useToken,
	walletStanding: walletEligibility,
	writeStakes,
} as const satisfies Record<string, (admin: AdminStore, input: never) => Promise<unknown>>;

type Operations = typeof ADMIN_OPERATIONS;
export type AdminOperation = keyof Operations;
export type AdminInput<Name extends AdminOperation> = Parameters<Operations[Name]>[1];
export type AdminAnswer<Name extends AdminOperation> = Awaited<ReturnType<Operations[Name]>>;

/** Runs an operation by its name. */
export function runOperation<Name extends AdminOperation>(
	admin: AdminStore,
	name: Name,
	input: AdminInput<Name>,
): Promise<AdminAnswer<Name>> {
	const operation = ADMIN_OPERATIONS[name] as unknown as (
		admin: AdminStore,
		input: AdminInput<Name>,
	) => Promise<AdminAnswer<Name>>;
	return operation(admin, input);
}
