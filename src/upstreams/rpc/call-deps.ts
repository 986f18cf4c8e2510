import type { TimerClock } from "../../telemetry/timer-clock.ts";
import type { Fetch } from "../fetch.ts";
import type { FaultLog } from "./fault-log.ts";

/** What calls work with. */
export interface CallDeps {
	readonly fetch: Fetch;
	readonly clock: TimerClock;
	readonly faults: FaultLog;
	/** How long a call may take in all, in milliseconds. */
	readonly rpcMs: number;
	readonly rpcSlowMs: number;
}
