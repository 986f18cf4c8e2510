/** The child processes of this process by engine, for who watches the server: what runs, and how often it had to start again. */
import type { EngineState } from "./engine-state.ts";

/** One child process, or its place while none runs. */
export interface ListedProcess {
	readonly state: EngineState;
	rssBytes(): Promise<number | null>;
}

/** What waits for a process of an engine. */
export interface ListedQueue {
	readonly waiting: number;
	readonly working: number;
}

export interface EngineRecord {
	readonly processes: Set<ListedProcess>;
	readonly queues: Set<ListedQueue>;
	starts: number;
	/** Ends that nobody wanted. */
	crashes: number;
	/** Ended by us: too slow, too large, silent, or its caller left. */
	kills: number;
}

const records = new Map<string, EngineRecord>();

/** The record of an engine by its name in the log; engines are few and named in the code. */
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

/** All engines that were put together in this process, as they are now. */
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
