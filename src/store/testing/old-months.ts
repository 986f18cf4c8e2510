/** Books with charges of several past months in every unit, as a node would have written them. */
import type { MoneySource } from "../../journal/records.ts";
import { type AdminStore, createAccount, createKey, setAccount } from "../admin.ts";
import { DAY_MS } from "../core/day.ts";
import type { StoreDb } from "../tables.ts";

export interface OldMonths {
	readonly accountIds: readonly string[];
	/** A key of the first account. */
	readonly keyId: string;
	/** Request ids in the order of application, by month. */
	readonly requests: Readonly<Record<string, readonly string[]>>;
	/** Unix milliseconds, later than all of it. */
	readonly nowMs: number;
}

export const OLD_MONTHS = ["2024-08", "2024-09", "2024-10"] as const;
const POSTS_A_MONTH = 40;
const LINE_NANO = 1_000;

/** Fills an empty store; its clock is the one passed in. */
export async function writeOldMonths(open: (now: () => number) => AdminStore): Promise<OldMonths> {
	let nowMs = Date.parse("2024-07-30T00:00:00Z");
	const admin = open(() => nowMs);
	const accountIds: string[] = [];
	for (const name of ["first", "second"]) {
		const { id } = await createAccount(admin, { name, startingCreditUsd: "50" });
		await setAccount(admin, id, { bundledUsd: "5", stakeDiem: "2" });
		accountIds.push(id);
	}
	const accountId = accountIds[0] ?? "";
	const { id: keyId } = await createKey(admin, { accountId, type: "ADMIN", hash: "d".repeat(64), last6: "abcdef" });
	const requests: Record<string, string[]> = {};
	await admin.db.transaction().execute(async (tx) => {
		const books = new BookWriter(tx);
		for (const month of OLD_MONTHS) {
			const first = Date.parse(`${month}-01T00:00:00Z`);
			const ids: string[] = [];
			for (let index = 0; index < POSTS_A_MONTH; index++) {
				nowMs = first + Math.floor((index / POSTS_A_MONTH) * 29 * DAY_MS);
				const account = accountIds[index % 3 === 0 ? 1 : 0] ?? "";
				ids.push(await books.post({ accountId: account, keyId: account === accountId ? keyId : null, nowMs, kind: index % 5 }));
			}
			requests[month] = ids;
		}
		await books.finish();
	});
	nowMs += 40 * DAY_MS;
	return { accountIds, keyId, requests, nowMs };
}

interface ChargeOptions {
	readonly accountId: string;
	readonly keyId: string | null;
	readonly nowMs: number;
	/** 0 to 2: paid in USD, bundled credit, diem; 3: in USD and by the operator; 4: free. */
	readonly kind: number;
}

type Paid = MoneySource | "overrun";
const PARTS: readonly (readonly Paid[])[] = [["usd", "usd"], ["bundled", "usd"], ["diem", "diem", "usd"], ["usd", "overrun"], []];
const NODE = { node_id: "n", epoch: 1 } as const;

class BookWriter {
	readonly #db: StoreDb;
	readonly #numbers = new Map<string, { entries: number } & Record<MoneySource, number>>();
	#seq = 0;

	constructor(db: StoreDb) {
		this.#db = db;
	}

	async post({ accountId, keyId, nowMs, kind }: ChargeOptions): Promise<string> {
		const db = this.#db;
		const seq = ++this.#seq;
		const requestId = `old${String(seq).padStart(29, "0")}`;
		const day = Math.floor(nowMs / DAY_MS);
		const parts = PARTS[kind] ?? [];
		const counts = this.#numbers.get(accountId) ?? { entries: 0, usd: 0, bundled: 0, diem: 0 };
		this.#numbers.set(accountId, counts);
		const paid = parts.filter((part) => part !== "overrun");
		for (const source of paid) {
			counts.entries++;
			counts[source]++;
		}
		const number = (source: MoneySource) => (paid.includes(source) ? counts[source] : null);
		const { id } = await db
			.insertInto("posts")
			.values({
				request_id: requestId,
				...NODE,
				seq,
				account_id: accountId,
				key_id: keyId,
				day,
				admitted_at: nowMs - 900,
				done_at: nowMs - 100,
				booked_at: nowMs,
				route: "chat",
				model: "llama",
				upstream: "local",
				status: 200,
				hold: 10_000,
				price: parts.length * LINE_NANO,
				prompt_tokens: 10,
				completion_tokens: 20,
				entries: paid.length > 0 ? counts.entries : null,
				entries_usd: number("usd"),
				entries_bundled: number("bundled"),
				entries_diem: number("diem"),
			})
			.returning("id")
			.executeTakeFirstOrThrow();
		for (const [index, part] of parts.entries()) await this.#move(id, accountId, part, `sku-${index}`, day, nowMs);
		for (const [index, part] of (parts.length > 0 ? parts : ["free" as const]).entries()) {
			await this.#count(accountId, keyId ?? "", day, part, `sku-${index}`);
		}
		return requestId;
	}

	async #move(postId: bigint, accountId: string, part: Paid, sku: string, day: number, nowMs: number): Promise<void> {
		const db = this.#db;
		const overrun = part === "overrun";
		if (part === "diem") await this.#allot(accountId, day, nowMs);
		await db
			.insertInto("movements")
			.values({
				kind: overrun ? "overrun" : "charge",
				debit: overrun ? "overrun" : accountId,
				credit: "revenue",
				amount: LINE_NANO,
				unit: overrun ? "usd" : part,
				post_id: postId,
				sku,
				units: 10,
				pico_price: 100_000,
				day,
				occurred_at: nowMs - 100,
				booked_at: nowMs,
				balance_after: null,
			})
			.execute();
		if (overrun) return;
		await db
			.updateTable("budgets")
			.set((set) => ({ balance: set("balance", "-", BigInt(LINE_NANO)) }))
			.where("account_id", "=", accountId)
			.where("source", "=", part)
			.where("day", "=", BigInt(part === "diem" ? day : 0))
			.execute();
	}

	/** Writes the day's diem, once. */
	async #allot(accountId: string, day: number, nowMs: number): Promise<void> {
		const db = this.#db;
		const made = await db
			.insertInto("budgets")
			.values({ account_id: accountId, source: "diem", day, balance: 2_000_000_000, leased: 0 })
			.onConflict((conflict) => conflict.doNothing())
			.returning("day")
			.execute();
		if (made.length === 0) return;
		const money = { amount: 2_000_000_000, unit: "diem", day, occurred_at: nowMs, booked_at: nowMs } as const;
		const { id } = await db
			.insertInto("movements")
			.values({ ...money, kind: "allotment", debit: "issued", credit: accountId, balance_after: 2_000_000_000 })
			.returning("id")
			.executeTakeFirstOrThrow();
		await db.insertInto("allotments").values({ account_id: accountId, day, amount: money.amount, movement_id: id }).execute();
	}

	async #count(account_id: string, key_id: string, day: number, unit: Paid | "free", sku: string): Promise<void> {
		const amount = unit === "free" ? 0 : LINE_NANO;
		await this.#db
			.insertInto("usage_daily")
			.values({ account_id, key_id, day, unit, sku, amount, units: 10, rows: 1 })
			.onConflict((conflict) =>
				conflict.columns(["account_id", "key_id", "day", "unit", "sku"]).doUpdateSet((set) => ({
					amount: set("usage_daily.amount", "+", set.ref("excluded.amount")),
					units: set("usage_daily.units", "+", set.ref("excluded.units")),
					rows: set("usage_daily.rows", "+", set.ref("excluded.rows")),
				})),
			)
			.execute();
	}

	/** Writes the counts of the node that applied it. */
	async finish(): Promise<void> {
		const db = this.#db;
		const done = { first_seq: 1, applied_seq: this.#seq, groups: this.#seq, posts: this.#seq, rejects: 0, started_at: 0 };
		await db
			.insertInto("nodes")
			.values({ ...NODE, ...done })
			.execute();
		await db
			.insertInto("meta")
			.values({ name: "node_id", value: NODE.node_id })
			.onConflict((conflict) => conflict.doNothing())
			.execute();
	}
}
