/** Why work is ended: it worked too long, stalled, or used too much memory. */
export type Excess = "work" | "stall" | "memory";

/** The current usage of a process and its descendants. */
export interface WorkUsage {
	readonly residentBytes: number;
	/** Processor time so far; null if the system does not report it. */
	readonly cpuMs: number | null;
}

export interface WorkLimits {
	/** Processor time; wall time if the system does not report it. */
	readonly workMs: number;
	/** Resident memory of the process and its descendants. */
	readonly maxBytes?: number;
}

/** A process with a smaller share of a core waits for something that does not come. */
const STALLED_SHARE = 0.02;
/** A longer interval is a pause of the system or of this process, and says nothing about the watched process. */
const LONGEST_LOOK_MS = 1_000;
const SHORTEST_STALL_MS = 10_000;
const LOOK_EVERY_MS = 100;

/**
 * Measures work in processor time, so that a slow or busy machine takes longer, and nothing that makes progress is ended. A
 * process stalls if it has had next to no processor time for as long as its limit, or 10 s if that is more. So the wall limit
 * is at most 50 times that of the work.
 */
export class WorkMeter {
	readonly #limitMs: number;
	readonly #stallMs: number;
	readonly #firstCpuMs: number | null;
	readonly #firstMs: number;
	#lastMs: number;
	#windowMs = 0;
	#windowCpuMs: number;

	/** @param cpuMs processor time so far; null if the system does not report it */
	constructor(limitMs: number, nowMs: number, cpuMs: number | null) {
		this.#limitMs = limitMs;
		this.#stallMs = Math.max(limitMs, SHORTEST_STALL_MS);
		this.#firstCpuMs = cpuMs;
		this.#firstMs = nowMs;
		this.#lastMs = nowMs;
		this.#windowCpuMs = cpuMs ?? 0;
	}

	/**
	 * Updates the meter.
	 * @returns null while the work is within its limit
	 */
	look(nowMs: number, cpuMs: number | null): Exclude<Excess, "memory"> | null {
		if (cpuMs === null || this.#firstCpuMs === null) return nowMs - this.#firstMs > this.#limitMs ? "work" : null;
		if (cpuMs - this.#firstCpuMs > this.#limitMs) return "work";
		this.#windowMs += Math.min(nowMs - this.#lastMs, LONGEST_LOOK_MS);
		this.#lastMs = nowMs;
		if (this.#windowMs < this.#stallMs) return null;
		if (cpuMs - this.#windowCpuMs < this.#windowMs * STALLED_SHARE) return "stall";
		this.#windowMs = 0;
		this.#windowCpuMs = cpuMs;
		return null;
	}
}

/** Returns the processor time of this process so far. */
export function ownCpuMs(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1_000;
}

/**
 * Watches a process until the returned function is called, and calls `onExcess` once if it exceeds a limit.
 * @param usage null if none runs
 */
export function watchWork(
	usage: () => WorkUsage | null,
	{ workMs, maxBytes = Number.POSITIVE_INFINITY }: WorkLimits,
	onExcess: (excess: Excess) => void,
): () => void {
	const meter = new WorkMeter(workMs, performance.now(), usage()?.cpuMs ?? null);
	const timer = setInterval(() => {
		const used = usage();
		const excess = (used?.residentBytes ?? 0) > maxBytes ? "memory" : meter.look(performance.now(), used?.cpuMs ?? null);
		if (excess === null) return;
		clearInterval(timer);
		onExcess(excess);
	}, LOOK_EVERY_MS);
	return () => clearInterval(timer);
}
