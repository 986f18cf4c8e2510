/** Journal records as a batch reads them, and what the batch needs of the store before it is planned. */
import type { JournalRecord, MoneySource, PostRecord } from "../../journal/records.ts";
import { type CapPlace, capKey, capPlaceOf } from "./cap-plan.ts";

/** Sources of money in spending order. */
export const SOURCES = ["diem", "bundled", "usd"] as const satisfies readonly MoneySource[];

/** A record of a batch. It is used more than once, and parsed once. */
export class Entry {
	readonly seq: number;
	/** JSON of the record. */
	readonly text: string;
	#parsed: JournalRecord | null | undefined;

	constructor(seq: number, text: string) {
		this.seq = seq;
		this.text = text;
	}

	/** The parsed record; null where the text is no record. */
	get record(): JournalRecord | null {
		if (this.#parsed === undefined) this.#parsed = parseRecord(this.text);
		return this.#parsed;
	}
}

function parseRecord(text: string): JournalRecord | null {
	try {
		return JSON.parse(text) as JournalRecord | null;
	} catch {
		return null;
	}
}

/** Returns the day of a budget: diem has one for each day, the others have a single one. */
export function budgetDay(source: MoneySource, day: number): number {
	return source === "diem" ? day : 0;
}

export interface BudgetPlace {
	readonly accountId: string;
	readonly source: MoneySource;
	readonly day: number;
}

export interface AllotmentDay {
	readonly accountId: string;
	readonly day: number;
}

/**
 * What a batch needs of the store before anything is locked. Unreadable records are left for the application to
 * reject.
 */
export interface BatchNeeds {
	/** Accounts whose statements get entries. */
	readonly accountIds: readonly string[];
	readonly budgets: readonly BudgetPlace[];
	/**
	 * Days of diem that posts are paid from. A crash of the database may have lost their allotments, which are
	 * committed with the first lease, without waiting for its disk.
	 */
	readonly diemDays: readonly AllotmentDay[];
	/** Keys with leased limits whose posts owe something. */
	readonly caps: readonly (CapPlace & { readonly accountId: string })[];
	/** Keys whose rows are written. */
	readonly touchedKeys: readonly string[];
	/** Number of posts, with those that will be rejected. */
	readonly posts: number;
}

/** Returns what the entries need. */
export function needsOf(entries: readonly Entry[]): BatchNeeds {
	const budgets = new BudgetPlaces();
	const caps = new Map<string, BatchNeeds["caps"][number]>();
	const touchedKeys = new Set<string>();
	let posts = 0;
	for (const { record } of entries) {
		if (record?.t === "post") posts++;
		if (record?.t === "touch") touchedKeys.add(record.keyId);
		if (record?.t !== "post" || typeof record.accountId !== "string" || !(record.priceNano > 0)) continue;
		const cap = capPlaceOf(record);
		if (cap !== null) caps.set(capKey(cap), { ...cap, accountId: record.accountId });
		budgets.addPost(record);
	}
	return { ...budgets.needs(), caps: [...caps.values()], touchedKeys: [...touchedKeys], posts };
}

/** The budgets of a batch, each once. */
class BudgetPlaces {
	readonly #byAccount = new Map<string, BudgetPlace[]>();
	readonly #diemDays = new Map<string, AllotmentDay>();

	/** Adds the budgets that pay a post: those that its lines name, or all where it owes something. */
	addPost({ accountId, day, lines, owing }: PostRecord): void {
		let places = this.#byAccount.get(accountId);
		if (places === undefined) {
			places = [];
			this.#byAccount.set(accountId, places);
		}
		if (owing !== undefined) for (const source of SOURCES) addPlace(places, accountId, source, day);
		if (!Array.isArray(lines)) return;
		for (const line of lines) {
			if (!Array.isArray(line?.from)) continue;
			for (const part of line.from) {
				addPlace(places, accountId, part?.source, day);
				if (part?.source === "diem") this.#diemDays.set(`${accountId}/${day}`, { accountId, day });
			}
		}
	}

	needs(): Pick<BatchNeeds, "accountIds" | "budgets" | "diemDays"> {
		return {
			accountIds: [...this.#byAccount.keys()],
			budgets: [...this.#byAccount.values()].flat(),
			diemDays: [...this.#diemDays.values()].filter(({ day }) => Number.isSafeInteger(day)),
		};
	}
}

function addPlace(places: BudgetPlace[], accountId: string, source: MoneySource, postDay: number): void {
	if (!SOURCES.includes(source)) return;
	const day = budgetDay(source, postDay);
	if (!Number.isSafeInteger(day) || places.some((place) => place.source === source && place.day === day)) return;
	places.push({ accountId, source, day });
}
