import type { TimerClock } from "../../telemetry/timer-clock.ts";
import type { Fetch } from "../fetch.ts";
import type { FaultLog } from "./fault-log.ts";

/** The dependencies of calls. */
export interface CallDeps {
	readonly fetch: Fetch;
	readonly clock: TimerClock;
	readonly faults: FaultLog;
	/** Time limit of a whole call in milliseconds. */
	readonly rpcMs: number;
	readonly rpcSlowMs: number;
}
