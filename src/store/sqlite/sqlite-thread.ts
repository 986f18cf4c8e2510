/**
 * The store thread: it reads the journal behind the writer, applies it, and answers calls. Messages are handled one
 * after the other. Before a call the journal is applied up to exactly the sequence that the message names, so that an
 * answer includes those posts and no later one.
 */
import { type Database, SQLiteError } from "bun:sqlite";
import {
	isOutOfDescriptors,
	JournalCorruptError,
	type JournalPosition,
	JournalReader,
	type ReadGroup,
} from "../../journal/index.ts";
import type { AdminExecutor } from "../admin-executor.ts";
import { BatchApplier, SequenceError } from "../core/batch-applier.ts";
import { batchesOf, JournalBatches } from "../core/journal-batches.ts";
import type { StoreChange } from "../port.ts";
import {
	type AdminRequest,
	type FromThread,
	type OpenedReport,
	type StoreCall,
	sentError,
	type ThreadOptions,
	type WorkMessage,
} from "../thread-protocol.ts";
import { BatchRows } from "./batch-rows.ts";
import { CallerReader } from "./caller-reader.ts";
import { ChangeFeed } from "./change-feed.ts";
import { Checkpoints } from "./checkpoints.ts";
import { latestEpoch, type NodeEpoch, startEpoch } from "./epochs.ts";
import { isRecordFault } from "./faults.ts";
import { LeaseRepository } from "./lease-repository.ts";
import { openDatabase } from "./open-database.ts";
import { RpcReader } from "./rpc-repository.ts";
import { StoreClock } from "./store-clock.ts";
import { inTransaction } from "./transaction.ts";

const RETRY_MS = 100;
/** The pages of a few thousand accounts exceed SQLite's default of 2 MB. */
const CACHE_KIBIBYTES = 16 * 1024;

/** Thrown where the journal could not be applied, so that a call after it cannot be answered. */
class StoreTroubleError extends Error {
	override readonly name = "StoreUnavailableError";

	constructor(cause: string | null) {
		super(`the store cannot be written now: ${cause}`);
	}
}

export class StoreThread {
	readonly #options: ThreadOptions;
	readonly #send: (message: FromThread) => void;
	readonly #db: Database;
	readonly #boot: NodeEpoch;
	readonly #journal: JournalBatches;
	readonly #applier: BatchApplier<Database>;
	readonly #leases: LeaseRepository;
	readonly #callers: CallerReader;
	readonly #rpc: RpcReader;
	readonly #feed: ChangeFeed;
	readonly #checkpoints: Checkpoints;
	readonly #pollTimer: Timer;
	#queue: WorkMessage[] = [];
	#working = false;
	#closed = false;
	/** Groups that are read from the journal but not yet applied; a failed attempt keeps them. */
	#batch: ReadGroup[] = [];
	#appliedSeq: number;
	#position: JournalPosition | null = null;
	#failing: string | null = null;
	#adminExecutor: AdminExecutor | null = null;
	#administering = false;

	private constructor(options: ThreadOptions, send: (message: FromThread) => void, opened: Opened) {
		this.#options = options;
		this.#send = send;
		this.#db = opened.db;
		this.#boot = opened.boot;
		this.#journal = new JournalBatches(opened.reader);
		this.#appliedSeq = this.#boot.appliedSeq;
		this.#applier = new BatchApplier(new BatchRows(this.#db, this.#boot, opened.clock));
		this.#leases = new LeaseRepository(this.#db, this.#boot, opened.clock);
		this.#leases.returnAll();
		this.#callers = new CallerReader(this.#db);
		this.#rpc = new RpcReader(this.#db);
		this.#feed = new ChangeFeed(this.#db);
		this.#checkpoints = new Checkpoints(this.#db, options.checkpointEveryMs);
		this.#checkpoints.run(this.#appliedSeq);
		this.#pollTimer = setInterval(() => this.#poll(), options.changesEveryMs);
		this.#send({ type: "opened", report: this.#openedReport(opened) });
	}

	/**
	 * Opens the store, applies the rest of the journal, frees the leases of the previous boot, and begins the next
	 * boot.
	 */
	static async open(options: ThreadOptions, send: (message: FromThread) => void): Promise<StoreThread> {
		return new StoreThread(options, send, await open(options));
	}

	receive(message: WorkMessage): void {
		this.#queue.push(message);
		if (!this.#working) void this.#work();
	}

	#openedReport({ replayedGroups, reader }: Opened): OpenedReport {
		const { id, epoch, appliedSeq } = this.#boot;
		const start = { nodeId: id, epoch, nextSeq: appliedSeq + 1, checkpointedSeq: this.#checkpoints.seq };
		return { start, replayedGroups, lostTail: reader.lostTail, beatAt: null };
	}

	async #work(): Promise<void> {
		this.#working = true;
		try {
			while (!this.#closed) {
				const message = this.#queue.shift();
				if (message === undefined) break;
				if (message.type === "call") {
					await this.#answer(message.id, message.seq, message.call);
				} else if (message.type === "apply") {
					await this.#applyTo(message.seq);
					this.#report();
				}
			}
		} catch (error) {
			this.#shut();
			this.#send({ type: "fatal", error: sentError(error) });
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
				if (!applied) throw new StoreTroubleError(this.#failing);
				this.#send({ type: "answer", id, answer: await this.#call(call) });
				return;
			} catch (error) {
				if (isFatal(error)) throw error;
				if (performance.now() >= deadline || !isStoreTrouble(error)) {
					this.#refuse(id, call, error);
					return;
				}
			}
			await Bun.sleep(RETRY_MS);
		}
	}

	#refuse(id: number, call: StoreCall, error: unknown): void {
		const callError = isStoreTrouble(error) ? new StoreTroubleError(sentError(error).message) : error;
		this.#send({ type: "refusal", id, error: sentError(callError) });
		// Where the rest of the journal fails, the leases stay: the next start applies it and frees them.
		if (call.name === "close") this.#shut();
	}

	#call(call: StoreCall): unknown {
		switch (call.name) {
			case "loadKey":
				return this.#callers.key(call.arguments.hash, call.arguments.day);
			case "loadAccount":
				return this.#callers.account(call.arguments.accountId);
			case "acquire":
				this.#checkpoints.noteWrite();
				return this.#leases.acquire(call.arguments);
			case "budgets":
				return this.#leases.budgets(call.arguments.accountId, call.arguments.day);
			case "giveBack":
				this.#checkpoints.noteWrite();
				return this.#leases.giveBack(call.arguments.accountId, call.arguments.kept);
			case "idempotency":
				if (call.arguments.drops.length > 0) this.#checkpoints.noteWrite();
				return this.#rpc.idempotency(call.arguments);
			case "rpcCredits":
				return this.#rpc.credits(call.arguments);
			case "admin":
				return this.#administer(call.arguments);
			case "settled":
				return null;
			case "close":
				return this.#close();
		}
	}

	/** Runs an operation. Listeners learn of its changes before the caller has the answer. */
	async #administer({ operation, input }: AdminRequest): Promise<unknown> {
		if (this.#adminExecutor === null) {
			// This module is loaded at its first use: most nodes administer nothing for a long time.
			const { AdminExecutor } = await import("../admin-executor.ts");
			this.#adminExecutor = await AdminExecutor.open(this.#options.dataDir);
		}
		this.#administering = true;
		try {
			return await this.#adminExecutor.run(operation, input);
		} finally {
			this.#administering = false;
			this.#checkpoints.noteWrite();
			this.#poll();
		}
	}

	/** Applies up to exactly `seq`. Returns false where the store could not be written; what was applied stays. */
	async #applyTo(seq: number): Promise<boolean> {
		try {
			while (this.#appliedSeq < seq) {
				if (this.#batch.length === 0) this.#batch = this.#journal.next(seq);
				await this.#applyBatch(this.#batch);
				if (this.#appliedSeq < seq) await Bun.sleep(0);
			}
			this.#failing = null;
			return true;
		} catch (error) {
			if (!isStoreTrouble(error)) throw error;
			this.#failing = sentError(error).message;
			return false;
		}
	}

	async #applyBatch(batch: readonly ReadGroup[]): Promise<void> {
		const last = batch.at(-1);
		if (last === undefined) throw new SequenceError(`nothing to read behind group ${this.#appliedSeq}`);
		await this.#applier.apply(this.#db, batch);
		this.#appliedSeq = last.seq;
		this.#position = last.end;
		this.#batch = [];
		this.#checkpoints.noteWrite();
	}

	#report(): void {
		this.#send({
			type: "progress",
			progress: {
				appliedSeq: this.#appliedSeq,
				position: this.#position,
				checkpointedSeq: this.#checkpoints.seq,
				failing: this.#failing !== null,
			},
			error: this.#failing,
		});
	}

	#poll(): void {
		// The other connection may be in a transaction: a checkpoint would wait for it and block both.
		if (this.#administering) return;
		try {
			const changes: StoreChange[] = this.#feed.poll();
			for (const change of changes)
				if (change.kind === "account" && change.takesBack) this.#leases.leaseSparingly(change.accountId);
			if (changes.length > 0) this.#send({ type: "changes", changes });
			if (this.#checkpoints.due() && this.#checkpoints.run(this.#appliedSeq)) this.#report();
		} catch (error) {
			if (!isStoreTrouble(error)) this.#send({ type: "fatal", error: sentError(error) });
		}
	}

	async #close(): Promise<null> {
		await this.#adminExecutor?.close();
		this.#leases.returnAll();
		this.#checkpoints.truncate();
		this.#shut();
		return null;
	}

	#shut(): void {
		if (this.#closed) return;
		this.#closed = true;
		clearInterval(this.#pollTimer);
		this.#journal.close();
		this.#db.close();
	}
}

interface Opened {
	readonly db: Database;
	readonly clock: StoreClock;
	readonly boot: NodeEpoch;
	readonly reader: JournalReader;
	readonly replayedGroups: number;
}

async function open({ dataDir, journalDir, synchronous }: ThreadOptions): Promise<Opened> {
	// FULL until the new epoch is on the disk: otherwise a power cut could assign an epoch twice.
	const db = openDatabase(dataDir, { synchronous: "FULL" });
	db.run("PRAGMA wal_autocheckpoint = 0");
	db.run(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`);
	const clock = new StoreClock(db);
	const dead = latestEpoch(db, clock);
	const reader = new JournalReader({ dir: journalDir, nodeId: dead.id, nextSeq: dead.appliedSeq + 1 });
	// What a killed process left is applied under its own epoch.
	const applier = new BatchApplier(new BatchRows(db, dead, clock));
	for (const groups of batchesOf(reader.readRest())) await applier.apply(db, groups);
	const appliedSeq = reader.nextSeq - 1;
	const boot = inTransaction(db, () => startEpoch(db, { ...dead, appliedSeq }, clock));
	db.run(`PRAGMA synchronous = ${synchronous}`);
	return { db, clock, boot, reader, replayedGroups: appliedSeq - dead.appliedSeq };
}

/** Returns true where another attempt cannot help: the journal is damaged, or the order of the books is broken. */
function isFatal(error: unknown): boolean {
	return error instanceof JournalCorruptError || error instanceof SequenceError;
}

/** Returns true where the disk is full, the database is locked or failing, or no file can be opened: this may pass. */
function isStoreTrouble(error: unknown): boolean {
	if (error instanceof StoreTroubleError || isOutOfDescriptors(error)) return true;
	return error instanceof SQLiteError && !isRecordFault(error);
}
