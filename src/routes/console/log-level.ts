import type { Log } from "../../telemetry/log.ts";
import type { WorkerPeers } from "../../telemetry/worker-peers.ts";
import type { LogLevel } from "./types.ts";

/** What workers ask each other. */
const QUESTION = "set the log level";

/** Returns a setter of the log level of all processes of the server. `peers` is null where it is one process. */
export function logLevelSetter(log: Log, peers: WorkerPeers | null): (level: LogLevel) => Promise<void> {
	const set = (level: string): true => {
		// The change is logged at a level that is visible.
		if (level === "silent") log.warn({ level }, "the log level was set in the console");
		log.level = level;
		if (level !== "silent") log.warn({ level }, "the log level was set in the console");
		return true;
	};
	peers?.answer(QUESTION, set);
	return async (level) => {
		if (peers === null) set(level);
		else await peers.gather(QUESTION, level);
	};
}
