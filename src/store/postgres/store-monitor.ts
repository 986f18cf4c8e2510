/**
 * Background work on connections of its own: heartbeats that renew the term, the reaping of dead nodes, the feed of
 * changes, and recalls. A slow batch delays none of it.
 */
import { every, type Timers } from "../../telemetry/clock.ts";
import { RecallLimit } from "../core/recall-limit.ts";
import type { ChangeListener, Recall, SharedStore, StoreLink } from "../core/store.ts";
import { FencedError } from "../core/store-faults.ts";
import type { MonitorHooks, StoreMonitor } from "../core/store-monitor.ts";
import type { Instant, TermClock, TermTimes } from "../core/term-times.ts";
import { isStoreTrouble } from "./faults.ts";

export interface PostgresMonitorDeps<On> extends MonitorHooks {
	readonly sharedStore: SharedStore<On>;
	readonly link: StoreLink<On>;
	readonly changeListener: ChangeListener;
	readonly clock: TermClock;
	readonly timers: Timers;
	readonly times: TermTimes;
}

const POLL_MS = 1_000;
/** Pause after a failed heartbeat; successful ones follow the term's own interval. */
const BEAT_AGAIN_MS = 1_000;
export const WATCH_STATEMENT_MS = 5_000;
/** This is short because a term must be renewed in time. */
const SILENCE_MS = 6_000;

export class PostgresMonitor<On> implements StoreMonitor<On> {
	readonly checkpointedSeq = null;
	readonly #deps: PostgresMonitorDeps<On>;
	#feed: Awaited<ReturnType<SharedStore<On>["changes"]>> | null = null;
	#polling: Promise<void> | null = null;
	#again = false;
	#endPolls: () => void = () => {};
	#cancelBeat: () => void = () => {};
	#liveNodes = 1;
	/**
	 * Since when every heartbeat succeeded: right after an outage the terms of others may have ended through no fault
	 * of theirs.
	 */
	#steadySince: Instant | null = null;
	readonly #recallLimit: RecallLimit;
	#stopped = false;

	constructor(deps: PostgresMonitorDeps<On>) {
		this.#deps = deps;
		this.#recallLimit = new RecallLimit(deps.clock);
	}

	get liveNodes(): number {
		return this.#liveNodes;
	}

	/** Resolves when changes are received from now on. Throws errors of the store. */
	async start(): Promise<void> {
		const { sharedStore, link, changeListener, timers } = this.#deps;
		this.#feed = await link.run(SILENCE_MS, (on) => sharedStore.changes(on));
		await changeListener.listen(
			() => void this.poll(),
			(recall) => this.#recalled(recall),
		);
		this.#endPolls = every(timers, POLL_MS, () => void this.poll());
		await this.#beat();
	}

	/** Resumes heartbeats after a new epoch has begun. */
	resume(): void {
		this.#beatAfter(this.#deps.times.beatEveryMs);
	}

	/**
	 * Handles a failover: what the node has cached may be lost with it, and a heartbeat finds out at once what of the
	 * journal is.
	 */
	moved(): void {
		this.#deps.changes([{ kind: "store-moved" }]);
		if (this.#feed !== null) this.#beatAfter(0);
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		this.#endPolls();
		this.#cancelBeat();
		await Promise.allSettled([this.#deps.link.close(), this.#deps.changeListener.close()]);
	}

	/** Reads and sends the changes up to the call. Never rejects: the next poll continues. */
	poll(): Promise<void> {
		this.#again = true;
		this.#polling ??= this.#poll().finally(() => {
			this.#polling = null;
		});
		return this.#polling;
	}

	/** Requests from the other nodes what they do not use of these accounts. */
	async recall(on: On, accountIds: readonly string[]): Promise<void> {
		const due = this.#recallLimit.take(accountIds);
		if (due.length > 0) await this.#deps.sharedStore.recallLeases(on, this.#deps.node().id, due);
	}

	#recalled({ nodeId, accountId }: Recall): void {
		if (nodeId !== this.#deps.node().id) this.#deps.changes([{ kind: "recall", accountId }]);
	}

	async #poll(): Promise<void> {
		while (this.#again && !this.#stopped) {
			this.#again = false;
			const at = this.#deps.clock.instant();
			try {
				const feed = this.#feed;
				const changes = feed === null ? [] : await this.#deps.link.run(SILENCE_MS, (on) => feed.poll(on));
				if (changes.length > 0) this.#deps.changes(changes);
				this.#deps.fed(at);
			} catch (error) {
				if (!isStoreTrouble(error) && !this.#stopped) this.#deps.fatal(error);
				return;
			}
		}
	}

	async #beat(): Promise<void> {
		const { sharedStore, link, clock, times, node, shippedSeq, behind } = this.#deps;
		const sentAt = clock.instant();
		try {
			const shipped = shippedSeq();
			const { live, appliedSeq } = await link.run(SILENCE_MS, (on) => sharedStore.heartbeat(on, node(), times.termMs));
			this.#liveNodes = live;
			if (appliedSeq < shipped) behind();
			this.#steadySince ??= sentAt;
			this.#deps.beat(sentAt);
			if (clock.since(this.#steadySince) >= times.reapAfterMs)
				await link.run(SILENCE_MS, (on) => sharedStore.reap(on, times.reapAfterMs));
			this.#beatAfter(times.beatEveryMs);
		} catch (error) {
			if (this.#stopped) return;
			this.#steadySince = null;
			if (error instanceof FencedError) this.#deps.fenced();
			else if (isStoreTrouble(error)) this.#beatAfter(Math.min(BEAT_AGAIN_MS, times.beatEveryMs));
			else this.#deps.fatal(error);
		}
	}

	#beatAfter(ms: number): void {
		if (this.#stopped) return;
		this.#cancelBeat();
		this.#cancelBeat = this.#deps.timers.after(ms, () => void this.#beat());
	}
}
