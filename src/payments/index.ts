/**
 * Top-ups of wallets over x402. Guarantees: an offer is made from the configuration alone. A payment is credited
 * once, only by what the chain's logs prove. As long as a payment may still settle, no answer says that it failed.
 */
export { type CreatedTopUps, checkTopUps, createTopUps, type TopUpsCheck } from "./create-top-ups.ts";
export type * from "./port.ts";
export { type Discrepancy, type ReconcileReport, reconcile, type TopUpRows } from "./reconcile.ts";
