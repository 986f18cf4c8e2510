/**
 * What runs beside the shipping, on connections of its own: heartbeats that renew the term, the reaping of dead nodes,
 * the feed of changes, and recalls. A slow batch delays none of it.
 */
import type { SQL } from "bun";
import type { StoreChange } from "../port.ts";
import { beat, reap } from "./boots.ts";
import { ChangeFeed } from "./change-feed.ts";
import { connect } from "./connect.ts";
import { FencedError, isStoreTrouble } from "./faults.ts";
import { StoreConnection } from "./store-connection.ts";
import { type Instant, instant, since, type TermTimes } from "./term-times.ts";

export interface StoreWatchParts {
	readonly url: string;
	readonly times: TermTimes;
	readonly node: () => { readonly id: string; readonly epoch: number };
	readonly changes: (changes: readonly StoreChange[]) => void;
	/** A heartbeat sent then was good. */
	readonly beat: (sentAt: Instant) => void;
	/** The changes up to then are heard. */
	readonly fed: (at: Instant) => void;
	/** The term was ended by the store; no heartbeat goes out until `resume`. */
	readonly fenced: () => void;
	readonly fatal: (error: unknown) => void;
}

const CHANGES = "turnpike_changes";
const RECALLS = "turnpike_recalls";
const POLL_MS = 1_000;
/** After a failed heartbeat; a good one has the term's own pace. */
const BEAT_AGAIN_MS = 1_000;
/** The same account is recalled at most this often. */
const RECALL_EVERY_MS = 200;
const MAX_RECALLS_KEPT = 1_000;
const STATEMENT_MS = 5_000;
/** Short: a term must be renewed in its time. */
const SILENCE_MS = 6_000;

export class StoreWatch {
	readonly #parts: StoreWatchParts;
	readonly #store: StoreConnection;
	/** Listens, and comes back by itself where it is cut off. */
	readonly #ear: SQL;
	#feed: ChangeFeed | null = null;
	#polling: Promise<void> | null = null;
	#again = false;
	#pollTimer: Timer | null = null;
	#beatTimer: Timer | null = null;
	#liveNodes = 1;
	/** Since when every heartbeat was good: right after an outage the terms of others may be over for no fault of theirs. */
	#steadySince: Instant | null = null;
	readonly #recalledAt = new Map<string, number>();
	#stopped = false;

	constructor(parts: StoreWatchParts) {
		this.#parts = parts;
		this.#store = new StoreConnection(parts.url, { max: 2, name: "turnpike watch", statementTimeoutMs: STATEMENT_MS });
		this.#ear = connect(parts.url, { max: 1, name: "turnpike ear" });
	}

	get liveNodes(): number {
		return this.#liveNodes;
	}

	/** Resolves when changes are heard from now on. Throws what the store throws. */
	async start(): Promise<void> {
		this.#feed = await this.#store.run(SILENCE_MS, (sql) => ChangeFeed.begin(sql));
		await this.#ear.listen(CHANGES, () => void this.poll());
		await this.#ear.listen(RECALLS, (payload) => this.#recalled(payload));
		this.#pollTimer = setInterval(() => void this.poll(), POLL_MS);
		await this.#beat();
	}

	/** A new epoch has begun. */
	resume(): void {
		this.#beatAfter(this.#parts.times.beatEveryMs);
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		if (this.#pollTimer !== null) clearInterval(this.#pollTimer);
		if (this.#beatTimer !== null) clearTimeout(this.#beatTimer);
		await Promise.allSettled([this.#store.close(), this.#ear.close({ timeout: 0 })]);
	}

	/** Reads what changed up to the call, and tells it. Never rejects: the next poll reads on. */
	poll(): Promise<void> {
		this.#again = true;
		this.#polling ??= this.#poll().finally(() => {
			this.#polling = null;
		});
		return this.#polling;
	}

	/** Asks the other nodes to give back what they do not use of an account. */
	async recall(sql: SQL, accountId: string): Promise<void> {
		const now = performance.now();
		if (now - (this.#recalledAt.get(accountId) ?? Number.NEGATIVE_INFINITY) < RECALL_EVERY_MS) return;
		this.#recalledAt.delete(accountId);
		this.#recalledAt.set(accountId, now);
		for (const old of this.#recalledAt.keys()) {
			if (this.#recalledAt.size <= MAX_RECALLS_KEPT) break;
			this.#recalledAt.delete(old);
		}
		await sql.unsafe("SELECT pg_notify($1, $2)", [RECALLS, `${this.#parts.node().id} ${accountId}`]);
	}

	/** To the budgets a recall is a change of the account: they return what no hold needs. */
	#recalled(payload: string): void {
		const [nodeId = "", accountId = ""] = payload.split(" ");
		if (nodeId !== this.#parts.node().id && accountId !== "") this.#parts.changes([{ kind: "account", accountId }]);
	}

	async #poll(): Promise<void> {
		while (this.#again && !this.#stopped) {
			this.#again = false;
			const at = instant();
			try {
				const feed = this.#feed;
				const changes = feed === null ? [] : await this.#store.run(SILENCE_MS, (sql) => feed.poll(sql));
				if (changes.length > 0) this.#parts.changes(changes);
				this.#parts.fed(at);
			} catch (error) {
				if (!isStoreTrouble(error) && !this.#stopped) this.#parts.fatal(error);
				return;
			}
		}
	}

	async #beat(): Promise<void> {
		const { times, node } = this.#parts;
		const sentAt = instant();
		try {
			this.#liveNodes = await this.#store.run(SILENCE_MS, (sql) => beat(sql, node(), times.termMs));
			this.#steadySince ??= sentAt;
			this.#parts.beat(sentAt);
			if (since(this.#steadySince) >= times.reapAfterMs) await this.#store.run(SILENCE_MS, (sql) => reap(sql, times.reapAfterMs));
			this.#beatAfter(times.beatEveryMs);
		} catch (error) {
			if (this.#stopped) return;
			this.#steadySince = null;
			if (error instanceof FencedError) this.#parts.fenced();
			else if (isStoreTrouble(error)) this.#beatAfter(Math.min(BEAT_AGAIN_MS, times.beatEveryMs));
			else this.#parts.fatal(error);
		}
	}

	#beatAfter(ms: number): void {
		if (this.#stopped) return;
		if (this.#beatTimer !== null) clearTimeout(this.#beatTimer);
		this.#beatTimer = setTimeout(() => void this.#beat(), ms);
	}
}
