import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type Type from "typebox";
import { Compile } from "typebox/compile";
import { credit, debit, refund } from "../../../src/store/admin.ts";
import {
	type BillingGateway,
	FREE_MODEL,
	INPUT_SKU,
	MODEL,
	OUTPUT_SKU,
	startBillingGateway,
	type UsageEntry,
} from "../../../test/support/billing-gateway.ts";
import type { Clock } from "../../telemetry/clock.ts";
import { BalanceSchema } from "./balance.ts";
import { MovementsSchema } from "./movements.ts";
import { UsageSchema } from "./usage.ts";
import { UsageAnalyticsSchema } from "./usage-analytics.ts";
import { UsageHistorySchema } from "./usage-history.ts";

interface Page {
	readonly data: UsageEntry[];
	readonly pagination: { readonly limit: number; readonly page: number; readonly total: number; readonly totalPages: number };
}
interface History {
	readonly data: UsageEntry[];
	readonly nextCursor: string | null;
}

let billing: BillingGateway;

/** Noon of the day on which the test began: its days stay the same while it runs. */
const DAY_MS = 86_400_000;
const today = Math.floor(Date.now() / DAY_MS);
const todayText = new Date(today * DAY_MS).toISOString().slice(0, 10);
const noon: Clock = {
	wallMs: () => (today + 0.5) * DAY_MS + Math.floor(performance.now()),
	monotonicMs: () => performance.now(),
};

beforeAll(async () => {
	billing = await startBillingGateway({ clock: noon });
});
afterAll(() => billing.stop());

/** What a value has against a schema of the API's document. */
const faults = (schema: Type.TSchema, value: unknown) =>
	Compile(schema)
		.Errors(value)
		.map((fault) => `${fault.instancePath} ${fault.message}`);

/** An account of its own with an ADMIN key. */
const createAccount = async (creditUsd = "1", changes = {}) =>
	(await billing.gate.newKey({ creditUsd, changes, key: { type: "ADMIN" } })).secret;

/** An account with diem that counts from a day on: today, as if it had been staked before. */
async function stakedAccount(diem: number, creditUsd: string, fromDay = 0) {
	const { secret, accountId } = await billing.gate.newKey({ creditUsd, key: { type: "ADMIN" } });
	await billing.gate.admin.db
		.insertInto("diem_stakes")
		.values({ account_id: accountId, from_day: fromDay, stake: Math.round(diem * 1e9), set_at: 0 })
		.execute();
	return secret;
}

describe("GET /billing/usage", () => {
	test("has one row for each sku of a request, as soon as its answer is out", async () => {
		const key = await createAccount();
		const before = Date.now();
		const requestId = await billing.chat(40, 500, { key });
		const page = await billing.read<Page>("/usage?sortOrder=asc", key);
		expect(faults(UsageSchema, page)).toEqual([]);
		const [input, output] = page.data;
		expect(page.pagination).toEqual({ limit: 200, page: 1, total: 2, totalPages: 1 });
		expect(input).toMatchObject({ sku: INPUT_SKU, pricePerUnitUsd: 0.15, units: 0.00004, amount: -0.000006, currency: "USD" });
		expect(output).toMatchObject({ sku: OUTPUT_SKU, pricePerUnitUsd: 0.6, units: 0.0005, amount: -0.0003, currency: "USD" });
		for (const entry of page.data) {
			expect(entry.notes).toBe("API Inference");
			expect(entry.inferenceDetails).toMatchObject({ requestId, promptTokens: 40, completionTokens: 500 });
			expect(entry.inferenceDetails.inferenceExecutionTime).toBeGreaterThanOrEqual(0);
			expect(Date.parse(entry.timestamp)).toBeWithin(before, Date.now() + 1);
		}
	});

	test("has nothing of a request at price 0, nor of another account", async () => {
		const key = await createAccount();
		await billing.chat(1, 1, { key, model: FREE_MODEL });
		await billing.chat(1, 1);
		expect(await billing.read<Page>("/usage", key)).toEqual({
			data: [],
			pagination: { limit: 200, page: 1, total: 0, totalPages: 0 },
		});
	});

	test("goes page by page, newest first or oldest first, and says so in headers", async () => {
		const key = await createAccount();
		for (let output = 1; output <= 5; output++) await billing.chat(1, output, { key });
		const all = (await billing.read<Page>("/usage?sortOrder=asc", key)).data;
		expect(all.filter(({ sku }) => sku === OUTPUT_SKU).map(({ units }) => Math.round(units * 1e6))).toEqual([1, 2, 3, 4, 5]);
		for (const sortOrder of ["asc", "desc"]) {
			const seen: UsageEntry[] = [];
			for (let page = 1; page <= 4; page++) {
				const answer = await billing.get(`/usage?sortOrder=${sortOrder}&limit=3&page=${page}`, { key });
				expect([...answer.headers].filter(([name]) => name.startsWith("x-pagination"))).toEqual([
					["x-pagination-limit", "3"],
					["x-pagination-page", String(page)],
					["x-pagination-total", "10"],
					["x-pagination-total-pages", "4"],
				]);
				expect(answer.headers.get("link")).toBe('</api/v1/billing/usage-history>; rel="successor-version"');
				seen.push(...((await answer.json()) as Page).data);
			}
			expect(seen).toEqual(sortOrder === "asc" ? all : all.toReversed());
		}
		expect((await billing.read<Page>("/usage?limit=3&page=5", key)).data).toEqual([]);
		expect((await billing.read<Page>("/usage?limit=500&page=1000000000", key)).data).toEqual([]);
	});

	test("keeps to a currency and to instants, both included", async () => {
		const key = await stakedAccount(0.0003, "1");
		const first = await billing.chat(1, 1, { key });
		const { data } = await billing.read<Page>("/usage", key);
		const at = data[0]?.timestamp ?? "";
		const count = async (query: string) => (await billing.read<Page>(`/usage?${query}`, key)).pagination.total;
		expect(await count(`startDate=${at}&endDate=${at}`)).toBe(2);
		const day = at.slice(0, 10);
		expect(await count(`startDate=${day}&endDate=${day}`)).toBeGreaterThanOrEqual(2);
		expect(await count(`endDate=${new Date(Date.parse(day) - 1).toISOString().slice(0, 10)}&startDate=2026-01-01`)).toBe(0);
		expect(await count(`endDate=${new Date(Date.parse(at) - 1).toISOString()}`)).toBe(0);
		expect(await count(`startDate=${new Date(Date.parse(at) + 1).toISOString()}`)).toBe(0);
		expect(await count(`startDate=${at.replace("Z", encodeURIComponent("+00:00"))}`)).toBe(2);
		expect([await count("currency=USD"), await count("currency=DIEM"), await count("currency=VCU")]).toEqual([2, 0, 0]);
		expect(data.every((entry) => entry.inferenceDetails.requestId === first)).toBe(true);
	});

	test("has one row for each currency where a request is paid by several", async () => {
		const key = await stakedAccount(0.1, "1");
		await billing.chat(1, 166_000 / 4, { key });
		await billing.chat(1, 166_000 / 4, { key });
		await billing.chat(1, 166_000 / 4, { key });
		await billing.chat(1, 166_000 / 4, { key });
		await billing.chat(1, 10_000, { key });
		const { data } = await billing.read<Page>("/usage?sortOrder=asc", key);
		const split = data.slice(-2);
		expect(split.map(({ sku, currency }) => [sku, currency])).toEqual([
			[OUTPUT_SKU, "DIEM"],
			[OUTPUT_SKU, "USD"],
		]);
		const sum = (of: readonly UsageEntry[], what: "amount" | "units") => of.reduce((total, entry) => total + entry[what], 0);
		expect(sum(split, "units")).toBeCloseTo(0.01, 9);
		expect(sum(split, "amount")).toBeCloseTo(-0.006, 9);
		const diem = (await billing.read<Page>("/usage?currency=DIEM", key)).data;
		expect(sum(diem, "amount")).toBeCloseTo(-0.1, 9);
		expect((await billing.read<{ balances: object }>("/balance", key)).balances).toMatchObject({ diem: 0 });
	});

	test("comes as CSV where the caller would rather have it", async () => {
		const key = await createAccount();
		const requestId = await billing.chat(40, 500, { key });
		const answer = await billing.get("/usage?sortOrder=asc", { key, accept: "text/csv" });
		expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
		expect(answer.headers.get("content-disposition")).toBe("attachment; filename=billing_usage.csv");
		expect(answer.headers.get("x-pagination-total")).toBe("2");
		const [head, first, second, end] = (await answer.text()).split("\r\n");
		expect(head).toBe(
			"timestamp,sku,pricePerUnitUsd,units,amount,currency,notes,requestId,inferenceExecutionTime,promptTokens,completionTokens",
		);
		expect(first).toMatch(
			new RegExp(`^\\d{4}-.{19},${INPUT_SKU},0\\.15,0\\.00004,-0\\.000006,USD,API Inference,${requestId},\\d+,40,500$`),
		);
		expect(second?.split(",").slice(1, 6)).toEqual([OUTPUT_SKU, "0.6", "0.0005", "-0.0003", "USD"]);
		expect(end).toBe("");
	});
});

describe("GET /billing/usage-history", () => {
	test("goes on from page to page, oldest first, while new charges come, and skips and repeats none", async () => {
		const key = await createAccount("10");
		await Promise.all(Array.from({ length: 30 }, (_, index) => billing.chat(1, index + 1, { key })));
		const seen: UsageEntry[] = [];
		let query = "?pageSize=10";
		for (let pages = 0; ; pages++) {
			const late = pages < 4 ? Array.from({ length: 5 }, (_, index) => billing.chat(1, 100 + 10 * pages + index, { key })) : [];
			const page = await billing.read<History>(`/usage-history${query}`, key);
			expect(faults(UsageHistorySchema, page)).toEqual([]);
			await Promise.all(late);
			seen.push(...page.data);
			if (page.nextCursor === null) break;
			expect(page.data.length).toBe(10);
			expect(page.nextCursor).toMatch(/^[A-Za-z0-9_-]{40,512}$/);
			query = `?cursor=${page.nextCursor}`;
		}
		expect(seen.length).toBe(100);
		expect(new Set(seen.map((entry) => `${entry.inferenceDetails.requestId} ${entry.sku}`)).size).toBe(100);
		expect(seen.map((entry) => entry.timestamp)).toEqual(seen.map((entry) => entry.timestamp).sort());
		const whole = await billing.read<History>("/usage-history", key);
		expect(whole).toEqual({ data: seen, nextCursor: null });
	});

	test("holds its filters in the cursor: the start included, the end not", async () => {
		const key = await createAccount("10");
		for (let index = 0; index < 8; index++) await billing.chat(1, 1, { key });
		const { data } = await billing.read<History>("/usage-history", key);
		const last = data.at(-1)?.timestamp ?? "";
		const within = data.filter((entry) => entry.timestamp < last);
		const first = await billing.read<History>(`/usage-history?currency=USD&pageSize=10&endTimestamp=${last}`, key);
		const rest =
			first.nextCursor === null ? [] : (await billing.read<History>(`/usage-history?cursor=${first.nextCursor}`, key)).data;
		expect([...first.data, ...rest]).toEqual(within);
		expect((await billing.read<History>(`/usage-history?startTimestamp=${last}`, key)).data).toEqual(
			data.filter((entry) => entry.timestamp === last),
		);
		expect(await billing.read<History>("/usage-history?currency=DIEM", key)).toEqual({ data: [], nextCursor: null });
	});

	test("comes as CSV with the cursor in a header, which the last page has not", async () => {
		const key = await createAccount();
		for (let index = 0; index < 6; index++) await billing.chat(1, 1, { key });
		const first = await billing.get("/usage-history?pageSize=10", { key, accept: "text/csv, application/json;q=0.5" });
		expect(first.headers.get("content-disposition")).toMatch(/^attachment; filename=billing-usage-history-\d{8}T\d{9}Z\.csv$/);
		expect((await first.text()).trimEnd().split("\r\n").length).toBe(11);
		const cursor = first.headers.get("x-next-cursor") ?? "";
		const second = await billing.get(`/usage-history?cursor=${cursor}`, { key, accept: "text/csv" });
		expect((await second.text()).trimEnd().split("\r\n").length).toBe(3);
		expect(second.headers.has("x-next-cursor")).toBe(false);
	});

	test("a cursor serves any ADMIN key of its account", async () => {
		const { accountId, secret } = await billing.gate.newKey({ creditUsd: "1", key: { type: "ADMIN" } });
		const other = await billing.gate.newKey({ account: accountId, key: { type: "ADMIN" } });
		for (let index = 0; index < 6; index++) await billing.chat(1, 1, { key: secret });
		const { nextCursor } = await billing.read<History>("/usage-history?pageSize=10", secret);
		expect((await billing.read<History>(`/usage-history?cursor=${nextCursor}`, other.secret)).data.length).toBe(2);
	});
});

describe("GET /billing/balance", () => {
	interface Balance {
		readonly canConsume: boolean;
		readonly consumptionCurrency: string | null;
		readonly balances: { readonly diem: number | null; readonly usd: number; readonly bundledCredits: number };
		readonly diemEpochAllocation: number;
	}

	test("tells prepaid USD, with every charge whose answer is out", async () => {
		const key = await createAccount("2.5");
		await billing.chat(4, 999, { key });
		const balance = await billing.read<Balance>("/balance", key);
		expect(faults(BalanceSchema, balance)).toEqual([]);
		expect(balance).toEqual({
			canConsume: true,
			consumptionCurrency: "USD",
			balances: { diem: null, usd: 2.4994, bundledCredits: 0 },
			diemEpochAllocation: 0,
		});
	});

	test("names what is charged next: diem, then bundled credit, then USD, then nothing", async () => {
		const key = await stakedAccount(6, "2");
		expect(await billing.read<Balance>("/balance", key)).toEqual({
			canConsume: true,
			consumptionCurrency: "DIEM",
			balances: { diem: 6, usd: 2, bundledCredits: 0 },
			diemEpochAllocation: 6,
		});
		await billing.chat(4, 999, { key });
		const { balances, diemEpochAllocation } = await billing.read<Balance>("/balance", key);
		expect([balances.diem, balances.usd, diemEpochAllocation]).toEqual([5.9994, 2, 6]);
		const bundled = await createAccount("2", { bundledUsd: "3" });
		expect(await billing.read<Balance>("/balance", bundled)).toMatchObject({
			consumptionCurrency: "BUNDLED_CREDITS",
			balances: { usd: 5, bundledCredits: 3 },
		});
		expect(await billing.read<Balance>("/balance", await createAccount("0"))).toMatchObject({
			canConsume: false,
			consumptionCurrency: null,
			balances: { diem: null, usd: 0 },
		});
	});

	test("a stake that counts from tomorrow on is told, and pays nothing yet; neither does one below 0.1", async () => {
		const tomorrow = await stakedAccount(5, "0", today + 1);
		expect(await billing.read<Balance>("/balance", tomorrow)).toMatchObject({ canConsume: false, balances: { diem: 0 } });
		const tiny = await stakedAccount(0.09, "0");
		expect(await billing.read<Balance>("/balance", tiny)).toMatchObject({
			canConsume: false,
			balances: { diem: 0 },
			diemEpochAllocation: 0,
		});
	});

	test("knows the limits of the key that asks, which may be an INFERENCE key", async () => {
		const limits = { usd: "0.001" };
		const { secret, id, accountId } = await billing.gate.newKey({ creditUsd: "1", key: { limits, limitPeriod: "LIFETIME" } });
		expect(await billing.read<Balance>("/balance", secret)).toMatchObject({ canConsume: true, consumptionCurrency: "USD" });
		await billing.chat(4, 999, { key: secret });
		expect(await billing.read<Balance>("/balance", secret)).toMatchObject({ canConsume: true });
		const rest = { unit: "usd", sku: "rest", amount: 400_000, units: 1, rows: 1 } as const;
		await billing.gate.admin.db
			.insertInto("usage_daily")
			.values({ account_id: accountId, key_id: id, day: today, ...rest })
			.execute();
		expect(await billing.read<Balance>("/balance", secret)).toMatchObject({ canConsume: false, consumptionCurrency: null });
		const off = await billing.gate.newKey({ creditUsd: "1", key: { limits: { usd: "0" } } });
		expect(await billing.read<Balance>("/balance", off.secret)).toMatchObject({
			canConsume: false,
			consumptionCurrency: null,
			balances: { usd: 1 },
		});
	});
});

describe("GET /billing/usage-analytics", () => {
	interface Analytics {
		readonly lookback: string;
		readonly byDate: { readonly date: string; readonly USD: number; readonly DIEM: number }[];
		readonly byModel: Record<string, unknown>[];
		readonly byModelDaily: Record<string, number>[];
		readonly topModels: string[];
		readonly byKey: { readonly apiKeyId: string | null; readonly description: string; readonly totalUnits: number }[];
		readonly byKeyDaily: Record<string, number>[];
		readonly topKeyNames: string[];
	}

	test("sums by day, model and key; what was free counts as units", async () => {
		const key = await stakedAccount(0.1, "1");
		await billing.chat(1_000, 2_000, { key });
		await billing.chat(5, 5, { key, model: FREE_MODEL });
		const answer = await billing.read<Analytics>("/usage-analytics", key);
		expect(faults(UsageAnalyticsSchema, answer)).toEqual([]);
		expect(answer.lookback).toBe("7d");
		expect(answer.byDate).toEqual([{ date: todayText, USD: 0, DIEM: 0.00135 }]);
		expect(answer.byModel).toEqual([
			{
				modelName: MODEL,
				unitType: "tokens",
				modelType: "LLM",
				totalUsd: 0,
				totalDiem: 0.00135,
				totalUnits: 3_000,
				breakdown: [
					{ type: "output", usd: 0, diem: 0.0012, units: 2_000 },
					{ type: "input", usd: 0, diem: 0.00015, units: 1_000 },
				],
			},
			expect.objectContaining({ modelName: FREE_MODEL, totalUsd: 0, totalDiem: 0, totalUnits: 10 }),
		]);
		expect(answer.topModels).toEqual([MODEL, FREE_MODEL]);
		expect(answer.byModelDaily).toEqual([{ date: today * DAY_MS, [MODEL]: 0.00135 }]);
		expect(answer.byKey).toEqual([expect.objectContaining({ totalDiem: 0.00135, totalUnits: 3_010 })]);
		expect(Object.values(answer.byKeyDaily[0] ?? {})).toEqual([today * DAY_MS, 0.00135]);
	});

	test("is kept for ten minutes", async () => {
		const key = await createAccount();
		const empty = await billing.read<Analytics>("/usage-analytics", key);
		expect(empty.byModel).toEqual([]);
		await billing.chat(1, 1, { key });
		expect(await billing.read<Analytics>("/usage-analytics", key)).toEqual(empty);
		expect((await billing.read<Analytics>("/usage-analytics?lookback=8d", key)).byModel.length).toBe(1);
	});

	test("takes dates, both included, before a lookback", async () => {
		const key = await createAccount();
		await billing.chat(1, 1, { key });
		const days = `startDate=${todayText}&endDate=${todayText}`;
		const answer = await billing.read<Analytics>(`/usage-analytics?${days}&lookback=90d`, key);
		expect([answer.lookback, answer.byDate.length]).toEqual([`${todayText}:${todayText}`, 1]);
		const before = await billing.read<Analytics>("/usage-analytics?startDate=2024-02-28&endDate=2024-02-29", key);
		expect(before).toEqual({
			lookback: "2024-02-28:2024-02-29",
			byDate: [],
			byModel: [],
			byModelDaily: [],
			topModels: [],
			byKey: [],
			byKeyDaily: [],
			topKeyNames: [],
		});
	});

	test("an INFERENCE key reads its own use, and nobody else's", async () => {
		const { accountId, secret } = await billing.gate.newKey({ creditUsd: "1", key: { type: "ADMIN", description: "boss" } });
		const worker = await billing.gate.newKey({ account: accountId, key: { description: "worker" } });
		await billing.chat(1_000, 1_000, { key: secret });
		await billing.chat(1_000, 1, { key: worker.secret });
		// The order of asking decides what is kept for ten minutes.
		expect((await billing.read<Analytics>("/usage-analytics", secret)).byDate[0]?.USD).toBe(0.0009006);
		const own = await billing.read<Analytics>("/usage-analytics", worker.secret);
		expect(own.byDate).toEqual([{ date: todayText, USD: 0.0001506, DIEM: 0 }]);
		expect(own.byKey.map(({ apiKeyId, description }) => [apiKeyId, description])).toEqual([[worker.id, "worker"]]);
		expect(own.topKeyNames).toEqual(["worker"]);
		const idle = await billing.gate.newKey({ account: accountId });
		expect((await billing.read<Analytics>("/usage-analytics", idle.secret)).byKey).toEqual([]);
	});

	test("keys of one name, of none, and of names that objects have are told apart", async () => {
		const { accountId, secret } = await billing.gate.newKey({ creditUsd: "1", key: { type: "ADMIN", description: "bot" } });
		await billing.chat(1, 1, { key: secret });
		for (const description of ["bot", "", "date", "__proto__"]) {
			const { secret: other } = await billing.gate.newKey({ account: accountId, key: { description } });
			await billing.chat(1, 2, { key: other });
		}
		const { byKey, topKeyNames } = await billing.read<Analytics>("/usage-analytics", secret);
		expect(byKey.map(({ description }) => description).sort()).toEqual(["", "__proto__", "bot", "bot", "date"]);
		expect(new Set(topKeyNames).size).toBe(5);
		expect(topKeyNames).not.toContain("date");
		expect(topKeyNames).toContain("__proto__");
	});
});

describe("GET /billing/movements", () => {
	interface Movements {
		readonly data: {
			readonly timestamp: string;
			readonly type: string;
			readonly amount: number;
			readonly balanceAfter: number;
			readonly reference: string;
			readonly requestId: string | null;
		}[];
		readonly nextCursor: string | null;
	}

	test("credits, debits and refunds explain with the charges what the account has", async () => {
		const { secret: key, accountId } = await billing.gate.newKey({ creditUsd: "1", key: { type: "ADMIN" } });
		const { admin } = billing.gate;
		await credit(admin, { accountId, amount: "2.5", reference: `order-${accountId}` });
		await debit(admin, { accountId, amount: "0.25", reference: `back-${accountId}` });
		const requestId = await billing.chat(40, 500, { key });
		await billing.gate.openedStore.store.settled();
		await refund(admin, { requestId, reference: `sorry-${accountId}` });
		const page = await billing.read<Movements>("/movements", key);
		expect(faults(MovementsSchema, page)).toEqual([]);
		expect(page.nextCursor).toBeNull();
		expect(page.data.map(({ type, amount, reference }) => [type, amount, reference])).toEqual([
			["REFUND", 0.000306, `sorry-${accountId}`],
			["DEBIT", -0.25, `back-${accountId}`],
			["CREDIT", 2.5, `order-${accountId}`],
			["CREDIT", 1, expect.any(String)],
		]);
		expect(page.data.map(({ requestId: of }) => of)).toEqual([requestId, null, null, null]);
		const usage = await billing.read<Page>("/usage", key);
		const nano = (usd: number) => Math.round(usd * 1e9);
		const all = [...page.data, ...usage.data].reduce((sum, { amount }) => sum + nano(amount), 0);
		expect(all).toBe(await billing.gate.balance(accountId));
		const csv = await billing.gate.call("GET", "/billing/movements", undefined, {
			authorization: `Bearer ${key}`,
			accept: "text/csv",
		});
		expect(csv.headers.get("content-disposition")).toMatch(/^attachment; filename=billing-movements-\w+\.csv$/);
		const lines = (await csv.text()).split("\r\n");
		expect(lines[0]).toBe("timestamp,type,amount,currency,balanceAfter,reference,requestId");
		expect(lines[2]).toContain(`DEBIT,-0.25,USD,3.25,back-${accountId},`);
	});

	test("pages follow each other, and a cursor is the account's and the list's alone", async () => {
		const { secret: key, accountId } = await billing.gate.newKey({ creditUsd: "1", key: { type: "ADMIN" } });
		for (let index = 0; index < 12; index++)
			await credit(billing.gate.admin, { accountId, amount: "0.01", reference: `page-${accountId}-${index}` });
		const first = await billing.read<Movements>("/movements?pageSize=10", key);
		expect(first.data).toHaveLength(10);
		const second = await billing.read<Movements>(`/movements?cursor=${first.nextCursor}`, key);
		expect([second.data.length, second.nextCursor]).toEqual([3, null]);
		expect(new Set([...first.data, ...second.data].map(({ reference }) => reference)).size).toBe(13);
		const other = await createAccount();
		const refused = async (path: string, secret: string) =>
			(await billing.gate.call("GET", `/billing/${path}`, undefined, { authorization: `Bearer ${secret}` })).status;
		expect(await refused(`movements?cursor=${first.nextCursor}`, other)).toBe(400);
		expect(await refused(`usage-history?cursor=${first.nextCursor}`, key)).toBe(400);
		expect(await refused(`movements?cursor=${first.nextCursor}&pageSize=10`, key)).toBe(400);
		expect((await billing.read<Movements>("/movements", other)).data).toHaveLength(1);
	});

	test("filters and the order hold for all pages", async () => {
		const { secret: key, accountId } = await billing.gate.newKey({ creditUsd: "1", key: { type: "ADMIN" } });
		for (let index = 0; index < 12; index++)
			await credit(billing.gate.admin, { accountId, amount: "0.01", reference: `filter-${accountId}-${index}` });
		const all = (await billing.read<Movements>("/movements", key)).data;
		const read = async (filters: string) => {
			const first = await billing.read<Movements>(`/movements?pageSize=10&${filters}`, key);
			if (first.nextCursor === null) return first.data;
			return [...first.data, ...(await billing.read<Movements>(`/movements?cursor=${first.nextCursor}`, key)).data];
		};
		expect(await read("sortOrder=asc")).toEqual(all.toReversed());
		expect(await read("currency=USD&sortOrder=desc")).toEqual(all);
		expect(await read("currency=DIEM")).toEqual([]);
		const from = all.at(-2)?.timestamp ?? "";
		expect(await read(`startTimestamp=${from}`)).toEqual(all.filter(({ timestamp }) => timestamp >= from));
		expect(await read(`endTimestamp=${from}&sortOrder=asc`)).toEqual(
			all.toReversed().filter(({ timestamp }) => timestamp < from),
		);
		expect(await read("startTimestamp=2020-01-01&endTimestamp=2020-01-02")).toEqual([]);
		const answer = await billing.get("/movements?pageSize=10&sortOrder=asc", { key, accept: "text/csv" });
		const cursor = answer.headers.get("x-next-cursor");
		expect((await answer.text()).split("\r\n")).toHaveLength(12);
		expect((await billing.read<Movements>(`/movements?cursor=${cursor}`, key)).data).toEqual(all.slice(0, 3).toReversed());
	});
});
