import type { Caller, ChargeLine, CreditTake } from "../../budgets/port.ts";
import type { RpcNetwork } from "../../catalog/rpc/index.ts";
import type { Call } from "../../server/call.ts";
import type { Settlement } from "../../server/endpoint.ts";
import type { RpcItem } from "../../upstreams/rpc/port.ts";
import type { RpcDeps } from "./deps.ts";
import type { KeyedRun } from "./idempotency.ts";
import type { RequestBody } from "./request-body.ts";

/** A request past its checks: its items, its payer, and the resources that end with it. */
export interface RpcRunDeps {
	readonly envelope: RequestBody;
	readonly network: RpcNetwork;
	/** The items by position. */
	readonly items: readonly RpcItem[];
	readonly caller: Caller;
	readonly call: Call;
	readonly settlement: Settlement;
	readonly keyed: KeyedRun | null;
	readonly credits: CreditTake | null;
	/** The price of a credit. */
	readonly picoPrice: ChargeLine["picoPrice"];
	readonly deps: RpcDeps;
}
