/**
 * The shared store in memory, by the rules of both stores (`src/store/core`), with the same constraints, each call one
 * transaction. Accounts are made when they are first asked for, so that a million of them cost nothing.
 * `store.contract.test.ts` proves it beside a real PostgreSQL.
 */
import type { ReadGroup } from "../../src/journal/index.ts";
import type { MoneySource } from "../../src/journal/records.ts";
import { nano } from "../../src/ledger/nano.ts";
import { BatchApplier, type BatchTransaction, type LockedBatch, type NodeEpoch } from "../../src/store/core/batch-applier.ts";
import type { BatchPlan } from "../../src/store/core/batch-plan.ts";
import { BatchState } from "../../src/store/core/batch-state.ts";
import { windowDays } from "../../src/store/core/caller-rows.ts";
import { type CapPlace, type CappedSum, capKey } from "../../src/store/core/cap-plan.ts";
import { type CapHeadroom, decideCapped, freeHeadroom } from "../../src/store/core/cap-split.ts";
import type { AllotmentDay, BatchNeeds } from "../../src/store/core/entries.ts";
import { limitNano } from "../../src/store/core/key-limits.ts";
import { type AcquireDecision, decideAcquire, decideGiveBack } from "../../src/store/core/lease-split.ts";
import { RecordFault } from "../../src/store/core/record-fault.ts";
import type { Heartbeat, LeaseRequest, StoredEpoch } from "../../src/store/core/store.ts";
import { FencedError } from "../../src/store/core/store-faults.ts";
import type {
	Account,
	AcquireRequest,
	AcquireResult,
	BudgetState,
	CapAnswer,
	KeyLoad,
	LimitPeriod,
	StoreChange,
} from "../../src/store/port.ts";
import type { ReturnRequest } from "../../src/store/thread-protocol.ts";
import { SimulatedRows } from "./rows.ts";

/** What an account has before anybody uses it; nano-USD, nano-diem a day. */
export interface Opening {
	readonly usd: number;
	readonly bundled: number;
	readonly stakeDiem: number;
}

/** The limits of a key, as they were entered. */
export interface Limits {
	readonly usd: string | null;
	readonly diem: string | null;
	readonly period: LimitPeriod;
}

export interface SimulatedStoreOptions {
	/** Unix milliseconds by the database's clock. */
	readonly now: () => number;
	/** What an account opens with; null: there is no such account. */
	readonly opening: (accountId: string) => Opening | null;
	/** The account of a key. */
	readonly accountOfKey: (hash: string) => string | null;
	/** By the id of a key; left out where none has any. */
	readonly limitsOf?: (keyId: string) => Limits;
	/** Told of each commit whose leases of a key's limits a failover lost. */
	readonly lostCaps?: (keyId: string, amount: number) => void;
	/** Told before a boot's leases are freed by a fence. */
	readonly fenced?: (node: NodeEpoch) => void;
	/** Told of each commit whose leases a failover lost. */
	readonly lostGrants?: (accountId: string, amount: number) => void;
	/** Rules left out on purpose, to see that they are missed. */
	readonly broken?: ReadonlySet<"fence" | "reap without a fence" | "surplus leaves nothing" | "sequence" | "limits uncounted">;
}

const SOURCES = ["diem", "bundled", "usd"] as const satisfies readonly MoneySource[];
const DAY_MS = 86_400_000;
const NO_LIMITS: Limits = { usd: null, diem: null, period: "EPOCH" };

export class SimulatedStore {
	readonly rows: SimulatedRows;
	readonly #options: SimulatedStoreOptions;
	readonly #listeners = new Set<
		(notice: { readonly changed: true } | { readonly nodeId: string; readonly accountId: string }) => void
	>();

	constructor(options: SimulatedStoreOptions) {
		this.#options = options;
		this.rows = new SimulatedRows(options);
	}

	latestBoot(nodeId: string): StoredEpoch {
		const boot = this.rows.bootsOf(nodeId).at(-1);
		return { id: nodeId, epoch: boot?.epoch ?? 0, appliedSeq: boot?.appliedSeq ?? 0 };
	}

	knownBoot(boot: StoredEpoch): number {
		return this.rows.transaction("boot", () => {
			const known = this.rows.boot(boot.id, boot.epoch);
			if (known !== undefined) return known.appliedSeq;
			const { appliedSeq } = this.latestBoot(boot.id);
			this.rows.addBoot({ ...boot, appliedSeq });
			return appliedSeq;
		});
	}

	startBoot(before: StoredEpoch, termMs: number): StoredEpoch {
		return this.rows.transaction("boot", () => {
			for (const { epoch } of this.rows.bootsOf(before.id)) this.#endLeases({ id: before.id, epoch });
			const epoch = (this.rows.bootsOf(before.id).at(-1)?.epoch ?? 0) + 1;
			const boot = { id: before.id, epoch, appliedSeq: before.appliedSeq };
			this.rows.addBoot(boot);
			this.rows.setTerm(boot, { endsAtMs: this.#options.now() + termMs, fenced: false });
			return boot;
		});
	}

	endBoot(node: NodeEpoch): void {
		this.rows.transaction("boot", () => this.#endLeases(node));
	}

	beat(node: NodeEpoch, termMs: number): Heartbeat {
		return this.rows.transaction("beat", () => {
			const term = this.rows.term(node);
			if (term === undefined || term.fenced) throw new FencedError();
			this.rows.setTerm(node, { endsAtMs: this.#options.now() + termMs, fenced: false });
			const live = Math.max(1, this.rows.liveTerms(this.#options.now()));
			return { live, appliedSeq: this.rows.boot(node.id, node.epoch)?.appliedSeq ?? 0 };
		});
	}

	reap(afterMs: number): number {
		const late = this.rows.lateTerms(this.#options.now() - afterMs);
		for (const node of late) this.rows.transaction("reap", () => this.#endLeases(node));
		return late.length;
	}

	readKey(hash: string, day: number): KeyLoad | null {
		const accountId = this.#options.accountOfKey(hash);
		const account = accountId === null ? null : this.readAccount(accountId);
		if (account === null) return null;
		const keyId = `key-${hash}`;
		const { usd, diem, period } = this.#limitsOf(keyId);
		const spent = this.rows.used(keyId, windowDays(period, day));
		const limited = usd !== null || diem !== null;
		return {
			key: {
				id: keyId,
				accountId: account.id,
				type: "INFERENCE",
				last6: "abcdef",
				description: "",
				limits: { usd, diem, vcu: null },
				limitPeriod: period,
				restrictions: null,
				createdAtMs: 0,
				expiresAtMs: null,
				lastUsedAtMs: null,
			},
			account,
			spent: { usd: nano(limited ? spent.usd : 0), diem: nano(limited ? spent.diem : 0) },
		};
	}

	/** What a key's limits have left for a request of a day, as the node finds it. */
	capHeadroom(node: NodeEpoch, accountId: string, { keyId, day }: CapPlace): CapHeadroom {
		const { usd, diem, period } = this.#limitsOf(keyId);
		const days = windowDays(period, day);
		return {
			limit: { usd: limitNano(usd), diem: limitNano(diem) },
			spent: this.rows.used(keyId, days),
			...this.rows.capsLeased(node, accountId, keyId, days),
		};
	}

	readAccount(accountId: string): Account | null {
		if (this.rows.account(accountId) === null) return null;
		return {
			id: accountId,
			name: accountId,
			tier: "paid",
			disabled: false,
			operator: false,
			wallet: null,
			identity: null,
			createdAtMs: 0,
		};
	}

	trip(node: NodeEpoch, asks: readonly LeaseRequest[], liveNodes: number): AcquireResult[] {
		return this.rows.transaction("lease", () => {
			this.#alive(node);
			return asks.map((ask) =>
				ask.name === "acquire" ? this.#acquire(node, ask.arguments, liveNodes) : this.#giveBack(node, ask.arguments),
			);
		});
	}

	budgets(accountId: string, day: number): readonly BudgetState[] {
		const states = this.#states(accountId, day);
		if (states.some((state) => state.source === "diem")) return states;
		const stake = this.rows.account(accountId)?.stakeDiem ?? 0;
		return stake === 0 ? states : [{ source: "diem", day, balance: nano(stake), free: nano(stake) }, ...states];
	}

	/** Applies the groups that are not applied yet. Returns the sequence that is applied then. */
	apply(node: NodeEpoch, groups: readonly ReadGroup[]): Promise<number> {
		// Left out, every batch is new, whatever came before.
		const appliedSeq = this.#options.broken?.has("sequence") === true ? (groups[0]?.seq ?? 1) - 1 : undefined;
		const applier = new BatchApplier<SimulatedRows>({
			transaction: (rows, work) =>
				rows.transactionAsync("batch", () => work(new SimulatedBatch(this, node, this.#options.now, appliedSeq))),
			isRecordFault: (error) => error instanceof RecordFault,
		});
		return applier.apply(this.rows, groups);
	}

	/** Adds money, as the operator does; the nodes are told. */
	credit(accountId: string, amount: number): void {
		this.rows.transaction("credit", () => {
			this.rows.credit(accountId, amount);
			this.rows.addChange({ kind: "account", accountId });
		});
		this.#tell({ changed: true });
	}

	/** What changed behind a row, and the last row there is. */
	changesAfter(id: number): { readonly changes: readonly StoreChange[]; readonly lastId: number } {
		return this.rows.changesAfter(id);
	}

	askBack(nodeId: string, accountIds: readonly string[]): void {
		for (const accountId of accountIds) this.#tell({ nodeId, accountId });
	}

	onNotice(
		listener: (notice: { readonly changed: true } | { readonly nodeId: string; readonly accountId: string }) => void,
	): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	#tell(notice: { readonly changed: true } | { readonly nodeId: string; readonly accountId: string }): void {
		for (const listener of this.#listeners) listener(notice);
	}

	#acquire(node: NodeEpoch, request: AcquireRequest, liveNodes: number): AcquireResult {
		const { accountId, day } = request;
		this.writeAllotment(accountId, day);
		const before = this.#states(accountId, day);
		const { cap: asked } = request;
		const headroom = asked === undefined ? null : this.capHeadroom(node, accountId, { keyId: asked.keyId, day });
		let cap: CapAnswer | undefined;
		let { grants, budgets, short }: AcquireDecision = decideAcquire(before, request, liveNodes);
		if (asked !== undefined && headroom !== null)
			({ grants, budgets, short, cap } = decideCapped(before, { ...request, cap: asked }, headroom, liveNodes));
		if (this.#options.broken?.has("surplus leaves nothing") === true && !short) {
			grants = before.filter(({ free }) => free > 0).map(({ source, day: of, free }) => ({ source, day: of, granted: free }));
		}
		for (const grant of grants) this.rows.lease(node, accountId, grant.source, grant.day, grant.granted);
		if (asked !== undefined && cap !== undefined && this.#options.broken?.has("limits uncounted") !== true)
			this.rows.leaseCaps(node, accountId, { keyId: asked.keyId, day, ...cap.granted });
		const limitsElsewhere = headroom !== null && headroom.elsewhere.usd + headroom.elsewhere.diem > 0;
		const recalled = short && (limitsElsewhere || this.#leasedElsewhere(node, accountId, day));
		return { grants, budgets, ...(cap === undefined ? {} : { cap }), ...(recalled ? { recalled } : {}) };
	}

	#giveBack(node: NodeEpoch, { accountId, retained, caps }: ReturnRequest): AcquireResult {
		for (const { keyId, day, usd, diem } of caps === undefined ? [] : this.rows.capsOf(node, accountId)) {
			const stays = caps?.find((cap) => cap.keyId === keyId && cap.day === day);
			const back = (has: number, keeps: number): number => -Math.max(0, has - keeps);
			this.rows.leaseCaps(node, accountId, { keyId, day, usd: back(usd, stays?.usd ?? 0), diem: back(diem, stays?.diem ?? 0) });
		}
		const leases = [...this.rows.leasesOf(node, accountId)].sort((a, b) => a.day - b.day);
		for (const { source, day, amount } of decideGiveBack(leases, retained))
			this.rows.lease(node, accountId, source, day, -amount);
		const days = new Set([Math.floor(this.#options.now() / DAY_MS)]);
		for (const { source, day } of leases) if (source === "diem") days.add(day);
		const diem = [...days].flatMap((day) => this.#states(accountId, day).filter(({ source }) => source === "diem"));
		return { grants: [], budgets: [...diem, ...this.#states(accountId, 0).filter(({ source }) => source !== "diem")] };
	}

	#alive(node: NodeEpoch): void {
		const term = this.rows.term(node);
		if (this.#options.broken?.has("fence") === true) return;
		if (term === undefined || term.fenced) throw new FencedError();
	}

	#endLeases(node: NodeEpoch): void {
		const term = this.rows.term(node);
		if (term !== undefined && !term.fenced) {
			this.#options.fenced?.(node);
			if (this.#options.broken?.has("reap without a fence") !== true) this.rows.setTerm(node, { ...term, fenced: true });
		}
		this.rows.freeLeases(node);
	}

	/** Writes the day's allotment unless it exists. */
	writeAllotment(accountId: string, day: number): void {
		const account = this.rows.account(accountId);
		if (account === null || account.stakeDiem === 0 || account.diem.has(day)) return;
		this.rows.allot(accountId, day, account.stakeDiem);
	}

	#states(accountId: string, day: number): BudgetState[] {
		return SOURCES.flatMap((source) => {
			const of = source === "diem" ? day : 0;
			const purse = this.rows.balanceRow(accountId, source, of);
			return purse === undefined
				? []
				: [{ source, day: of, balance: nano(purse.balance), free: nano(purse.balance - purse.leased) }];
		});
	}

	#leasedElsewhere(node: NodeEpoch, accountId: string, day: number): boolean {
		const counts = (source: MoneySource, of: number): boolean => source !== "diem" || of === day;
		const all = SOURCES.reduce(
			(sum, source) => sum + (this.rows.balanceRow(accountId, source, source === "diem" ? day : 0)?.leased ?? 0),
			0,
		);
		const own = this.rows
			.leasesOf(node, accountId)
			.reduce((sum, lease) => sum + (counts(lease.source, lease.day) ? lease.amount : 0), 0);
		return all > own;
	}

	#limitsOf(keyId: string): Limits {
		return this.#options.limitsOf?.(keyId) ?? NO_LIMITS;
	}
}

/** The rows of one batch. */
class SimulatedBatch implements BatchTransaction {
	readonly #store: SimulatedStore;
	readonly #rows: SimulatedRows;
	readonly #node: NodeEpoch;
	readonly #now: () => number;
	readonly #appliedSeq: number | undefined;

	/** @param appliedSeq is used in place of the node's own */
	constructor(books: SimulatedStore, node: NodeEpoch, now: () => number, appliedSeq: number | undefined) {
		this.#store = books;
		this.#rows = books.rows;
		this.#node = node;
		this.#now = now;
		this.#appliedSeq = appliedSeq;
	}

	async lock({ budgets, caps }: BatchNeeds): Promise<LockedBatch> {
		const state = new BatchState(
			new Map(caps.map((cap) => [capKey(cap), freeHeadroom(this.#store.capHeadroom(this.#node, cap.accountId, cap))])),
		);
		for (const { accountId, source, day } of budgets) {
			const row = this.#rows.balanceRow(accountId, source, day);
			const lease = this.#rows.leaseOf(this.#node, accountId, source, day);
			if (row !== undefined) state.account(accountId).addBudget(source, day, row.balance, row.leased, lease);
		}
		const boot = this.#rows.boot(this.#node.id, this.#node.epoch);
		return { appliedSeq: boot === undefined ? null : (this.#appliedSeq ?? boot.appliedSeq), state, nowMs: this.#now() };
	}

	async writeAllotments(days: readonly AllotmentDay[]): Promise<void> {
		for (const { accountId, day } of days) this.#store.writeAllotment(accountId, day);
	}

	async write({ posts, accounts, capped }: BatchPlan): Promise<void> {
		for (const { record, parts } of posts) {
			if (!this.#rows.addPost(record)) throw new RecordFault(`${record.id} has a post`);
			for (const { source, amount } of parts) this.#rows.addMovement(record.accountId, source, amount);
		}
		for (const sum of capped) this.#spendCaps(sum);
		for (const { id: accountId, budgets, usage } of accounts) {
			for (const { keyId, day, unit, amount } of usage) {
				const used = { usd: unit === "usd" || unit === "bundled" ? amount : 0, diem: unit === "diem" ? amount : 0 };
				if (used.usd + used.diem > 0) this.#rows.use(keyId, day, used);
			}
			for (const { source, day, spent: amount, unleased: leased } of budgets)
				if (amount !== 0 || leased !== 0) this.#rows.spend(this.#node, { accountId, source, day, amount, leased });
		}
	}

	async reject(): Promise<void> {
		this.#rows.reject();
	}

	async advance(appliedSeq: number): Promise<void> {
		this.#rows.setApplied(this.#node, appliedSeq);
	}

	savepoint<T>(work: () => Promise<T>): Promise<T> {
		return this.#rows.savepoint(work);
	}

	#spendCaps({ accountId, keyId, unit, day, amount }: CappedSum): void {
		const lease = this.#rows.capsOf(this.#node, accountId).find((cap) => cap.keyId === keyId && cap.day === day);
		const spent = Math.min(lease?.[unit] ?? 0, amount);
		this.#rows.leaseCaps(this.#node, accountId, { keyId, day, usd: 0, diem: 0, [unit]: -spent });
	}
}
