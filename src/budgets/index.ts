/**
 * The budgets of this node: they identify callers, track what each may still spend, and take holds on it.
 *
 * Guarantees: a hold covers every source and cap or nothing, and is taken in one synchronous step where this node has
 * the money. One post of the real price, or a void, ends it. No balance goes below zero; a price beyond it is
 * recorded as overrun. Every post is one record in the journal, at price 0 too. Requests that wait for money are
 * served in order of arrival. All caches, queues and windows are bounded.
 *
 * This module never waits for a database where the node has the money. It writes to the store only through the
 * journal and leases, and it does not know HTTP.
 */
export { formatNano as amountText, NANO_PER_USD } from "../ledger/nano.ts";
export { AddressWindows } from "./address-windows.ts";
export { type BudgetsOptions, createBudgets, type NodeBudgets } from "./budgets.ts";
export { chargeText, skuPlaces, skuPriceText } from "./charge-text.ts";
export { costOf } from "./cost.ts";
export { ExceededLimits } from "./exceeded-limits.ts";
export { OperatorReader, type OperatorUsage, type RequestRecord, type UsagePart } from "./operator-reader.ts";
export type * from "./port.ts";
export { createRpcBudgets, type RpcBudgets, type RpcBudgetsOptions } from "./rpc-budgets.ts";
export { type Sku, skuOf } from "./sku.ts";
export {
	type AccountBalance,
	type KeySum,
	type StatementEntry,
	type StatementMovement,
	Statements,
	type UsageSum,
	type UsageSums,
} from "./statements.ts";
export { WALLET_FLOOR, walletMayConsume } from "./wallet-caller.ts";
