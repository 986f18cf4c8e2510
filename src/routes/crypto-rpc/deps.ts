import type { Budgets, CreditWindow, IdempotencyStore, SendAudit } from "../../budgets/port.ts";
import type { RpcCatalog } from "../../catalog/rpc/index.ts";
import type { Config } from "../../config/index.ts";
import type { RpcUpstreams } from "../../upstreams/rpc/port.ts";

/** The dependencies of the chain proxy. They are functions if a reload changes the result. */
export interface RpcDeps {
	readonly budgets: Budgets;
	readonly credits: CreditWindow;
	readonly idempotency: IdempotencyStore;
	readonly sends: SendAudit;
	readonly catalog: RpcCatalog;
	readonly upstreams: RpcUpstreams;
	readonly config: () => Config;
}
