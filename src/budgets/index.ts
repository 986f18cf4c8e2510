/**
 * The budgets of this node: who calls, what they may still spend, and holds on it.
 *
 * Promises: a hold is all or none, over every source and cap, in one synchronous step where this node has the
 * money; it is ended once, by a post of the real price or a void; no purse ever goes below zero, and what a
 * price passes is named overrun. Every post is one record in the journal, at price 0 too. Requests that wait for
 * money are served first come, first served. All caches, queues and windows are bounded.
 *
 * Never: waits for a database where the node has the money; writes to the store other than through the journal
 * and leases; knows HTTP.
 */
export { formatNano as amountText, NANO_PER_USD } from "../ledger/nano.ts";
export { AddressWindows } from "./address-windows.ts";
export { type BudgetsOptions, createBudgets, type NodeBudgets } from "./budgets.ts";
export { chargeText, skuPlaces, skuPriceText } from "./charge-text.ts";
export { costOf } from "./cost.ts";
export { ExceededLimits } from "./exceeded-limits.ts";
export { OperatorBooks, type OperatorUsage, type RequestRecord, type UsagePart } from "./operator-books.ts";
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
export { WALLET_FLOOR, walletMayConsume } from "./wallet-standing.ts";
