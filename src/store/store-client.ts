/** The event loop's client of the store: every call goes to the store thread with the sequence written so far. */
import type { Journal, JournalWriter } from "../journal/index.ts";
import { every, type Timers } from "../telemetry/clock.ts";
import type { RetainedLeases } from "./core/lease-split.ts";
import type { CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "./idempotency.ts";
import type { MinuteAnswer, MinuteExchange, SharedMinutes } from "./minutes.ts";
import type { AdminAnswer, AdminInput, AdminOperation, StorePort } from "./port.ts";
import type { TermGuard } from "./postgres/term-guard.ts";
import { errorOf, StoreUnavailableError } from "./store-errors.ts";
import type { AdminRequest, FromThread, StoreCall, StoreCallName, StoreCalls, ToThread } from "./thread-protocol.ts";
import type { Account, AcquireRequest, AcquireResult, BudgetState, KeyLoad, RetainedCap, StoreChange } from "./types.ts";

/** The node's journal, with the methods that its store thread needs. */
export type ShippedJournal = Journal & Pick<JournalWriter, "flush" | "flushedSeq" | "progress" | "onWritten">;

export interface StoreClientDeps {
	readonly node: { readonly id: string; readonly epoch: number };
	readonly journal: ShippedJournal;
	readonly timers: Timers;
	readonly send: (message: ToThread) => void;
	readonly applyEveryMs: number;
	/** With `store` durability answers wait for the store, so the thread is notified at once. */
	readonly applyAtOnce: boolean;
	/** True where other nodes may use the store. */
	readonly shared: boolean;
	/** The node's term on PostgreSQL; null on SQLite, where leases do not expire. */
	readonly term: TermGuard | null;
	/** Ends the thread and its resources, after the last answer. */
	readonly end: () => void;
}

interface Pending {
	readonly resolve: (answer: unknown) => void;
	readonly reject: (error: Error) => void;
}

export class StoreClient implements StorePort {
	#node: { readonly id: string; readonly epoch: number };
	readonly #deps: StoreClientDeps;
	readonly #pending = new Map<number, Pending>();
	readonly #listeners = new Set<(change: StoreChange) => void>();
	readonly #endApplies: () => void;
	readonly minutes: SharedMinutes | undefined;
	#failed: Error | null = null;
	#lastId = 0;
	#applying = false;
	#closing: Promise<void> | null = null;

	constructor(deps: StoreClientDeps) {
		this.#node = deps.node;
		this.#deps = deps;
		if (deps.shared) this.minutes = { exchange: (exchange) => this.#exchangeMinutes(exchange) };
		this.#endApplies = every(deps.timers, deps.applyEveryMs, () => this.#apply());
		if (deps.applyAtOnce) deps.journal.onWritten(() => this.#apply());
	}

	get node(): { readonly id: string; readonly epoch: number } {
		return this.#node;
	}

	/** Handles a message of the thread, other than those of its start and end. */
	receive(message: FromThread): void {
		switch (message.type) {
			case "progress":
				this.#applying = false;
				this.#deps.journal.progress(message.progress);
				if (this.#deps.applyAtOnce && !message.progress.failing) this.#apply();
				return;
			case "answer":
				this.#take(message.id)?.resolve(message.answer);
				return;
			case "refusal":
				this.#take(message.id)?.reject(errorOf(message.error));
				return;
			case "changes":
				this.#notifyListeners(message.changes);
				return;
			case "beat":
				this.#node = { id: this.#node.id, epoch: message.epoch };
				this.#deps.term?.beat(message.sentAt);
				return;
			case "fed":
				this.#deps.term?.fed(message.at);
				return;
			case "fenced":
				this.#endTerm();
				return;
		}
	}

	/** Rejects all pending calls, because the thread has died. */
	fail(error: Error): void {
		this.#failed ??= error;
		this.#endApplies();
		for (const pending of this.#pending.values()) pending.reject(error);
		this.#pending.clear();
	}

	loadKey(hash: string, day: number): Promise<KeyLoad | "revoked" | null> {
		return this.#call("loadKey", { hash, day });
	}

	loadAccount(accountId: string): Promise<Account | null> {
		return this.#call("loadAccount", { accountId });
	}

	acquire(request: AcquireRequest): Promise<AcquireResult> {
		return this.#call("acquire", request);
	}

	budgets(accountId: string, day: number): Promise<readonly BudgetState[]> {
		return this.#call("budgets", { accountId, day });
	}

	giveBack(accountId: string, retained: readonly RetainedLeases[], caps?: readonly RetainedCap[]): Promise<AcquireResult> {
		return this.#call("giveBack", { accountId, retained, ...(caps === undefined ? {} : { caps }) });
	}

	get kind(): StorePort["kind"] {
		return this.#deps.term === null ? "sqlite" : "postgres";
	}

	get shared(): boolean {
		return this.#deps.shared;
	}

	idempotency(trip: IdempotencyBatch): Promise<readonly StoredClaim[]> {
		return this.#call("idempotency", trip);
	}

	rpcCredits(question: CreditQuery): Promise<readonly CreditBucket[]> {
		return this.#call("rpcCredits", question);
	}

	admin<Name extends AdminOperation>(operation: Name, input: AdminInput<Name>): Promise<AdminAnswer<Name>> {
		return this.#call("admin", { operation, input } as AdminRequest) as Promise<AdminAnswer<Name>>;
	}

	async settled(): Promise<void> {
		await this.#call("settled", null);
	}

	onChange(listener: (change: StoreChange) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	close(): Promise<void> {
		this.#closing ??= this.#close();
		return this.#closing;
	}

	async #close(): Promise<void> {
		// No post may follow the return of the leases, so the journal is closed first.
		await this.#deps.journal.close();
		this.#endApplies();
		try {
			await this.#send("close", null);
		} finally {
			this.#deps.end();
		}
	}

	#notifyListeners(changes: readonly StoreChange[]): void {
		for (const change of changes) for (const listener of [...this.#listeners]) listener(change);
	}

	/** Ends the term: nothing of the old leases is spent from now on, and earlier posts are applied late. */
	#endTerm(): void {
		this.#deps.term?.end();
		this.#notifyListeners([{ kind: "leases-ended" }]);
		this.#deps.journal.flush();
		this.#deps.send({ type: "renew", seq: this.#deps.journal.flushedSeq });
	}

	#apply(): void {
		const seq = this.#deps.journal.flushedSeq;
		if (this.#applying || seq <= this.#deps.journal.appliedSeq) return;
		this.#applying = true;
		this.#deps.send({ type: "apply", seq });
	}

	#call<Name extends StoreCallName>(name: Name, args: StoreCalls[Name]["arguments"]): Promise<StoreCalls[Name]["answer"]> {
		if (this.#closing !== null) return Promise.reject(new StoreUnavailableError("the store is closed"));
		this.#deps.journal.flush();
		return this.#send(name, args);
	}

	#send<Name extends StoreCallName>(name: Name, args: StoreCalls[Name]["arguments"]): Promise<StoreCalls[Name]["answer"]> {
		if (this.#failed !== null) return Promise.reject(this.#failed);
		const id = ++this.#lastId;
		const call = { name, arguments: args } as StoreCall;
		return new Promise((resolve, reject) => {
			this.#pending.set(id, { resolve: resolve as (answer: unknown) => void, reject });
			this.#deps.send({ type: "call", id, seq: this.#deps.journal.flushedSeq, call });
		});
	}

	#exchangeMinutes(exchange: MinuteExchange): Promise<MinuteAnswer> {
		if (this.#closing !== null) return Promise.reject(new StoreUnavailableError("the store is closed"));
		if (this.#failed !== null) return Promise.reject(this.#failed);
		const id = ++this.#lastId;
		return new Promise((resolve, reject) => {
			this.#pending.set(id, { resolve: resolve as (answer: unknown) => void, reject });
			this.#deps.send({ type: "minutes", id, exchange });
		});
	}

	#take(id: number): Pending | undefined {
		const pending = this.#pending.get(id);
		this.#pending.delete(id);
		return pending;
	}
}
