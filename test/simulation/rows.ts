/** The rows of the simulated books, with the constraints of the schema, transactions, and what a failover takes back. */
import type { MoneySource, PostRecord } from "../../src/journal/records.ts";
import type { NodeEpoch } from "../../src/store/core/batch-applier.ts";
import type { RetainedLeases } from "../../src/store/core/lease-split.ts";
import { RecordFault } from "../../src/store/core/record-fault.ts";
import type { StoredEpoch } from "../../src/store/core/store.ts";
import type { CapAmounts, RetainedCap, StoreChange } from "../../src/store/port.ts";
import { Bits } from "./bits.ts";
import type { Opening } from "./store.ts";

export interface BalanceRow {
	balance: number;
	leased: number;
}

export interface AccountRow {
	readonly usd: BalanceRow | undefined;
	readonly bundled: BalanceRow | undefined;
	readonly diem: Map<number, BalanceRow>;
	readonly stakeDiem: number;
}

export interface Term {
	readonly endsAtMs: number;
	readonly fenced: boolean;
}

export type WriteKind = "boot" | "beat" | "reap" | "lease" | "batch" | "credit";

/** What one post takes from a budget. */
export interface Spent extends RetainedLeases {
	readonly accountId: string;
	readonly leased: number;
}

interface Commit {
	readonly atMs: number;
	readonly kind: WriteKind;
	readonly undo: (() => void)[];
	/** What was leased by it. */
	readonly grants: { readonly accountId: string; readonly amount: number }[];
	/** What of keys' limits was leased by it. */
	readonly capGrants: { readonly keyId: string; readonly amount: number }[];
}

export interface RowsOptions {
	readonly now: () => number;
	readonly opening: (accountId: string) => Opening | null;
	readonly lostGrants?: (accountId: string, amount: number) => void;
	readonly lostCaps?: (keyId: string, amount: number) => void;
}

const NO_AMOUNTS: CapAmounts = { usd: 0, diem: 0 };

/** Highest balance of the schema, nano-USD. */
const HIGHEST = 4_000_000_000_000_000;
/** Commits are kept this long for a failover. */
const KEPT_MS = 2_000;
/** How many commits may be past their time before they are dropped together. */
const SLACK = 10_000;

const termKey = ({ id, epoch }: NodeEpoch): string => `${id}/${epoch}`;

export class SimulatedRows {
	/** Sums over all accounts, in nano of their unit; bundled counts as usd. What a million accounts have passes 2^53. */
	readonly totals = {
		credited: { usd: 0n, diem: 0n },
		charged: { usd: 0, diem: 0 },
		overrun: 0,
		posts: 0,
		price: 0,
		rejected: 0,
	};
	/** What the operator bore, by account. */
	readonly overruns = new Map<string, number>();
	/** Commits that wrote something, by kind. */
	readonly commits: Record<WriteKind, number> = { boot: 0, beat: 0, reap: 0, lease: 0, batch: 0, credit: 0 };
	/** Rows that were written. */
	rowsWritten = 0;
	/** Requests with a post, by number. */
	readonly posted = new Bits();
	readonly #options: RowsOptions;
	readonly #accounts = new Map<string, AccountRow | null>();
	readonly #boots = new Map<string, { epoch: number; appliedSeq: number }[]>();
	readonly #terms = new Map<string, Term & { readonly node: NodeEpoch }>();
	/** By boot, then by account. */
	readonly #leases = new Map<string, Map<string, RetainedLeases[]>>();
	/** Leases of keys' limits: by boot, then by account. */
	readonly #capLeases = new Map<string, Map<string, RetainedCap[]>>();
	/** What each key used, by day; bundled credit counts as usd. */
	readonly #usage = new Map<string, Map<number, CapAmounts>>();
	#usedSince = new Map<string, Set<number>>();
	readonly #changes: StoreChange[] = [];
	#log: Commit[] = [];
	#open: Commit | null = null;

	constructor(options: RowsOptions) {
		this.#options = options;
	}

	/** All or nothing of what `work` writes. */
	transaction<T>(kind: WriteKind, work: () => T): T {
		const commit = this.#begin(kind);
		try {
			const result = work();
			if (commit.undo.length > 0) this.#keep(commit);
			return result;
		} catch (error) {
			for (const undo of commit.undo.reverse()) undo();
			throw error;
		} finally {
			this.#open = null;
		}
	}

	/** As `transaction`, for work that awaits nothing beyond the current event. */
	async transactionAsync<T>(kind: WriteKind, work: () => Promise<T>): Promise<T> {
		const commit = this.#begin(kind);
		try {
			const result = await work();
			if (commit.undo.length > 0) this.#keep(commit);
			return result;
		} catch (error) {
			for (const undo of commit.undo.reverse()) undo();
			throw error;
		} finally {
			this.#open = null;
		}
	}

	/** Keeps nothing of `work` where it throws; the transaction goes on. */
	async savepoint<T>(work: () => Promise<T>): Promise<T> {
		const undo = this.#open?.undo ?? [];
		const before = undo.length;
		try {
			return await work();
		} catch (error) {
			for (const step of undo.splice(before).reverse()) step();
			throw error;
		}
	}

	#begin(kind: WriteKind): Commit {
		const commit: Commit = { atMs: this.#options.now(), kind, undo: [], grants: [], capGrants: [] };
		this.#open = commit;
		return commit;
	}

	/**
	 * The database dies and comes back without its last commits: those of leases that no later commit has carried to the
	 * disk ("crash"), or all of the last `lostMs` ("replica": the one that took over was that far behind).
	 */
	failover(how: "crash" | "replica", lostMs: number): void {
		const since = this.#options.now() - lostMs;
		for (let last = this.#log.at(-1); last !== undefined && last.atMs > since; last = this.#log.at(-1)) {
			if (how === "crash" && last.kind !== "lease") break;
			this.#log.pop();
			for (const undo of last.undo.reverse()) undo();
			for (const { accountId, amount } of last.grants) this.#options.lostGrants?.(accountId, amount);
			for (const { keyId, amount } of last.capGrants) this.#options.lostCaps?.(keyId, amount);
		}
	}

	account(accountId: string): AccountRow | null {
		const known = this.#accounts.get(accountId);
		if (known !== undefined) return known;
		const opening = this.#options.opening(accountId);
		const balanceRow = (balance: number): BalanceRow | undefined => (balance > 0 ? { balance, leased: 0 } : undefined);
		const account =
			opening === null
				? null
				: {
						usd: balanceRow(opening.usd),
						bundled: balanceRow(opening.bundled),
						diem: new Map<number, BalanceRow>(),
						stakeDiem: opening.stakeDiem,
					};
		this.totals.credited.usd += BigInt((opening?.usd ?? 0) + (opening?.bundled ?? 0));
		this.#accounts.set(accountId, account);
		return account;
	}

	/** Accounts that were asked for. */
	*accounts(): Iterable<[string, AccountRow]> {
		for (const [id, account] of this.#accounts) if (account !== null) yield [id, account];
	}

	balanceRow(accountId: string, source: MoneySource, day: number): BalanceRow | undefined {
		const account = this.account(accountId);
		return source === "diem" ? account?.diem.get(day) : account?.[source];
	}

	allot(accountId: string, day: number, amount: number): void {
		const diem = this.account(accountId)?.diem;
		diem?.set(day, { balance: amount, leased: 0 });
		this.totals.credited.diem += BigInt(amount);
		this.#undo(() => {
			diem?.delete(day);
			this.totals.credited.diem -= BigInt(amount);
		});
		this.rowsWritten += 3;
	}

	credit(accountId: string, amount: number): void {
		const balanceRow = this.balanceRow(accountId, "usd", 0);
		if (balanceRow === undefined) throw new RecordFault(`no budget of ${accountId}`);
		this.#change(balanceRow, amount, 0);
		this.totals.credited.usd += BigInt(amount);
		this.#undo(() => {
			this.totals.credited.usd -= BigInt(amount);
		});
	}

	/** Changes a boot's lease, and what is leased of the budget alike. */
	lease(node: NodeEpoch, accountId: string, source: MoneySource, day: number, by: number): void {
		if (by === 0) return;
		const balanceRow = this.balanceRow(accountId, source, day);
		if (balanceRow === undefined) throw new RecordFault(`no ${source} of ${accountId} to lease`);
		this.#changeLease(node, accountId, source, day, by);
		this.#change(balanceRow, 0, by);
		if (by > 0) this.#open?.grants.push({ accountId, amount: by });
	}

	/** Balance and lease alike. */
	spend(node: NodeEpoch, { accountId, source, day, amount, leased }: Spent): void {
		const balanceRow = this.balanceRow(accountId, source, day);
		if (balanceRow === undefined) throw new RecordFault(`no ${source} of ${accountId} to spend`);
		if (leased > 0) this.#changeLease(node, accountId, source, day, -leased);
		this.#change(balanceRow, -amount, -leased);
	}

	leasesOf(node: NodeEpoch, accountId: string): readonly RetainedLeases[] {
		return this.#leases.get(termKey(node))?.get(accountId) ?? [];
	}

	leaseOf(node: NodeEpoch, accountId: string, source: MoneySource, day: number): number {
		return this.leasesOf(node, accountId).find((lease) => lease.source === source && lease.day === day)?.amount ?? 0;
	}

	/** Changes a boot's lease on a key's limits. */
	leaseCaps(node: NodeEpoch, accountId: string, { keyId, day, usd, diem }: RetainedCap): void {
		if (usd === 0 && diem === 0) return;
		const before = this.capsOf(node, accountId);
		const known = before.find((cap) => cap.keyId === keyId && cap.day === day) ?? NO_AMOUNTS;
		const after = { keyId, day, usd: known.usd + usd, diem: known.diem + diem };
		if (!(after.usd >= 0 && after.diem >= 0)) throw new RecordFault(`a lease of ${after.usd} and ${after.diem} of limits`);
		const others = before.filter((cap) => cap.keyId !== keyId || cap.day !== day);
		this.#setCaps(node, accountId, after.usd + after.diem > 0 ? [...others, after] : others);
		if (usd > 0 || diem > 0) this.#open?.capGrants.push({ keyId, amount: Math.max(0, usd) + Math.max(0, diem) });
	}

	capsOf(node: NodeEpoch, accountId: string): readonly RetainedCap[] {
		return this.#capLeases.get(termKey(node))?.get(accountId) ?? [];
	}

	/** What boots have leased of a key's limits on these days: this one, and the others. */
	capsLeased(
		node: NodeEpoch,
		accountId: string,
		keyId: string,
		days: { first: number; last: number },
	): { own: CapAmounts; elsewhere: CapAmounts } {
		const sums = { own: { usd: 0, diem: 0 }, elsewhere: { usd: 0, diem: 0 } };
		for (const [boot, accounts] of this.#capLeases) {
			const sum = boot === termKey(node) ? sums.own : sums.elsewhere;
			for (const cap of accounts.get(accountId) ?? []) {
				if (cap.keyId !== keyId || cap.day < days.first || cap.day > days.last) continue;
				sum.usd += cap.usd;
				sum.diem += cap.diem;
			}
		}
		return sums;
	}

	/** Counts what a key used on a day. */
	use(keyId: string, day: number, { usd, diem }: CapAmounts): void {
		const days = this.#usage.get(keyId) ?? new Map<number, CapAmounts>();
		this.#usage.set(keyId, days);
		const before = days.get(day) ?? NO_AMOUNTS;
		days.set(day, { usd: before.usd + usd, diem: before.diem + diem });
		this.#usedSince.set(keyId, (this.#usedSince.get(keyId) ?? new Set()).add(day));
		this.#undo(() => void days.set(day, before));
		this.rowsWritten++;
	}

	used(keyId: string, { first, last }: { first: number; last: number }): CapAmounts {
		const sum = { usd: 0, diem: 0 };
		for (const [day, { usd, diem }] of this.#usage.get(keyId) ?? []) {
			if (day < first || day > last) continue;
			sum.usd += usd;
			sum.diem += diem;
		}
		return sum;
	}

	/** Keys that used something since this was asked last, with the days. */
	takeUsed(): Iterable<readonly [string, ReadonlySet<number>]> {
		const used = this.#usedSince;
		this.#usedSince = new Map();
		return used;
	}

	/** Boots with leases of keys' limits. */
	capHolders(): { readonly boot: string; readonly fenced: boolean }[] {
		return [...this.#capLeases]
			.filter(([, leases]) => leases.size > 0)
			.map(([boot]) => ({ boot, fenced: this.#terms.get(boot)?.fenced === true }));
	}

	/** Everything that the boot has leased is free again. */
	freeLeases(node: NodeEpoch): void {
		for (const accountId of [...(this.#capLeases.get(termKey(node))?.keys() ?? [])]) this.#setCaps(node, accountId, []);
		for (const [accountId, leases] of [...(this.#leases.get(termKey(node)) ?? [])]) {
			for (const { source, day, amount } of leases) this.lease(node, accountId, source, day, -amount);
		}
	}

	/** The sum of all leases, of every boot. */
	get leased(): number {
		let sum = 0;
		for (const boot of this.#leases.values()) for (const leases of boot.values()) for (const { amount } of leases) sum += amount;
		return sum;
	}

	/** Boots that were fenced and have leases all the same. */
	fencedWithLeases(): string[] {
		return [...this.#leases]
			.filter(([boot, leases]) => leases.size > 0 && this.#terms.get(boot)?.fenced === true)
			.map(([boot]) => boot);
	}

	bootsOf(nodeId: string): readonly { readonly epoch: number; readonly appliedSeq: number }[] {
		return this.#boots.get(nodeId) ?? [];
	}

	boot(nodeId: string, epoch: number): { readonly epoch: number; readonly appliedSeq: number } | undefined {
		return this.#boots.get(nodeId)?.find((boot) => boot.epoch === epoch);
	}

	addBoot({ id, epoch, appliedSeq }: StoredEpoch): void {
		const boots = this.#boots.get(id) ?? [];
		this.#boots.set(id, boots);
		const boot = { epoch, appliedSeq };
		boots.push(boot);
		boots.sort((a, b) => a.epoch - b.epoch);
		this.#undo(() => void boots.splice(boots.indexOf(boot), 1));
		this.rowsWritten++;
	}

	setApplied(node: NodeEpoch, seq: number): void {
		const boot = this.#boots.get(node.id)?.find(({ epoch }) => epoch === node.epoch);
		if (boot === undefined) return;
		const before = boot.appliedSeq;
		boot.appliedSeq = seq;
		this.#undo(() => {
			boot.appliedSeq = before;
		});
		this.rowsWritten++;
	}

	term(node: NodeEpoch): Term | undefined {
		return this.#terms.get(termKey(node));
	}

	setTerm(node: NodeEpoch, term: Term): void {
		const key = termKey(node);
		const before = this.#terms.get(key);
		this.#terms.set(key, { ...term, node: { id: node.id, epoch: node.epoch } });
		this.#undo(() => {
			if (before === undefined) this.#terms.delete(key);
			else this.#terms.set(key, before);
		});
		this.rowsWritten++;
	}

	liveTerms(nowMs: number): number {
		let live = 0;
		for (const term of this.#terms.values()) if (!term.fenced && term.endsAtMs > nowMs) live++;
		return live;
	}

	/** Boots whose term ended before then. */
	lateTerms(beforeMs: number): NodeEpoch[] {
		return [...this.#terms.values()].filter((term) => !term.fenced && term.endsAtMs < beforeMs).map(({ node }) => node);
	}

	/** False where the request has a post. */
	addPost(post: PostRecord): boolean {
		const number = requestNumber(post.id);
		if (this.posted.has(number)) return false;
		this.posted.set(number, true);
		this.totals.posts++;
		this.totals.price += post.priceNano;
		this.#undo(() => {
			this.posted.set(number, false);
			this.totals.posts--;
			this.totals.price -= post.priceNano;
		});
		this.rowsWritten++;
		return true;
	}

	addMovement(accountId: string, source: MoneySource | "overrun", amount: number): void {
		this.rowsWritten++;
		if (source === "overrun") {
			this.#addOverrun(accountId, amount);
			this.#undo(() => this.#addOverrun(accountId, -amount));
			return;
		}
		const of = source === "diem" ? "diem" : "usd";
		this.totals.charged[of] += amount;
		this.#undo(() => {
			this.totals.charged[of] -= amount;
		});
	}

	reject(): void {
		this.totals.rejected++;
		this.#undo(() => {
			this.totals.rejected--;
		});
	}

	addChange(change: StoreChange): void {
		this.#changes.push(change);
		this.#undo(() => void this.#changes.pop());
		this.rowsWritten++;
	}

	changesAfter(id: number): { readonly changes: readonly StoreChange[]; readonly lastId: number } {
		return { changes: this.#changes.slice(id), lastId: this.#changes.length };
	}

	#addOverrun(accountId: string, amount: number): void {
		this.totals.overrun += amount;
		this.overruns.set(accountId, (this.overruns.get(accountId) ?? 0) + amount);
	}

	/** `CHECK (balance BETWEEN 0 AND ...)`, `CHECK (leased BETWEEN 0 AND balance)`. */
	#change(balanceRow: BalanceRow, balanceBy: number, leasedBy: number): void {
		const balance = balanceRow.balance + balanceBy;
		const leased = balanceRow.leased + leasedBy;
		if (!(balance >= 0 && balance <= HIGHEST)) throw new RecordFault(`a balance of ${balance}`);
		if (!(leased >= 0 && leased <= balance)) throw new RecordFault(`${leased} leased of a balance of ${balance}`);
		balanceRow.balance = balance;
		balanceRow.leased = leased;
		this.#undo(() => {
			balanceRow.balance -= balanceBy;
			balanceRow.leased -= leasedBy;
		});
		this.rowsWritten++;
	}

	/** `CHECK (amount >= 0)`. */
	#changeLease(node: NodeEpoch, accountId: string, source: MoneySource, day: number, by: number): void {
		const key = termKey(node);
		const ofBoot = this.#leases.get(key) ?? new Map<string, RetainedLeases[]>();
		this.#leases.set(key, ofBoot);
		const before = ofBoot.get(accountId) ?? [];
		const amount = (before.find((lease) => lease.source === source && lease.day === day)?.amount ?? 0) + by;
		if (amount < 0) throw new RecordFault(`a lease of ${amount}`);
		const others = before.filter((lease) => lease.source !== source || lease.day !== day);
		const after = amount === 0 ? others : [...others, { source, day, amount }];
		if (after.length === 0) ofBoot.delete(accountId);
		else ofBoot.set(accountId, after);
		this.#undo(() => {
			if (before.length === 0) ofBoot.delete(accountId);
			else ofBoot.set(accountId, before);
		});
		this.rowsWritten++;
	}

	#setCaps(node: NodeEpoch, accountId: string, after: RetainedCap[]): void {
		const ofBoot = this.#capLeases.get(termKey(node)) ?? new Map<string, RetainedCap[]>();
		this.#capLeases.set(termKey(node), ofBoot);
		const before = ofBoot.get(accountId);
		const set = (caps: RetainedCap[] | undefined): void => {
			if (caps === undefined || caps.length === 0) ofBoot.delete(accountId);
			else ofBoot.set(accountId, caps);
		};
		set(after);
		this.#undo(() => set(before));
		this.rowsWritten++;
	}

	#undo(step: () => void): void {
		this.#open?.undo.push(step);
	}

	#keep(commit: Commit): void {
		this.commits[commit.kind]++;
		this.#log.push(commit);
		if (this.#log.length < SLACK) return;
		const since = commit.atMs - KEPT_MS;
		const first = this.#log[0];
		if (first !== undefined && first.atMs < since) this.#log = this.#log.filter(({ atMs }) => atMs >= since);
	}
}

/** Request ids of the simulation end in their number, behind three letters. */
export function requestNumber(requestId: string): number {
	return Number(requestId.slice(3));
}
