/** The child processes of this process by engine, for monitoring: which run, and how often they restarted. */
import type { EngineState } from "./process.ts";

/** One child process, or its slot while none runs. */
export interface ListedProcess {
	readonly state: EngineState;
	rssBytes(): Promise<number | null>;
}

/** The work that waits for a process of an engine. */
export interface ListedQueue {
	readonly waiting: number;
	readonly working: number;
}

export interface EngineRecord {
	readonly processes: Set<ListedProcess>;
	readonly queues: Set<ListedQueue>;
	starts: number;
	/** Unexpected ends. */
	crashes: number;
	/** Processes that we killed: too slow, too large, unresponsive, or their caller left. */
	kills: number;
}

const records = new Map<string, EngineRecord>();

/** Returns the record of an engine by its name in the log; engines are few and named in the code. */
export function engineRecord(name: string): EngineRecord {
	let record = records.get(name);
	if (record === undefined) {
		record = { processes: new Set(), queues: new Set(), starts: 0, crashes: 0, kills: 0 };
		records.set(name, record);
	}
	return record;
}

export interface EngineCounts {
	readonly engine: string;
	readonly byState: Readonly<Record<EngineState, number>>;
	readonly rssBytes: number;
	readonly waiting: number;
	readonly working: number;
	readonly starts: number;
	readonly crashes: number;
	readonly kills: number;
}

/** Returns the current counts of all engines in this process. */
export function engineCounts(): Promise<EngineCounts[]> {
	return Promise.all(
		[...records].map(async ([engine, { processes, queues, starts, crashes, kills }]) => {
			const byState: Record<EngineState, number> = { stopped: 0, starting: 0, ready: 0, "backing-off": 0 };
			for (const { state } of processes) byState[state]++;
			const sizes = await Promise.all([...processes].map((listed) => listed.rssBytes()));
			const sum = (of: (queue: ListedQueue) => number) => [...queues].reduce((total, queue) => total + of(queue), 0);
			return {
				engine,
				byState,
				rssBytes: sizes.reduce<number>((total, size) => total + (size ?? 0), 0),
				waiting: sum(({ waiting }) => waiting),
				working: sum(({ working }) => working),
				starts,
				crashes,
				kills,
			};
		}),
	);
}
