/**
 * An in-memory store for the tests of this module. It keeps the guarantees of its port: each call sees exactly the
 * posts up to the sequence written when it was made. It checks what the real one enforces by constraints (no balance
 * and no lease below zero), and lets a test decide when each call is answered.
 */
import type { MoneySource, PostRecord } from "../../journal/records.ts";
import { type Nano, nano } from "../../ledger/nano.ts";
import { type CapHeadroom, decideCapped, NO_HEADROOM } from "../../store/core/cap-split.ts";
import { limitNano } from "../../store/core/key-limits.ts";
import { payOwed } from "../../store/core/owed.ts";
import { applyPost } from "../../store/core/post-lines.ts";
import type {
	Account,
	AcquireRequest,
	AcquireResult,
	ApiKey,
	BudgetState,
	CapAmounts,
	CapRequest,
	KeyLoad,
	RetainedCap,
	StoreChange,
	StorePort,
} from "../../store/port.ts";
import { windowStart } from "../spending-window.ts";
import type { MemoryJournal } from "./memory-journal.ts";

interface Budget {
	balance: number;
	leased: number;
}

interface Spending {
	readonly accountId: string;
	readonly keyId: string | null;
	readonly day: number;
	readonly source: MoneySource;
	readonly amount: number;
}

interface PendingCall {
	readonly seq: number;
	readonly name: string;
	run(): void;
	fail(error: Error): void;
}

export class MemoryStore implements StorePort {
	readonly node = { id: "node", epoch: 1 };
	readonly journal: MemoryJournal;
	readonly accounts = new Map<string, Account>();
	readonly keys = new Map<string, ApiKey>();
	readonly stakes = new Map<string, number>();
	/** Budgets by account/source/day. */
	readonly #budgets = new Map<string, Map<string, Budget>>();
	readonly #spendings: Spending[] = [];
	/** Diem allotments written so far, by account/day. */
	readonly #allotted = new Set<string>();
	readonly #listeners = new Set<(change: StoreChange) => void>();
	readonly #pending: PendingCall[] = [];
	/** Names of all calls. */
	readonly calls: string[] = [];
	/** Incoming money by `account/source`, to prove the books. */
	readonly credited = new Map<string, number>();
	overrun = 0;
	/** False: calls wait for `step`. */
	auto = true;
	/**
	 * True to grant only what was requested, and nothing if it is not fully available, as when several nodes share
	 * a budget.
	 */
	thrifty = false;
	failing = false;

	constructor(journal: MemoryJournal) {
		this.journal = journal;
	}

	/** True: other nodes spend here too. */
	readonly kind = "sqlite";
	shared = false;
	/** What this node has leased of keys' limits, by `key/unit/day`. */
	readonly capLeases = new Map<string, number>();
	/** What other nodes have leased of each key's limits. */
	elsewhere: CapAmounts = { usd: 0, diem: 0 };

	idempotency(): Promise<never> {
		return Promise.reject(new Error("this store keeps no answers"));
	}

	rpcCredits(): Promise<never> {
		return Promise.reject(new Error("this store counts no credits"));
	}

	addAccount(id: string, credit: { usd?: number; bundled?: number; stakeDiem?: number } = {}): Account {
		const account: Account = {
			id,
			name: id,
			tier: "paid",
			disabled: false,
			operator: false,
			wallet: null,
			identity: null,
			createdAtMs: 0,
		};
		this.accounts.set(id, account);
		this.stakes.set(id, credit.stakeDiem ?? 0);
		if (credit.usd) this.credit(id, "usd", credit.usd);
		if (credit.bundled) this.credit(id, "bundled", credit.bundled);
		return account;
	}

	addKey(hash: string, accountId: string, more: Partial<ApiKey> = {}): ApiKey {
		const key: ApiKey = {
			id: `key-${hash}`,
			accountId,
			type: "INFERENCE",
			last6: "abcdef",
			description: "",
			limits: { usd: null, diem: null, vcu: null },
			limitPeriod: "EPOCH",
			restrictions: null,
			createdAtMs: 0,
			expiresAtMs: null,
			lastUsedAtMs: null,
			...more,
		};
		this.keys.set(hash, key);
		return key;
	}

	/** Adds money as a command line does, behind the node's back; `notify` reports it. */
	credit(accountId: string, source: MoneySource, amount: number, day = 0): void {
		this.#budget(accountId, source, day).balance += amount;
		const name = `${accountId}/${source}`;
		this.credited.set(name, (this.credited.get(name) ?? 0) + amount);
	}

	/** Takes free money like a debit on the command line. Returns the amount that was not free. */
	debitFree(accountId: string, source: MoneySource, amount: number): number {
		const budget = this.#budget(accountId, source, 0);
		const taken = Math.min(amount, budget.balance - budget.leased);
		budget.balance -= taken;
		const name = `${accountId}/${source}`;
		this.credited.set(name, (this.credited.get(name) ?? 0) - taken);
		return taken;
	}

	/** Applies a post of another node. */
	spendElsewhere(spending: Spending): void {
		this.#spendings.push(spending);
	}

	notify(change: StoreChange): void {
		for (const listener of this.#listeners) listener(change);
	}

	notifyKey(hash: string): void {
		const key = this.keys.get(hash);
		this.notify({ kind: "key", keyId: key?.id ?? "gone", accountId: key?.accountId ?? "gone", hash });
	}

	/** Answers the oldest waiting call; returns false if none waits. */
	step(outcome: "answer" | "fail" = "answer"): boolean {
		const call = this.#pending.shift();
		if (call === undefined) return false;
		this.applyUpTo(call.seq);
		if (outcome === "fail" || this.failing) call.fail(new Error(`store call ${call.name} failed`));
		else call.run();
		return true;
	}

	/** Name of the oldest waiting call. */
	get next(): string | undefined {
		return this.#pending[0]?.name;
	}

	applyUpTo(seq: number): void {
		for (const group of this.journal.groups) {
			if (group.seq <= this.journal.appliedSeq || group.seq > seq) continue;
			for (const record of group.records) if (record.t === "post") this.#apply(record);
			this.journal.appliedSeq = group.seq;
		}
	}

	loadKey(hash: string, day: number): Promise<KeyLoad | null> {
		return this.#call("loadKey", () => {
			const key = this.keys.get(hash);
			const account = key && this.accounts.get(key.accountId);
			if (key === undefined || account === undefined) return null;
			const capped = key.limits.usd !== null || key.limits.diem !== null;
			return { key, account, spent: capped ? this.#spent(key, day) : { usd: nano(0), diem: nano(0) } };
		});
	}

	loadAccount(accountId: string): Promise<Account | null> {
		return this.#call("loadAccount", () => this.accounts.get(accountId) ?? null);
	}

	acquire(request: AcquireRequest): Promise<AcquireResult> {
		const { accountId, day, needNano, part, cap } = request;
		return this.#call("acquire", () => {
			const stake = this.stakes.get(accountId) ?? 0;
			if (stake > 0 && !this.#allotted.has(`${accountId}/${day}`)) this.credit(accountId, "diem", stake, day);
			this.#allotted.add(`${accountId}/${day}`);
			if (cap !== undefined) return this.#acquireCapped({ ...request, cap });
			const there = (["diem", "bundled", "usd"] as const)
				.map((source) => this.#budget(accountId, source, source === "diem" ? day : 0))
				.reduce((sum, { balance, leased }) => sum + balance - leased, 0);
			let wanted: number = this.thrifty ? (part || there >= needNano ? needNano : 0) : Number.POSITIVE_INFINITY;
			const grants = (["diem", "bundled", "usd"] as const).map((source) => {
				const budget = this.#budget(accountId, source, source === "diem" ? day : 0);
				const granted = Math.min(wanted, budget.balance - budget.leased);
				wanted -= granted;
				budget.leased += granted;
				return { source, day: source === "diem" ? day : 0, granted: nano(granted) };
			});
			return { grants, budgets: this.#states(accountId, day) };
		});
	}

	budgets(accountId: string, day: number): Promise<readonly BudgetState[]> {
		return this.#call("budgets", () => this.#states(accountId, day));
	}

	giveBack(
		accountId: string,
		kept: readonly { source: MoneySource; day: number; amount: Nano }[],
		caps?: readonly RetainedCap[],
	): Promise<AcquireResult> {
		return this.#call("giveBack", () => {
			for (const name of caps === undefined ? [] : this.capLeases.keys()) {
				const of = (caps ?? []).find(({ keyId, day }) => name === `${keyId}/usd/${day}` || name === `${keyId}/diem/${day}`);
				const stays = name.includes("/usd/") ? of?.usd : of?.diem;
				this.capLeases.set(name, Math.min(this.capLeases.get(name) ?? 0, stays ?? 0));
			}
			for (const [name, budget] of this.#ofAccount(accountId)) {
				const stays = kept.find((part) => `${part.source}/${part.day}` === name)?.amount ?? 0;
				budget.leased = Math.min(budget.leased, stays);
			}
			return { grants: [], budgets: [] };
		});
	}

	/** Grants both or neither, as when nodes share a budget and a limit. */
	#acquireCapped(request: AcquireRequest & { readonly cap: CapRequest }): AcquireResult {
		const { accountId, day, cap } = request;
		const key = [...this.keys.values()].find(({ id }) => id === cap.keyId);
		const { elsewhere } = this;
		const { grants, budgets, short, ...answer } = decideCapped(
			this.#states(accountId, day),
			request,
			key === undefined ? NO_HEADROOM : { ...this.#capHeadroom(key, day), elsewhere },
			1,
		);
		for (const { source, granted } of grants) this.#budget(accountId, source, source === "diem" ? day : 0).leased += granted;
		for (const unit of ["usd", "diem"] as const) {
			const name = `${cap.keyId}/${unit}/${day}`;
			this.capLeases.set(name, (this.capLeases.get(name) ?? 0) + answer.cap.granted[unit]);
		}
		return { grants, budgets, cap: answer.cap, ...(short && elsewhere.usd + elsewhere.diem > 0 ? { recalled: true } : {}) };
	}

	#capHeadroom(key: ApiKey, day: number): Omit<CapHeadroom, "elsewhere"> {
		const own = { usd: 0, diem: 0 };
		for (const [name, amount] of this.capLeases) {
			const [keyId, unit, of] = name.split("/");
			const here = keyId === key.id && windowStart(key.limitPeriod, Number(of)) === windowStart(key.limitPeriod, day);
			if (here) own[unit === "usd" ? "usd" : "diem"] += amount;
		}
		const limit = { usd: limitNano(key.limits.usd), diem: limitNano(key.limits.diem) };
		return { limit, spent: this.#spent(key, day), own };
	}

	admin(): Promise<never> {
		return Promise.reject(new Error("the store in memory has no operator's side"));
	}

	onChange(listener: (change: StoreChange) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	settled(): Promise<void> {
		this.applyUpTo(this.journal.writtenSeq);
		return Promise.resolve();
	}

	close(): Promise<void> {
		return this.settled();
	}

	/** Posted amounts by source, in order. */
	get spendings(): readonly Spending[] {
		return this.#spendings;
	}

	/** Balance of an account's source over all days. */
	balance(accountId: string, source: MoneySource): number {
		return this.#sum(accountId, source, "balance");
	}

	leased(accountId: string, source: MoneySource): number {
		return this.#sum(accountId, source, "leased");
	}

	/** Sum of what was posted from one source. */
	spent(accountId: string, source: MoneySource): number {
		return this.spendings
			.filter((one) => one.accountId === accountId && one.source === source)
			.reduce((sum, { amount }) => sum + amount, 0);
	}

	#sum(accountId: string, source: MoneySource, of: keyof Budget): number {
		let sum = 0;
		for (const [name, budget] of this.#ofAccount(accountId)) if (name.startsWith(`${source}/`)) sum += budget[of];
		return sum;
	}

	#spent(key: ApiKey, day: number): { usd: Nano; diem: Nano } {
		const start = windowStart(key.limitPeriod, day);
		const inWindow = this.spendings.filter((one) => one.keyId === key.id && windowStart(key.limitPeriod, one.day) === start);
		const sum = (wanted: (source: MoneySource) => boolean) =>
			inWindow.reduce((total, { source, amount }) => total + (wanted(source) ? amount : 0), 0);
		return { usd: nano(sum((source) => source !== "diem")), diem: nano(sum((source) => source === "diem")) };
	}

	#apply(post: PostRecord): void {
		const { parts: lines } = applyPost(post);
		const of = (source: MoneySource) => this.#budget(post.accountId, source, source === "diem" ? post.day : 0);
		const { parts, fromFree } = payOwed(lines, post.owing, () =>
			(["diem", "bundled", "usd"] as const).map((source) => {
				const { balance, leased } = of(source);
				const own = lines.reduce((sum, part) => sum + (part.source === source ? part.amount : 0), 0);
				const surplus = leased - own - (post.owing?.kept[source] ?? 0);
				if (surplus < 0) throw new Error(`${post.accountId}: the node keeps ${-surplus} of ${source} that it has no lease of`);
				return { source, surplus, free: balance - leased };
			}),
		);
		for (const { source, amount } of fromFree) of(source).leased += amount;
		for (const { source, amount } of post.capped ? lines : []) {
			const lease = `${post.keyId}/${source === "diem" ? "diem" : "usd"}/${post.day}`;
			if (source !== "overrun" && source !== "owed")
				this.capLeases.set(lease, Math.max(0, (this.capLeases.get(lease) ?? 0) - amount));
		}
		for (const { source, amount } of parts) {
			if (source === "overrun") {
				this.overrun += amount;
				continue;
			}
			const budget = of(source);
			budget.balance -= amount;
			budget.leased -= amount;
			this.#spendings.push({ accountId: post.accountId, keyId: post.keyId, day: post.day, source, amount });
			if (budget.leased < 0) throw new Error(`${post.accountId}: ${source} spent without a lease: ${budget.leased}`);
			if (budget.balance < budget.leased) throw new Error(`${post.accountId}: ${source} leased beyond its balance`);
		}
	}

	#states(accountId: string, day: number): BudgetState[] {
		return (["diem", "bundled", "usd"] as const).map((source) => {
			const of = source === "diem" ? day : 0;
			const { balance, leased } = this.#budget(accountId, source, of);
			return { source, day: of, balance: nano(balance), free: nano(balance - leased) };
		});
	}

	#ofAccount(accountId: string): Map<string, Budget> {
		const budgets = this.#budgets.get(accountId) ?? new Map<string, Budget>();
		this.#budgets.set(accountId, budgets);
		return budgets;
	}

	#budget(accountId: string, source: MoneySource, day: number): Budget {
		const budgets = this.#ofAccount(accountId);
		const name = `${source}/${day}`;
		const budget = budgets.get(name) ?? { balance: 0, leased: 0 };
		budgets.set(name, budget);
		return budget;
	}

	#call<T>(name: string, answer: () => T): Promise<T> {
		this.calls.push(name);
		this.journal.flush();
		const { promise, resolve, reject } = Promise.withResolvers<T>();
		const run = (): void => {
			try {
				resolve(answer());
			} catch (error) {
				reject(error);
			}
		};
		this.#pending.push({ seq: this.journal.writtenSeq, name, run, fail: reject });
		if (this.auto) setImmediate(() => this.auto && this.step());
		return promise;
	}
}
