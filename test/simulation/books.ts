/**
 * The shared books in memory, by the rules of the store on PostgreSQL: the same decisions (`lease-split.ts`,
 * `batch-plan.ts`), the same constraints, each call one transaction. Accounts are made when they are first asked for, so
 * that a million of them cost nothing. `books.contract.test.ts` proves it beside a real PostgreSQL.
 */
import type { ReadGroup } from "../../src/journal/index.ts";
import type { JournalRecord, MoneySource } from "../../src/journal/records.ts";
import { nano } from "../../src/ledger/nano.ts";
import { SequenceError } from "../../src/store/core/batch-applier.ts";
import {
	type BatchState,
	budgetKey,
	Entry,
	lostAllotments,
	needsOf,
	planBatch,
	type Row,
} from "../../src/store/core/batch-plan.ts";
import { capKey } from "../../src/store/core/cap-plan.ts";
import { type CapRoom, decideCapped, freeRoom } from "../../src/store/core/cap-split.ts";
import { limitNano } from "../../src/store/core/key-limits.ts";
import { type AcquireDecision, decideAcquire, decideGiveBack } from "../../src/store/core/lease-split.ts";
import { RecordFault } from "../../src/store/core/record-fault.ts";
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
import type { NodeEpoch } from "../../src/store/postgres/batch-applier.ts";
import type { CapPlace } from "../../src/store/postgres/cap-table.ts";
import type { Heartbeat, StoredEpoch } from "../../src/store/postgres/epochs.ts";
import { FencedError } from "../../src/store/postgres/faults.ts";
import type { LeaseRequest } from "../../src/store/postgres/shared-store.ts";
import { windowDays } from "../../src/store/sqlite/caller-reader.ts";
import type { ReturnRequest } from "../../src/store/thread-protocol.ts";
import { type BalanceRow, SimulatedRows } from "./rows.ts";

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

export interface BooksOptions {
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

export class SimulatedBooks {
	readonly rows: SimulatedRows;
	readonly #options: BooksOptions;
	readonly #listeners = new Set<
		(notice: { readonly changed: true } | { readonly nodeId: string; readonly accountId: string }) => void
	>();

	constructor(options: BooksOptions) {
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
	capRoom(node: NodeEpoch, accountId: string, { keyId, day }: CapPlace): CapRoom {
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

	/** Books the groups that are not booked yet; the sequence that is booked then. */
	apply(node: NodeEpoch, groups: readonly ReadGroup[]): number {
		return this.rows.transaction("batch", () => {
			const boot = this.rows.boot(node.id, node.epoch);
			if (boot === undefined) throw new SequenceError("the store does not know this boot");
			// Left out, every batch is new, whatever came before.
			const checked = this.#options.broken?.has("sequence") !== true;
			const applied = boot.appliedSeq;
			const fresh = checked ? groups.filter((group) => group.seq > applied) : groups;
			fresh.forEach((group, index) => {
				if (checked && group.seq !== applied + 1 + index) throw new SequenceError(`group ${group.seq} after ${applied + index}`);
			});
			const last = fresh.at(-1);
			if (last === undefined) return applied;
			const entries = fresh.flatMap((group) => group.records.map((text) => new Entry(group.seq, text)));
			for (const { accountId, day } of lostAllotments(entries, this.#locked(node, entries).budgets))
				this.#writeAllotment(accountId, day);
			if (!this.#booked(node, entries)) for (const entry of entries) if (!this.#booked(node, [entry])) this.rows.reject();
			this.rows.setApplied(node, last.seq);
			return last.seq;
		});
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
		this.#writeAllotment(accountId, day);
		const before = this.#states(accountId, day);
		const { cap: asked } = request;
		const room = asked === undefined ? null : this.capRoom(node, accountId, { keyId: asked.keyId, day });
		let cap: CapAnswer | undefined;
		let { grants, budgets, short }: AcquireDecision = decideAcquire(before, request, liveNodes);
		if (asked !== undefined && room !== null)
			({ grants, budgets, short, cap } = decideCapped(before, { ...request, cap: asked }, room, liveNodes));
		if (this.#options.broken?.has("surplus leaves nothing") === true && !short) {
			grants = before.filter(({ free }) => free > 0).map(({ source, day: of, free }) => ({ source, day: of, granted: free }));
		}
		for (const grant of grants) this.rows.lease(node, accountId, grant.source, grant.day, grant.granted);
		if (asked !== undefined && cap !== undefined && this.#options.broken?.has("limits uncounted") !== true)
			this.rows.leaseCaps(node, accountId, { keyId: asked.keyId, day, ...cap.granted });
		const limitsElsewhere = room !== null && room.elsewhere.usd + room.elsewhere.diem > 0;
		const recalled = short && (limitsElsewhere || this.#leasedElsewhere(node, accountId, day));
		return { grants, budgets, ...(cap === undefined ? {} : { cap }), ...(recalled ? { recalled } : {}) };
	}

	#giveBack(node: NodeEpoch, { accountId, kept, caps }: ReturnRequest): AcquireResult {
		for (const { keyId, day, usd, diem } of caps === undefined ? [] : this.rows.capsOf(node, accountId)) {
			const stays = caps?.find((cap) => cap.keyId === keyId && cap.day === day);
			const back = (has: number, keeps: number): number => -Math.max(0, has - keeps);
			this.rows.leaseCaps(node, accountId, { keyId, day, usd: back(usd, stays?.usd ?? 0), diem: back(diem, stays?.diem ?? 0) });
		}
		const leases = [...this.rows.leasesOf(node, accountId)].sort((a, b) => a.day - b.day);
		for (const { source, day, amount } of decideGiveBack(leases, kept)) this.rows.lease(node, accountId, source, day, -amount);
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

	#writeAllotment(accountId: string, day: number): void {
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

	/** All of the entries, or none. */
	#booked(node: NodeEpoch, entries: readonly Entry[]): boolean {
		return this.rows.savepoint(() => {
			const state = this.#locked(node, entries);
			const plan = planBatch(entries, state, this.#options.now());
			const accounts = new Map<string, string>();
			for (const { text } of entries) {
				const record = JSON.parse(text) as JournalRecord;
				if (record.t !== "post") continue;
				accounts.set(record.id, record.accountId);
				if (!this.rows.addPost(record)) throw new RecordFault(`${record.id} is booked`);
			}
			for (const row of plan.movements) {
				const accountId = accounts.get(String(row.request_id)) ?? "";
				this.rows.addMovement(String(row.debit), accountId, String(row.unit), Number(row.amount));
			}
			for (const row of plan.daily) {
				const amount = Number(row.amount);
				const used = { usd: row.unit === "usd" || row.unit === "bundled" ? amount : 0, diem: row.unit === "diem" ? amount : 0 };
				if (used.usd + used.diem > 0) this.rows.use(String(row.key_id), Number(row.day), used);
			}
			for (const row of plan.capped) this.#spendCaps(node, row);
			for (const row of plan.spent) {
				this.rows.spend(node, {
					accountId: String(row.account_id),
					source: row.source as MoneySource,
					day: Number(row.day),
					amount: Number(row.amount),
					leased: Number(row.leased),
				});
			}
		});
	}

	#spendCaps(node: NodeEpoch, row: Row): void {
		const [accountId, keyId, day] = [String(row.account_id), String(row.key_id), Number(row.day)];
		const lease = this.rows.capsOf(node, accountId).find((cap) => cap.keyId === keyId && cap.day === day);
		const unit = row.unit === "diem" ? "diem" : "usd";
		const spent = Math.min(lease?.[unit] ?? 0, Number(row.amount));
		this.rows.leaseCaps(node, accountId, { keyId, day, usd: 0, diem: 0, [unit]: -spent });
	}

	#limitsOf(keyId: string): Limits {
		return this.#options.limitsOf?.(keyId) ?? NO_LIMITS;
	}

	#locked(node: NodeEpoch, entries: readonly Entry[]): BatchState {
		const { budgets, caps } = needsOf(entries);
		const state: BatchState = { budgets: new Map(), numbers: new Map(), caps: new Map() };
		for (const { record } of entries) {
			const place =
				record?.t === "post" ? caps.find(({ keyId, day }) => keyId === record.keyId && day === record.day) : undefined;
			if (place !== undefined && record?.t === "post")
				state.caps.set(capKey(place), freeRoom(this.capRoom(node, record.accountId, place)));
		}
		for (const { account, source, day } of budgets) {
			const purse: BalanceRow | undefined = this.rows.balanceRow(account, source, day);
			if (purse === undefined) continue;
			const lease = this.rows.leaseOf(node, account, source, day);
			state.budgets.set(budgetKey(account, source, day), { balance: purse.balance, leased: purse.leased, lease });
		}
		return state;
	}
}
