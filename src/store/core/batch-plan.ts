/** Plans the rows that a batch of records writes. Pure: it works on what was read under lock. */
import type { JournalRecord, MoneySource, PostRecord } from "../../journal/records.ts";
import { nano } from "../../ledger/nano.ts";
import type { AllotmentDay } from "../postgres/allotments.ts";
import type { CapPlace } from "../postgres/cap-table.ts";
import { OVERRUN, REVENUE } from "../tables.ts";
import {
	allowed,
	type CappedRows,
	capKey,
	capPlaceOf,
	countCapped,
	type FreeCaps,
	owedPaidOf,
	takeOwedCaps,
} from "./cap-plan.ts";
import { type OwedSource, payOwed } from "./owed.ts";
import { type AppliedPart, applyPost, type LinePart } from "./post-lines.ts";
import { RecordFault } from "./record-fault.ts";
import { RpcPlan } from "./rpc-plan.ts";
import { type EntryCounts, numberEntries } from "./statement-numbers.ts";

/** A record of a batch. It is used more than once, and parsed once. */
export class Entry {
	readonly seq: number;
	/** JSON of the record. */
	readonly text: string;
	#read: JournalRecord | null | undefined;

	constructor(seq: number, text: string) {
		this.seq = seq;
		this.text = text;
	}

	/** The parsed record; null where the text is no record. */
	get record(): JournalRecord | null {
		if (this.#read === undefined) this.#read = parseRecord(this.text);
		return this.#read;
	}
}

/** A budget as the batch sees it; `lease` is this node's part of `leased`. */
export interface LockedBudget {
	balance: number;
	leased: number;
	lease: number;
}

/** The rows that the batch was planned against. */
export interface BatchState {
	/** Budgets by `budgetKey`. */
	readonly budgets: Map<string, LockedBudget>;
	/** Statement numbers by account. */
	readonly numbers: Map<string, EntryCounts>;
	/** Free limits, neither spent nor leased, of keys whose posts owe something; by `capKey`. */
	readonly caps: FreeCaps;
}

export type Row = Readonly<Record<string, string | number | null>>;

export interface BatchPlan {
	readonly posts: readonly Row[];
	readonly movements: readonly Row[];
	/** One for each (account, key, day, unit, sku). */
	readonly daily: readonly Row[];
	/** The amount taken from each budget, and how much of it was leased. */
	readonly spent: readonly Row[];
	/** What posts of keys with leased limits take of them: one row for each (account, key, unit, day). */
	readonly capped: readonly Row[];
	/** Latest use by key. */
	readonly touches: ReadonlyMap<string, number>;
	/** Rows of the chain proxy. */
	readonly rpc: RpcPlan;
}

/**
 * What a batch needs of the store before anything is locked. Unreadable records are left for the application to
 * reject.
 */
export interface BatchNeeds {
	readonly accounts: readonly string[];
	readonly budgets: readonly { readonly account: string; readonly source: MoneySource; readonly day: number }[];
	/** Keys with leased limits whose posts owe something. */
	readonly caps: readonly CapPlace[];
	/** Keys whose rows will be written. */
	readonly touched: readonly string[];
}

const SOURCES = ["diem", "bundled", "usd"] as const satisfies readonly MoneySource[];

export function budgetKey(account: string, source: string, day: number): string {
	return `${account}/${source}/${day}`;
}

export function needsOf(entries: readonly Entry[]): BatchNeeds {
	const accounts = new Set<string>();
	const caps = new Map<string, CapPlace>();
	const touched = new Set<string>();
	const budgets = new Map<string, BatchNeeds["budgets"][number]>();
	for (const { record } of entries) {
		if (record?.t === "touch") touched.add(record.keyId);
		if (record?.t !== "post" || typeof record.accountId !== "string" || !(record.priceNano > 0)) continue;
		const place = capPlaceOf(record);
		if (place !== null) caps.set(capKey(place), place);
		accounts.add(record.accountId);
		for (const source of SOURCES) {
			const day = source === "diem" ? record.day : 0;
			if (!Number.isSafeInteger(day)) continue;
			budgets.set(budgetKey(record.accountId, source, day), { account: record.accountId, source, day });
		}
	}
	return { accounts: [...accounts], budgets: [...budgets.values()], caps: [...caps.values()], touched: [...touched] };
}

/**
 * Returns days of diem that posts were paid from and the store does not know. A crash of the database lost their
 * allotments, which are committed with the first lease, without waiting for its disk.
 */
export function lostAllotments(entries: readonly Entry[], budgets: BatchState["budgets"]): AllotmentDay[] {
	const lostDays = new Map<string, AllotmentDay>();
	for (const { record, text } of entries) {
		if (record?.t !== "post" || !Number.isSafeInteger(record.day) || budgets.has(budgetKey(record.accountId, "diem", record.day)))
			continue;
		if (text.includes('"source":"diem"'))
			lostDays.set(`${record.accountId}/${record.day}`, { accountId: record.accountId, day: record.day });
	}
	return [...lostDays.values()];
}

/**
 * Plans a batch. Throws `RecordFault` or `MoneyError` for a record that the books refuse. It advances `state`, so
 * pass a copy.
 */
export function planBatch(entries: readonly Entry[], state: BatchState, bookedAt: number): BatchPlan {
	const plan = { posts: [] as Row[], movements: [] as Row[] };
	const daily = new Map<string, Row & { amount: number; units: number; rows: number }>();
	const spent: SpentRows = new Map();
	const capped: CappedRows = new Map();
	const touches = new Map<string, number>();
	const rpc = new RpcPlan();
	const count = (post: PostRecord, unit: string, sku: string, amount: number, units: number): void => {
		const row = { account_id: post.accountId, key_id: post.keyId ?? "", day: post.day, unit, sku };
		const key = JSON.stringify(row);
		const before = daily.get(key) ?? { ...row, amount: 0, units: 0, rows: 0 };
		daily.set(key, {
			...row,
			amount: nano(before.amount + amount),
			units: nano(before.units + units),
			rows: before.rows + 1,
		});
	};
	for (const entry of entries) {
		const { seq } = entry;
		// An unreadable record throws its fault here.
		const record = entry.record ?? (JSON.parse(entry.text) as JournalRecord);
		if (record.t === "touch") {
			touches.set(record.keyId, Math.max(touches.get(record.keyId) ?? 0, record.atMs));
			continue;
		}
		if (record.t !== "post") {
			if (!rpc.record(record)) throw new RecordFault("unknown kind of record");
			continue;
		}
		const booked = applyPost(record);
		const { parts: owedPaid, fromFree } = payOwed(booked.parts, allowed(record, state.caps), () =>
			owedSources(record, booked.parts, state),
		);
		const owed = owedPaidOf(booked.parts, owedPaid);
		takeOwedCaps(record, owed, state.caps);
		for (const { source, amount } of fromFree) leaseFree(record, source, amount, state, spent);
		const parts = owedPaid.flatMap((part) => payPart(record, part, state, spent));
		const counts = state.numbers.get(record.accountId) ?? { entries: 0, usd: 0, bundled: 0, diem: 0 };
		state.numbers.set(record.accountId, counts);
		plan.posts.push({ ...postRow(record, seq, bookedAt), ...entryColumns(counts, parts) });
		for (const part of parts) {
			plan.movements.push(movementRow(record, part, bookedAt));
			count(record, part.source, part.sku, part.amount, part.units);
		}
		if (record.capped === true) countCapped(capped, record, parts, owed);
		for (const line of booked.free) count(record, "free", line.sku, 0, line.units);
		rpc.post(record);
	}
	return { ...plan, daily: [...daily.values()], spent: [...spent.values()], capped: [...capped.values()], touches, rpc };
}

/** Returns what each source has for the post's owed amount: see `payOwed`. */
function owedSources(post: PostRecord, parts: readonly LinePart[], state: BatchState): OwedSource[] {
	return SOURCES.map((source) => {
		const budget = state.budgets.get(budgetKey(post.accountId, source, budgetDay(post, source)));
		if (budget === undefined) return { source, surplus: 0, free: 0 };
		const own = parts.reduce((sum, part) => sum + (part.source === source ? part.amount : 0), 0);
		const lease = budget.lease - own - (post.owing?.kept[source] ?? 0);
		// Where the lease is gone, the post's own parts come out of free money too.
		const free = budget.balance - budget.leased - Math.max(0, own - budget.lease);
		return { source, surplus: Math.max(0, lease), free: Math.max(0, free) };
	});
}

/** Turns free money into a lease of this node that the same batch spends: the row of the lease does not change. */
function leaseFree(post: PostRecord, source: MoneySource, amount: number, state: BatchState, spent: SpentRows): void {
	const day = budgetDay(post, source);
	const key = budgetKey(post.accountId, source, day);
	const budget = state.budgets.get(key);
	if (budget === undefined) return;
	budget.lease += amount;
	budget.leased += amount;
	const before = spent.get(key) ?? { account_id: post.accountId, source, day, amount: 0, leased: 0 };
	spent.set(key, { ...before, leased: before.leased - amount });
}

function budgetDay(post: PostRecord, source: MoneySource): number {
	return source === "diem" ? post.day : 0;
}

type SpentRows = Map<string, Row & { amount: number; leased: number }>;

type PaidPart = AppliedPart & { readonly balanceAfter: number | null };

/**
 * Decides where a part's money comes from: this node's lease, else free money (the lease may have ended with the
 * node's term, or in a failover), else the operator. No balance goes below zero.
 */
function payPart(post: PostRecord, part: AppliedPart, state: BatchState, spent: SpentRows): PaidPart[] {
	if (part.source === "overrun") return [{ ...part, balanceAfter: null }];
	const day = budgetDay(post, part.source);
	const key = budgetKey(post.accountId, part.source, day);
	const budget = state.budgets.get(key);
	if (budget === undefined) throw new RecordFault(`account ${post.accountId} has no ${part.source} budget of day ${day}`);
	const leased = Math.min(part.amount, budget.lease);
	const takenNano = leased + Math.min(part.amount - leased, budget.balance - budget.leased);
	budget.balance -= takenNano;
	budget.leased -= leased;
	budget.lease -= leased;
	if (takenNano > 0) {
		const before = spent.get(key) ?? { account_id: post.accountId, source: part.source, day, amount: 0, leased: 0 };
		spent.set(key, { ...before, amount: before.amount + takenNano, leased: before.leased + leased });
	}
	const units = takenNano === part.amount ? part.units : Number((BigInt(part.units) * BigInt(takenNano)) / BigInt(part.amount));
	const borne = { ...part, source: "overrun" as const, amount: nano(part.amount - takenNano), units: part.units - units };
	return [
		...(takenNano > 0 ? [{ ...part, amount: nano(takenNano), units, balanceAfter: budget.balance }] : []),
		...(takenNano < part.amount ? [{ ...borne, balanceAfter: null }] : []),
	];
}

function postRow(post: PostRecord, seq: number, bookedAt: number): Row {
	const { usage } = post;
	return {
		request_id: post.id,
		seq,
		account_id: post.accountId,
		key_id: post.keyId,
		day: post.day,
		admitted_at: post.admittedAtMs,
		done_at: post.doneAtMs,
		booked_at: bookedAt,
		route: post.route,
		model: post.model,
		upstream: post.upstream,
		status: post.status,
		hold: post.holdNano,
		price: post.priceNano,
		prompt_tokens: usage?.promptTokens ?? null,
		completion_tokens: usage?.completionTokens ?? null,
		cached_tokens: usage?.cachedTokens ?? null,
		cache_write_tokens: usage?.cacheWriteTokens ?? null,
		reasoning_tokens: usage?.reasoningTokens ?? null,
		tokens_counted: usage ? Number(usage.counted) : null,
	};
}

function entryColumns(counts: EntryCounts, parts: readonly AppliedPart[]): Row {
	const { entries, usd, bundled, diem } = numberEntries(counts, parts);
	return { entries, entries_usd: usd, entries_bundled: bundled, entries_diem: diem };
}

function movementRow(post: PostRecord, part: PaidPart, bookedAt: number): Row {
	const overrun = part.source === "overrun";
	return {
		request_id: post.id,
		kind: overrun ? "overrun" : "charge",
		debit: overrun ? OVERRUN : post.accountId,
		credit: REVENUE,
		amount: part.amount,
		unit: overrun ? "usd" : part.source,
		sku: part.sku,
		units: part.units,
		pico_price: part.picoPrice,
		day: post.day,
		occurred_at: post.doneAtMs,
		booked_at: bookedAt,
		balance_after: part.balanceAfter,
	};
}

function parseRecord(text: string): JournalRecord | null {
	try {
		return JSON.parse(text) as JournalRecord | null;
	} catch {
		return null;
	}
}
