import { availableParallelism } from "node:os";
import type { Config } from "../../../config/index.ts";

/** Returns the number of processes that serve: `auto` is one for each core that this process may use. */
export function workerCount({ workers }: Pick<Config, "workers">): number {
	return workers === "auto" ? availableParallelism() : workers;
}
