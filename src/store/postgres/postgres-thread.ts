/**
 * The store thread's work on PostgreSQL: it ships the journal behind the writer, one batch in flight, and answers calls.
 * Messages are handled one after the other; before a call the journal is shipped up to exactly the sequence that the
 * message names, so an answer holds those posts and no later one of this node.
 */
import type { SQL } from "bun";
import { JournalCorruptError, type JournalPosition, JournalReader, type ReadGroup } from "../../journal/index.ts";
import { type AdminStore, openAdmin } from "../admin/open-admin.ts";
import { runOperation } from "../admin/operations.ts";
import { SequenceError } from "../apply.ts";
import type { AcquireRequest, AcquireResult } from "../port.ts";
import { type AtWork, type FromThread, type StoreCall, sentError, type ThreadOptions } from "../thread-protocol.ts";
import { BatchApplier } from "./batch-applier.ts";
import { type Boot, endBoot, latestBoot, startBoot } from "./boots.ts";
import { readAccount, readKey } from "./caller-reader.ts";
import { connect } from "./connect.ts";
import { FencedError, isStoreTrouble, StoreSilentError } from "./faults.ts";
import { LeaseBook } from "./lease-book.ts";
import { migrate } from "./migrate.ts";
import { nodeIdIn } from "./node-file.ts";
import { StoreConnection } from "./store-connection.ts";
import { StoreWatch } from "./store-watch.ts";
import { alignWith, type Instant, instant } from "./term-times.ts";

const BATCH_RECORDS = 1_000;
const BATCH_BYTES = 2 << 20;
const RETRY_MS = 100;
/** A transaction that ships ends before cursor pages pass it by: they end 5 s before now. */
const STATEMENT_MS = 4_000;
/** A batch that takes longer keeps no answer waiting. */
const SLOW_MS = 3_000;
/** Work that takes longer gives its connection up. Long enough for a first batch over a way of 500 ms. */
const SILENCE_MS = 20_000;
const CALL_SILENCE_MS = 10_000;
/** One works at a time; the second one is there while the first is given up. */
const CONNECTIONS = 2;

type Options = ThreadOptions & { readonly postgres: NonNullable<ThreadOptions["postgres"]> };

export class PostgresThread {
	readonly #options: Options;
	readonly #send: (message: FromThread) => void;
	readonly #watch: StoreWatch;
	readonly #admin: AdminStore;
	readonly #store: StoreConnection;
	#boot: Boot;
	#reader: JournalReader;
	#applier: BatchApplier;
	#leases: LeaseBook;
	#queue: AtWork[] = [];
	#working = false;
	#closed = false;
	/** Read from the journal, not booked yet: a failed try keeps it. */
	#batch: ReadGroup[] = [];
	#appliedSeq: number;
	#position: JournalPosition | null = null;
	#failing: string | null = null;
	#fenced = false;

	private constructor(options: Options, send: (message: FromThread) => void, opened: Opened) {
		this.#options = options;
		this.#send = send;
		this.#store = opened.store;
		this.#boot = opened.boot;
		this.#reader = opened.reader;
		this.#appliedSeq = opened.boot.appliedSeq;
		this.#applier = new BatchApplier(opened.boot);
		this.#leases = new LeaseBook(opened.boot);
		this.#admin = openAdmin(options.postgres.url);
		this.#watch = new StoreWatch({
			url: options.postgres.url,
			times: options.postgres.term,
			node: () => this.#boot,
			changes: (changes) => this.#send({ type: "changes", changes }),
			beat: (sentAt) => this.#send({ type: "beat", sentAt, epoch: this.#boot.epoch }),
			fed: (at) => this.#send({ type: "fed", at }),
			fenced: () => this.#end(),
			fatal: (error) => this.#fatal(error),
		});
	}

	/** Opens the store, ships the rest of the journal, frees the leases of the dead boot, begins the next one. */
	static async open(options: Options, send: (message: FromThread) => void): Promise<PostgresThread> {
		alignWith(options.postgres.loopMs);
		const opened = await reached(options.postgres.startPatienceMs, () => open(options));
		const thread = new PostgresThread(options, send, opened);
		await thread.#watch.start();
		const { id, epoch, appliedSeq } = opened.boot;
		send({
			type: "opened",
			report: {
				start: { nodeId: id, epoch, nextSeq: appliedSeq + 1, checkpointedSeq: appliedSeq },
				replayedGroups: opened.replayedGroups,
				lostTail: opened.reader.lostTail,
				beatAt: opened.beatAt,
			},
		});
		return thread;
	}

	receive(message: AtWork): void {
		this.#queue.push(message);
		if (!this.#working) void this.#work();
	}

	async #work(): Promise<void> {
		this.#working = true;
		try {
			for (let message = this.#queue.shift(); message !== undefined && !this.#closed; message = this.#queue.shift()) {
				if (message.type === "call") await this.#answer(message.id, message.seq, message.call);
				else if (message.type === "renew") await this.#renew(message.seq);
				else {
					await this.#applyTo(message.seq);
					this.#report();
				}
			}
		} catch (error) {
			this.#fatal(error);
		}
		this.#working = false;
	}

	async #answer(id: number, seq: number, call: StoreCall): Promise<void> {
		const deadline = performance.now() + this.#options.callPatienceMs;
		for (;;) {
			try {
				const before = this.#appliedSeq;
				const applied = await this.#applyTo(seq);
				if (this.#appliedSeq !== before || !applied) this.#report();
				if (!applied) throw new StoreSilentError(this.#failing ?? "the store cannot be written");
				this.#send({ type: "answer", id, answer: await this.#store.run(CALL_SILENCE_MS, (sql) => this.#call(sql, call)) });
				return;
			} catch (error) {
				if (isFatal(error)) throw error;
				const trouble = isStoreTrouble(error);
				// A fenced node gets no leases before its term begins anew: that comes behind this call.
				if (!trouble || error instanceof FencedError || performance.now() >= deadline) {
					this.#refuse(id, call, error, trouble);
					return;
				}
			}
			await Bun.sleep(RETRY_MS);
		}
	}

	#refuse(id: number, call: StoreCall, error: unknown, trouble: boolean): void {
		const { name, message, code } = sentError(error);
		if (error instanceof FencedError) this.#end();
		this.#send({ type: "refusal", id, error: { name: trouble ? "StoreUnavailableError" : name, message, code } });
		// Without the rest of the journal the leases stay: the next start ships it and frees them.
		if (call.name === "close") void this.#shut();
	}

	async #call(sql: SQL, call: StoreCall): Promise<unknown> {
		switch (call.name) {
			case "loadKey":
				return readKey(sql, call.arguments.hash, call.arguments.day);
			case "loadAccount":
				return readAccount(sql, call.arguments.accountId);
			case "acquire":
				return this.#acquire(sql, call.arguments);
			case "budgets":
				return this.#leases.budgets(sql, call.arguments.accountId, call.arguments.day);
			case "giveBack":
				return this.#leases.giveBack(sql, call.arguments.accountId, call.arguments.kept);
			case "admin": {
				const answer = await runOperation(this.#admin, call.arguments.operation, call.arguments.input as never);
				// The listeners hear of what it changed before the one who asked has the answer.
				await this.#watch.poll();
				return answer;
			}
			case "settled":
				return null;
			case "close":
				await endBoot(sql, this.#boot);
				await this.#shut();
				return null;
		}
	}

	async #acquire(sql: SQL, request: AcquireRequest): Promise<AcquireResult> {
		const result = await this.#leases.acquire(sql, request, this.#watch.liveNodes);
		if (result.recalled) await this.#watch.recall(sql, request.accountId);
		// A lease of a term that ended meanwhile is none.
		if (this.#fenced) throw new FencedError();
		return result;
	}

	/** Ships up to exactly `seq`. False where the store could not be written; what was booked stays booked. */
	async #applyTo(seq: number): Promise<boolean> {
		let rewound = false;
		while (this.#appliedSeq < seq) {
			try {
				if (this.#batch.length === 0) this.#batch = this.#readBatch(seq);
				const applied = await this.#ship();
				this.#appliedSeq = applied;
				this.#position = this.#batch.at(-1)?.end ?? this.#position;
				this.#batch = [];
				rewound = false;
			} catch (error) {
				if (error instanceof SequenceError && !rewound) {
					rewound = true;
					if (await this.#rewind()) continue;
				} else if (!isStoreTrouble(error)) throw error;
				else this.#failing = sentError(error).message;
				return false;
			}
		}
		this.#failing = null;
		return true;
	}

	/** A store that takes its time is waited for, but answers are not: they go out as by `power` meanwhile. */
	async #ship(): Promise<number> {
		const slow = setTimeout(() => {
			this.#failing = "the store is slow";
			this.#report();
		}, SLOW_MS);
		try {
			return await this.#store.run(SILENCE_MS, (sql) => this.#applier.apply(sql, this.#batch));
		} finally {
			clearTimeout(slow);
		}
	}

	/** After a failover the store may have less than it said: what it lacks is shipped again from the kept segments. */
	async #rewind(): Promise<boolean> {
		try {
			const stored = await this.#store.run(SILENCE_MS, (sql) => knownBoot(sql, this.#boot));
			this.#reader.close();
			this.#reader = new JournalReader({
				dir: this.#options.journalDir,
				nodeId: this.#boot.id,
				nextSeq: stored + 1,
			});
			this.#batch = [];
			this.#appliedSeq = stored;
			return true;
		} catch (error) {
			if (!isStoreTrouble(error)) throw error;
			this.#failing = sentError(error).message;
			return false;
		}
	}

	#readBatch(seq: number): ReadGroup[] {
		const batch = new Batch();
		for (const group of this.#reader.readTo(seq)) {
			batch.add(group);
			if (batch.full) break;
		}
		return batch.groups;
	}

	#report(): void {
		const failing = this.#failing !== null;
		const progress = { appliedSeq: this.#appliedSeq, position: this.#position, checkpointedSeq: this.#appliedSeq, failing };
		this.#send({ type: "progress", progress, error: this.#failing });
	}

	/** The term is over: the event loop is told, and answers with `renew`. */
	#end(): void {
		if (this.#fenced || this.#closed) return;
		this.#fenced = true;
		this.#send({ type: "fenced" });
	}

	/** Books the late posts under the ended epoch, then begins the next one; until it can, it tries. */
	async #renew(seq: number): Promise<void> {
		while (!this.#closed) {
			const applied = await this.#applyTo(seq);
			this.#report();
			try {
				if (applied) {
					await this.#begin();
					return;
				}
			} catch (error) {
				if (!isStoreTrouble(error)) throw error;
			}
			await Bun.sleep(RETRY_MS);
		}
	}

	async #begin(): Promise<void> {
		const latest = await this.#store.run(SILENCE_MS, (sql) => latestBoot(sql, this.#boot.id));
		if (latest.epoch > this.#boot.epoch) throw new SupersededError(this.#options.dataDir);
		const sentAt = instant();
		const { termMs } = this.#options.postgres.term;
		this.#boot = await this.#store.run(SILENCE_MS, (sql) =>
			startBoot(sql, { ...this.#boot, appliedSeq: this.#appliedSeq }, termMs),
		);
		this.#applier = new BatchApplier(this.#boot);
		this.#leases = new LeaseBook(this.#boot);
		this.#fenced = false;
		this.#send({ type: "beat", sentAt, epoch: this.#boot.epoch });
		this.#watch.resume();
	}

	#fatal(error: unknown): void {
		void this.#shut();
		this.#send({ type: "fatal", error: sentError(error) });
	}

	async #shut(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		this.#reader.close();
		await Promise.allSettled([this.#watch.stop(), this.#admin.close(), this.#store.close()]);
	}
}

/** A server on a copy of this data folder has begun a later epoch of the same node: only one of them may go on. */
class SupersededError extends Error {
	override readonly name = "SupersededError";
	readonly code = "NODE_SUPERSEDED";

	constructor(dataDir: string) {
		super(`another server runs on a copy of the data folder ${dataDir}; give each node a folder of its own`);
	}
}

interface Opened {
	readonly store: StoreConnection;
	readonly boot: Boot;
	readonly reader: JournalReader;
	readonly replayedGroups: number;
	readonly beatAt: Instant;
}

async function open(options: Options): Promise<Opened> {
	const { url, term } = options.postgres;
	let reader: JournalReader | null = null;
	const store = new StoreConnection(url, { max: CONNECTIONS, name: "turnpike", statementTimeoutMs: STATEMENT_MS });
	try {
		await withoutLimit(url, migrate);
		const [{ value: storeId }] = await store.run(SILENCE_MS, (sql) =>
			sql.unsafe("SELECT value FROM meta WHERE name = 'store_id'"),
		);
		const dead = await store.run(SILENCE_MS, (sql) => latestBoot(sql, nodeIdIn(options.dataDir, storeId)));
		reader = new JournalReader({ dir: options.journalDir, nodeId: dead.id, nextSeq: dead.appliedSeq + 1 });
		const applier = new BatchApplier(dead);
		let batch = new Batch();
		for (const group of reader.readRest()) {
			batch.add(group);
			if (!batch.full) continue;
			const { groups } = batch;
			await store.run(SILENCE_MS, (sql) => applier.apply(sql, groups));
			batch = new Batch();
		}
		const { groups } = batch;
		if (groups.length > 0) await store.run(SILENCE_MS, (sql) => applier.apply(sql, groups));
		const appliedSeq = reader.nextSeq - 1;
		const beatAt = instant();
		const boot = await store.run(SILENCE_MS, (sql) => startBoot(sql, { ...dead, appliedSeq }, term.termMs));
		return { store, boot, reader, replayedGroups: appliedSeq - dead.appliedSeq, beatAt };
	} catch (error) {
		reader?.close();
		await store.close().catch(() => {});
		throw error;
	}
}

/** A migration may take its time. */
async function withoutLimit(url: string, work: (sql: SQL) => Promise<void>): Promise<void> {
	const sql = connect(url, { max: 1, name: "turnpike migration" });
	try {
		await work(sql);
	} finally {
		await sql.close();
	}
}

/** Nodes and their store are often started together: the store may come a little later. */
async function reached<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
	const deadline = performance.now() + patienceMs;
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (!isStoreTrouble(error) || performance.now() >= deadline) throw error;
		}
		await Bun.sleep(RETRY_MS);
	}
}

/** How far the store has this boot; where a failover lost the boot itself, it is written again behind what is there. */
async function knownBoot(sql: SQL, boot: Boot): Promise<number> {
	const [row] = await sql.unsafe("SELECT applied_seq FROM nodes WHERE node_id = $1 AND epoch = $2", [boot.id, boot.epoch]);
	if (row !== undefined) return Number(row.applied_seq);
	const { appliedSeq } = await latestBoot(sql, boot.id);
	await sql.unsafe(
		`INSERT INTO nodes (node_id, epoch, first_seq, applied_seq, started_at)
			VALUES ($1, $2, $3::int8 + 1, $3, (extract(epoch FROM clock_timestamp()) * 1000)::int8)`,
		[boot.id, boot.epoch, appliedSeq],
	);
	return appliedSeq;
}

/** Groups to be booked in one transaction. */
class Batch {
	readonly groups: ReadGroup[] = [];
	#records = 0;
	#bytes = 0;

	add(group: ReadGroup): void {
		this.groups.push(group);
		this.#records += group.records.length;
		this.#bytes += group.bytes;
	}

	get full(): boolean {
		return this.#records >= BATCH_RECORDS || this.#bytes >= BATCH_BYTES;
	}
}

/** Trying again cannot help: the journal itself is damaged, or the order of the books is broken. */
function isFatal(error: unknown): boolean {
	return error instanceof JournalCorruptError || error instanceof SequenceError;
}
