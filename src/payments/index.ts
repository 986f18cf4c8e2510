/**
 * Top-ups of wallets over x402. Promises: an offer is made from the configuration alone; a payment is credited once, by
 * what the chain's logs prove and nothing else; as long as it may still settle nobody is told that it failed.
 */
export { type CreatedTopUps, checkTopUps, createTopUps, type TopUpsCheck } from "./create-top-ups.ts";
export type * from "./port.ts";
export { type Discrepancy, type ReconcileReport, reconcile, type TopUpRows } from "./reconcile.ts";
