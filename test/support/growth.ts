/** CPU time of this process for one run, in microseconds: what else the machine does counts less than in elapsed time. */
function cpuMicros(run: () => unknown): number {
	const before = process.cpuUsage();
	run();
	const { user, system } = process.cpuUsage(before);
	return user + system;
}

const FACTOR = 8;
const RUNS = 3;

/**
 * Tells how the work of `run` grows when its input grows by 8: about 8 where it is linear, about 64 where it is
 * quadratic. Each size is run three times, and the cheapest run counts. No speed of a machine is in the result.
 */
export function growthByEight(run: (size: number) => unknown, size: number): number {
	run(size / FACTOR);
	const cheapest = (of: number) => Math.min(...Array.from({ length: RUNS }, () => cpuMicros(() => run(of))));
	return cheapest(size) / Math.max(cheapest(size / FACTOR), 1);
}

/** Between linear and quadratic, with room for caches that a larger input no longer fits. */
export const LINEAR_BOUND = 24;
