/** Background work on SQLite: changes of other processes, and checkpoints of the write-ahead log. */
import type { Database } from "bun:sqlite";
import { every, type Timers } from "../../telemetry/clock.ts";
import type { MonitorHooks, StoreMonitor } from "../core/store-monitor.ts";
import { ChangeFeed } from "./change-feed.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { isStoreTrouble } from "./faults.ts";

export interface SqliteMonitorDeps extends MonitorHooks {
	readonly db: Database;
	readonly timers: Timers;
	readonly everyMs: number;
	readonly checkpoints: Checkpoints;
	/** Called for an account whose money the operator takes back. */
	readonly spare: (accountId: string) => void;
	/**
	 * Returns true while another connection of this thread may be in a transaction: a checkpoint would wait for it and
	 * block both.
	 */
	readonly isAdministering: () => boolean;
	readonly liveNodes: () => number;
	/** Notifies the other nodes that this one needs money of these accounts back. */
	readonly recall: (accountIds: readonly string[]) => void;
}

export class SqliteMonitor implements StoreMonitor<Database> {
	checkpointedSeq = 0;
	readonly #deps: SqliteMonitorDeps;
	readonly #feed: ChangeFeed;
	#endPolls: () => void = () => {};
	#endCheckpoints: () => void = () => {};

	constructor(deps: SqliteMonitorDeps) {
		this.#deps = deps;
		this.#feed = new ChangeFeed(deps.db);
	}

	get liveNodes(): number {
		return this.#deps.liveNodes();
	}

	async start(): Promise<void> {
		const { checkpoints, appliedSeq, checkpointed } = this.#deps;
		this.#endCheckpoints = checkpoints.onSafe(() => {
			this.checkpointedSeq = appliedSeq();
			checkpointed();
		});
		checkpoints.run();
		this.#endPolls = every(this.#deps.timers, this.#deps.everyMs, () => void this.poll());
	}

	resume(): void {}

	async stop(): Promise<void> {
		this.#endPolls();
		this.#endCheckpoints();
	}

	async poll(): Promise<void> {
		const { isAdministering, spare, changes, checkpoints, fatal } = this.#deps;
		if (isAdministering()) return;
		try {
			const polled = this.#feed.poll();
			for (const change of polled) if (change.kind === "account" && change.takesBack) spare(change.accountId);
			if (polled.length > 0) changes(polled);
			if (checkpoints.due()) checkpoints.run();
		} catch (error) {
			if (!isStoreTrouble(error)) fatal(error);
		}
	}

	async recall(_db: Database, accountIds: readonly string[]): Promise<void> {
		this.#deps.recall(accountIds);
	}

	/** Handles the recall of another node. */
	recalled(accountIds: readonly string[]): void {
		this.#deps.changes(accountIds.map((accountId) => ({ kind: "recall", accountId })));
	}
}
