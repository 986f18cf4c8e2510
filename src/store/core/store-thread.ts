/**
 * The store thread: it applies the journal behind the writer, one batch at a time, and answers calls. Messages are
 * handled one after the other. Before a call the journal is applied up to exactly the sequence that the message names,
 * so that an answer includes those posts and no later one of this node.
 */
import { JournalCorruptError, type JournalPosition, type ReadGroup } from "../../journal/index.ts";
import { sleep } from "../../telemetry/clock.ts";
import type { MinuteExchange } from "../minutes.ts";
import { type AdminRequest, type FromThread, type StoreCall, sentError, type WorkMessage } from "../thread-protocol.ts";
import type { AcquireResult } from "../types.ts";
import { SequenceError } from "./batch-applier.ts";
import { batchesOf, JournalBatches, type JournalTail } from "./journal-batches.ts";
import { callsWith, isLeaseCall, isLeaseRequest, type LeaseCall, seqForAll } from "./lease-calls.ts";
import type { LeaseRequest, StoreApplier, StoredEpoch, StoreLeases, StoreRpc } from "./store.ts";
import { FencedError, StoreSilentError } from "./store-faults.ts";
import type { StoreMonitor } from "./store-monitor.ts";
import type { StoreThreadDeps } from "./store-thread-deps.ts";
import type { Instant } from "./term-times.ts";

const RETRY_MS = 100;
/** A batch that takes longer no longer delays answers. */
const SLOW_MS = 3_000;
/** Work that takes longer gives up its connection. This is long enough for a first batch over a link of 500 ms. */
const SILENCE_MS = 20_000;
const CALL_SILENCE_MS = 10_000;

/** Messages that are handled one after the other. */
type InTurn = Exclude<WorkMessage, { type: "minutes" }> | { readonly type: "catch-up" };
type CallInTurn = Extract<InTurn, { type: "call" }>;

export class StoreThread<On> {
	readonly #deps: StoreThreadDeps<On>;
	readonly #send: (message: FromThread) => void;
	readonly #monitor: StoreMonitor<On>;
	#boot: StoredEpoch;
	#journal: JournalBatches;
	#applier: StoreApplier<On>;
	#leases: StoreLeases<On>;
	#rpc: StoreRpc<On>;
	#queue: InTurn[] = [];
	#working = false;
	#closed = false;
	/** Groups that are read from the journal but not yet applied; a failed attempt keeps them. */
	#batch: ReadGroup[] = [];
	#appliedSeq: number;
	/** The highest value that `#appliedSeq` ever had: where the store has less, a failover lost it. */
	#shippedSeq: number;
	#position: JournalPosition | null = null;
	#failing: string | null = null;
	#fenced = false;

	private constructor(deps: StoreThreadDeps<On>, send: (message: FromThread) => void, opened: Opened) {
		this.#deps = deps;
		this.#send = send;
		this.#boot = opened.boot;
		this.#journal = new JournalBatches(opened.reader, deps.batchRecords);
		this.#appliedSeq = opened.boot.appliedSeq;
		this.#shippedSeq = opened.boot.appliedSeq;
		this.#applier = deps.store.applier(opened.boot);
		this.#leases = deps.store.leases(opened.boot);
		this.#rpc = deps.store.rpc(opened.boot);
		this.#monitor = deps.monitor({
			node: () => this.#boot,
			appliedSeq: () => this.#appliedSeq,
			shippedSeq: () => this.#shippedSeq,
			behind: () => this.#enqueue({ type: "catch-up" }),
			changes: (changes) => this.#send({ type: "changes", changes }),
			checkpointed: () => this.#report(),
			beat: (sentAt) => this.#send({ type: "beat", sentAt, epoch: this.#boot.epoch }),
			fed: (at) => this.#send({ type: "fed", at }),
			fenced: () => this.#end(),
			fatal: (error) => this.#fatal(error),
		});
	}

	/**
	 * Ships the rest of the journal, frees the leases of the previous boot, and begins the next one. Where it throws,
	 * the caller must close the connections.
	 */
	static async open<On>(deps: StoreThreadDeps<On>, send: (message: FromThread) => void): Promise<StoreThread<On>> {
		const opened = await open(deps);
		const thread = new StoreThread(deps, send, opened);
		await thread.#monitor.start();
		const { id, epoch, appliedSeq } = opened.boot;
		send({
			type: "opened",
			report: {
				start: { nodeId: id, epoch, nextSeq: appliedSeq + 1, checkpointedSeq: thread.#checkpointedSeq },
				replayedGroups: opened.replayedGroups,
				lostTail: opened.reader.lostTail,
				beatAt: deps.termMs === null ? null : opened.beatAt,
			},
		});
		return thread;
	}

	/** Stops at once, for a node whose process has ended: its journal and leases stay for `applyRest` or the next boot. */
	abandon(): Promise<void> {
		return this.#shut();
	}

	receive(message: WorkMessage): void {
		if (message.type === "minutes") {
			void this.#exchangeMinutes(message.id, message.exchange);
			return;
		}
		const request = message.type === "call" && message.call.name === "admin" ? message.call.arguments : null;
		if (message.type === "call" && request?.operation === "retain" && this.#deps.retainsAside) {
			void this.#retain(message.id, request);
			return;
		}
		this.#enqueue(message);
	}

	#enqueue(message: InTurn): void {
		this.#queue.push(message);
		if (!this.#working) void this.#work();
	}

	async #work(): Promise<void> {
		this.#working = true;
		try {
			for (let message = this.#queue.shift(); message !== undefined && !this.#closed; message = this.#queue.shift()) {
				if (message.type === "call") await this.#answer(await this.#joined(message));
				else if (message.type === "renew") await this.#renew(message.seq);
				else {
					await (message.type === "apply" ? this.#applyTo(message.seq) : this.#catchUp(this.#shippedSeq));
					this.#report();
				}
			}
		} catch (error) {
			this.#fatal(error);
		}
		this.#working = false;
	}

	/** Returns the call with those that came with it and can be answered together. */
	async #joined(message: CallInTurn): Promise<readonly CallInTurn[]> {
		if (!isLeaseCall(message)) return [message];
		await this.#deps.pause?.();
		return this.#joinableCalls(message);
	}

	/**
	 * Returns the waiting calls that one round trip can answer, including `first`; the last one's sequence applies to
	 * all.
	 */
	#joinableCalls(first: LeaseCall): LeaseCall[] {
		let calls = callsWith(first, this.#queue);
		const last = calls.at(-1) ?? first;
		if (last.seq > this.#appliedSeq) {
			try {
				if (this.#batch.length === 0) this.#batch = this.#journal.next(last.seq);
			} catch (error) {
				if (this.#deps.isStoreTrouble(error)) return [first];
				throw error;
			}
			const read = this.#batch.at(-1)?.seq ?? this.#appliedSeq;
			// Groups that are not read yet may contain posts of their accounts.
			calls = calls.filter(({ seq }) => seq <= Math.max(first.seq, read));
			const seq = seqForAll(calls, this.#batch);
			calls = calls.filter((call) => call.seq <= seq);
			this.#journal.putBack(this.#batch.filter((group) => group.seq > seq));
			this.#batch = this.#batch.filter((group) => group.seq <= seq);
		}
		const joinedCalls = new Set<unknown>(calls);
		this.#queue = this.#queue.filter((message) => !joinedCalls.has(message));
		return calls;
	}

	/** Answers one call, or several at once, all or none. */
	async #answer(calls: readonly CallInTurn[]): Promise<void> {
		const seq = calls.at(-1)?.seq ?? 0;
		const closing = calls.some(({ call }) => call.name === "close");
		const deadline = this.#deps.clock.monotonicMs() + this.#deps.callPatienceMs;
		for (;;) {
			try {
				const before = this.#appliedSeq;
				// No later call after a close would find out what the store lacks.
				const applied = await (closing ? this.#catchUp(seq) : this.#applyTo(seq));
				if (this.#appliedSeq !== before || !applied) this.#report();
				if (!applied) throw new StoreSilentError(`the store cannot be written now: ${this.#failing}`);
				const answers = await this.#deps.link.run(CALL_SILENCE_MS, (on) => this.#runCalls(on, calls));
				for (const [index, { id }] of calls.entries()) this.#send({ type: "answer", id, answer: answers[index] });
				return;
			} catch (error) {
				if (isFatal(error)) throw error;
				const trouble = this.#deps.isStoreTrouble(error);
				// One of them is at fault, so each is run alone.
				if (!trouble && calls.length > 1) {
					for (const call of calls) await this.#answer([call]);
					return;
				}
				// A fenced node gets no leases before its term begins anew, which comes after this call.
				if (!trouble || error instanceof FencedError || this.#deps.clock.monotonicMs() >= deadline) {
					for (const { id, call } of calls) this.#refuse(id, call, error, trouble);
					return;
				}
			}
			await sleep(this.#deps.timers, RETRY_MS);
		}
	}

	#refuse(id: number, call: StoreCall, error: unknown, trouble: boolean): void {
		const { name, message, code } = sentError(error);
		if (error instanceof FencedError) this.#end();
		this.#send({ type: "refusal", id, error: { name: trouble ? "StoreUnavailableError" : name, message, code } });
		// Where the rest of the journal fails, the leases stay: the next start ships it and frees them.
		if (call.name === "close") void this.#shut();
	}

	async #runCalls(on: On, calls: readonly CallInTurn[]): Promise<readonly unknown[]> {
		const asks = calls.flatMap(({ call }) => (isLeaseRequest(call) ? [call] : []));
		if (asks.length > 0) return this.#lease(on, asks);
		const answers: unknown[] = [];
		for (const { call } of calls) if (!isLeaseRequest(call)) answers.push(await this.#call(on, call));
		return answers;
	}

	async #call(on: On, call: Exclude<StoreCall, LeaseRequest>): Promise<unknown> {
		switch (call.name) {
			case "loadKey":
				return this.#deps.store.readKey(on, call.arguments.hash, call.arguments.day);
			case "loadAccount":
				return this.#deps.store.readAccount(on, call.arguments.accountId);
			case "budgets":
				return this.#leases.budgets(on, call.arguments.accountId, call.arguments.day);
			case "idempotency":
				return this.#rpc.idempotency(on, call.arguments);
			case "rpcCredits":
				return this.#rpc.credits(on, call.arguments);
			case "admin": {
				const answer = await this.#deps.admin(call.arguments);
				// Listeners learn of the changes before the caller has the answer.
				await this.#monitor.poll();
				return answer;
			}
			case "settled":
				return null;
			case "close":
				await this.#deps.store.endEpoch(on, this.#boot);
				await this.#shut();
				return null;
		}
	}

	async #exchangeMinutes(id: number, exchange: MinuteExchange): Promise<void> {
		try {
			const { minutes } = this.#deps;
			if (minutes === undefined) throw new StoreSilentError("minute windows are not shared here");
			this.#send({ type: "answer", id, answer: await minutes.exchange(exchange) });
		} catch (error) {
			this.#send({ type: "refusal", id, error: sentError(error) });
		}
	}

	/** Runs outside the order of calls: a distant store takes long for it, and posts must not wait. */
	async #retain(id: number, request: AdminRequest): Promise<void> {
		try {
			this.#send({ type: "answer", id, answer: await this.#deps.admin(request) });
		} catch (error) {
			const sent = sentError(error);
			this.#send({
				type: "refusal",
				id,
				error: this.#deps.isStoreTrouble(error) ? { ...sent, name: "StoreUnavailableError" } : sent,
			});
		}
	}

	async #lease(on: On, asks: readonly LeaseRequest[]): Promise<readonly AcquireResult[]> {
		const results = await this.#leases.execute(on, asks, this.#monitor.liveNodes);
		const recalled = asks.filter((_, index) => results[index]?.recalled);
		if (recalled.length > 0)
			await this.#monitor.recall(
				on,
				recalled.map((leaseRequest) => leaseRequest.arguments.accountId),
			);
		// A lease of a term that ended meanwhile is void.
		if (this.#fenced && asks.some(({ name }) => name === "acquire")) throw new FencedError();
		return results;
	}

	/** Ships up to exactly `seq`. Returns false where the store could not be written; what was applied stays. */
	async #applyTo(seq: number): Promise<boolean> {
		let rewound = false;
		while (this.#appliedSeq < seq) {
			try {
				if (this.#batch.length === 0) this.#batch = this.#journal.next(seq);
				const applied = await this.#ship();
				this.#appliedSeq = applied;
				this.#shippedSeq = Math.max(this.#shippedSeq, applied);
				this.#position = this.#batch.at(-1)?.end ?? this.#position;
				this.#batch = [];
				rewound = false;
				if (this.#appliedSeq < seq) await this.#deps.pause?.();
			} catch (error) {
				if (error instanceof SequenceError && !rewound) {
					rewound = true;
					if (await this.#rewind()) continue;
				} else if (!this.#deps.isStoreTrouble(error)) throw error;
				else this.#failing = sentError(error).message;
				return false;
			}
		}
		this.#failing = null;
		return true;
	}

	/**
	 * Ships the batch. It waits for a slow store, but answers do not: meanwhile they go out as with `power` durability.
	 */
	async #ship(): Promise<number> {
		const quick = this.#deps.timers.after(SLOW_MS, () => {
			this.#failing = "the store is slow";
			this.#report();
		});
		try {
			return await this.#run((on) => this.#applier.apply(on, this.#batch));
		} finally {
			quick();
		}
	}

	/** Ships up to exactly `seq`, including what a failover lost of earlier shipments. */
	async #catchUp(seq: number): Promise<boolean> {
		const storedSeq = await this.#storedSeq();
		if (storedSeq === null) return false;
		if (storedSeq < this.#appliedSeq) this.#readFrom(storedSeq);
		return this.#applyTo(seq);
	}

	/**
	 * Ships lost groups again from the retained segments, where a failover left the store with less than it confirmed.
	 */
	async #rewind(): Promise<boolean> {
		const storedSeq = await this.#storedSeq();
		if (storedSeq === null) return false;
		this.#readFrom(storedSeq);
		return true;
	}

	/** Returns how far the store has the journal of this boot; null where it is unreachable. */
	async #storedSeq(): Promise<number | null> {
		try {
			return await this.#run((on) => this.#deps.store.isKnownEpoch(on, this.#boot));
		} catch (error) {
			if (!this.#deps.isStoreTrouble(error)) throw error;
			this.#failing = sentError(error).message;
			return null;
		}
	}

	#readFrom(appliedSeq: number): void {
		this.#journal.close();
		this.#journal = new JournalBatches(this.#deps.journal(appliedSeq + 1), this.#deps.batchRecords);
		this.#batch = [];
		this.#appliedSeq = appliedSeq;
	}

	get #checkpointedSeq(): number {
		return this.#monitor.checkpointedSeq ?? this.#appliedSeq;
	}

	#report(): void {
		const failing = this.#failing !== null;
		const progress = { appliedSeq: this.#appliedSeq, position: this.#position, checkpointedSeq: this.#checkpointedSeq, failing };
		this.#send({ type: "progress", progress, error: this.#failing });
	}

	/** Ends the term: the event loop is notified, and answers with `renew`. */
	#end(): void {
		if (this.#fenced || this.#closed) return;
		this.#fenced = true;
		this.#send({ type: "fenced" });
	}

	/** Applies the late posts under the ended epoch, then begins the next one; repeats until it succeeds. */
	async #renew(seq: number): Promise<void> {
		while (!this.#closed) {
			// The next epoch begins after what the store has: a gap between the two would stay.
			const applied = await this.#catchUp(seq);
			this.#report();
			try {
				if (applied) {
					await this.#begin();
					return;
				}
			} catch (error) {
				if (!this.#deps.isStoreTrouble(error)) throw error;
			}
			await sleep(this.#deps.timers, RETRY_MS);
		}
	}

	async #begin(): Promise<void> {
		const { store, clock, termMs, dataDir } = this.#deps;
		const latest = await this.#run((on) => store.latestEpoch(on, this.#boot.id));
		if (latest.epoch > this.#boot.epoch) throw new SupersededError(dataDir);
		const sentAt = clock.instant();
		this.#boot = await this.#run((on) => store.startEpoch(on, { ...this.#boot, appliedSeq: this.#appliedSeq }, termMs ?? 0));
		this.#applier = store.applier(this.#boot);
		this.#leases = store.leases(this.#boot);
		this.#rpc = store.rpc(this.#boot);
		this.#fenced = false;
		this.#send({ type: "beat", sentAt, epoch: this.#boot.epoch });
		this.#monitor.resume();
	}

	#fatal(error: unknown): void {
		void this.#shut();
		this.#send({ type: "fatal", error: sentError(error) });
	}

	async #shut(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		this.#journal.close();
		const { closeAdmin, link, minutes } = this.#deps;
		await Promise.allSettled([this.#monitor.stop(), closeAdmin(), link.close(), minutes?.close()]);
	}

	#run<T>(work: (on: On) => Promise<T>): Promise<T> {
		return this.#deps.link.run(SILENCE_MS, work);
	}
}

/**
 * Thrown where a server on a copy of this data folder has begun a later epoch of the same node: only one may
 * continue.
 */
class SupersededError extends Error {
	override readonly name = "SupersededError";
	readonly code = "NODE_SUPERSEDED";

	constructor(dataDir: string) {
		super(`another server runs on a copy of the data folder ${dataDir}; give each node a folder of its own`);
	}
}

interface Opened {
	readonly boot: StoredEpoch;
	readonly reader: JournalTail;
	readonly replayedGroups: number;
	readonly beatAt: Instant;
}

/**
 * Applies the rest of a journal whose process has ended, ends its last boot and frees the leases. Throws errors of the
 * store and of the journal.
 */
export async function applyRest<On>(deps: StoreThreadDeps<On>): Promise<void> {
	const { dead, reader } = await replay(deps);
	reader.close();
	await deps.link.run(SILENCE_MS, (on) => deps.store.endEpoch(on, dead));
}

async function open<On>(deps: StoreThreadDeps<On>): Promise<Opened> {
	const { store, link, clock, termMs } = deps;
	const { dead, reader } = await replay(deps);
	try {
		const appliedSeq = reader.nextSeq - 1;
		const beatAt = clock.instant();
		const boot = await link.run(SILENCE_MS, (on) => store.startEpoch(on, { ...dead, appliedSeq }, termMs ?? 0));
		return { boot, reader, replayedGroups: appliedSeq - dead.appliedSeq, beatAt };
	} catch (error) {
		reader.close();
		throw error;
	}
}

/** Applies the journal of the node's latest boot to its end. The caller closes the reader. */
async function replay<On>(deps: StoreThreadDeps<On>): Promise<{ readonly dead: StoredEpoch; readonly reader: JournalTail }> {
	const { store, link, nodeId, journal, batchRecords } = deps;
	const dead = await link.run(SILENCE_MS, (on) => store.latestEpoch(on, nodeId));
	const reader = journal(dead.appliedSeq + 1);
	try {
		const applier = store.applier(dead);
		for (const groups of batchesOf(reader.readRest(), batchRecords))
			await link.run(SILENCE_MS, (on) => applier.apply(on, groups));
		return { dead, reader };
	} catch (error) {
		reader.close();
		throw error;
	}
}

/** Returns true where another attempt cannot help: the journal is damaged, or the order of the books is broken. */
function isFatal(error: unknown): boolean {
	return error instanceof JournalCorruptError || error instanceof SequenceError;
}
