/**
 * Fair shares of shared resources. No tenant takes all of a bounded resource, so that another finds capacity; a tenant that is
 * alone may use most of it. A tenant is an account, or the network of a caller without one; all networks together are one party
 * beside accounts.
 */
export { addressNetwork } from "./address-network.ts";
export { FairQueue, type FairQueueOptions } from "./fair-queue.ts";
export { PartyCapacity } from "./party-capacity.ts";
export { type CallerKind, Places } from "./places.ts";
export { RecentUse } from "./recent-use.ts";
export { type Requester, TENANT_HEADER } from "./requester.ts";
export { SharedCapacity } from "./shared-capacity.ts";
export { networkTenant, partyOf } from "./tenants.ts";
