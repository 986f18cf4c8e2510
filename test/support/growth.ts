/** CPU time of this process for one run, in microseconds: what else the machine does counts less than in elapsed time. */
function cpuMicros(run: () => unknown): number {
	const before = process.cpuUsage();
	run();
	const { user, system } = process.cpuUsage(before);
	return user + system;
}

const FACTOR = 16;
const RUNS = 3;

/**
 * Tells how the work of `run` grows when its input grows by 16: about 16 where it is linear, about 256 where it is
 * quadratic. Each size is run three times, and the cheapest run counts. No speed of a machine is in the result.
 */
export function growth(run: (size: number) => unknown, size: number): number {
	run(size / FACTOR);
	const cheapest = (of: number) => Math.min(...Array.from({ length: RUNS }, () => cpuMicros(() => run(of))));
	return cheapest(size) / Math.max(cheapest(size / FACTOR), 1);
}

/** Between linear and quadratic, with room for memory that a larger input no longer finds in a cache. */
export const LINEAR_BOUND = 100;
