import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { credit } from "../../../src/store/admin.ts";
import { type BillingGateway, startBillingGateway } from "../../../test/support/billing-gateway.ts";
import type { Clock } from "../../telemetry/clock.ts";

interface Refusal {
	readonly error: string;
	readonly code: string;
	readonly issues: { readonly path: string[]; readonly message: string }[];
	readonly details: Record<string, unknown>;
}

let aheadMs = 0;
const clock: Clock = { wallMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
let billing: BillingGateway;

beforeAll(async () => {
	billing = await startBillingGateway({ clock });
	for (let index = 0; index < 6; index++) await billing.chat(1, 1);
});
afterAll(() => billing.stop());

/** The field at fault, and the whole sentence. */
async function refused(path: string, key = billing.gate.key): Promise<[string, string]> {
	const answer = await billing.get(path, { key });
	const body = (await answer.json()) as Refusal;
	expect([answer.status, body.code]).toEqual([400, "INVALID_REQUEST"]);
	const field = body.issues[0]?.path.join(".") ?? "";
	expect(body.error).toStartWith(field);
	expect(body.details[field]).toBeDefined();
	return [field, body.error];
}

const nextCursor = async (key = billing.gate.key) =>
	(await billing.read<{ nextCursor: string }>("/usage-history?pageSize=10", key)).nextCursor;

describe("GET /billing/usage", () => {
	test.each([
		["currency=EUR", "currency"],
		["currency=usd", "currency"],
		["startDate=yesterday", "startDate"],
		["startDate=2026-10-01T00:00:00", "startDate"],
		["startDate=2026-02-30T00:00:00Z", "startDate"],
		["startDate=2025-02-29T00:00:00Z", "startDate"],
		["startDate=2026-13-01T00:00:00Z", "startDate"],
		["startDate=2026-10-01T25:00:00Z", "startDate"],
		["endDate=", "endDate"],
		["startDate=2026-10-02T00:00:00Z&endDate=2026-10-01T00:00:00Z", "endDate"],
		["limit=0", "limit"],
		["limit=501", "limit"],
		["limit=ten", "limit"],
		["limit=1.5", "limit"],
		["page=0", "page"],
		["page=-1", "page"],
		["page=99999999999999999999", "page"],
		["sortOrder=up", "sortOrder"],
	])("%s", async (query, field) => {
		expect((await refused(`/usage?${query}`))[0]).toBe(field);
	});
});

describe("GET /billing/usage-history", () => {
	test.each([
		["currency=VCU", "currency"],
		["startTimestamp=2026-10-01T00:00:00%2B02:00", "startTimestamp"],
		["startTimestamp=2026-10-01T00:00:00Z&endTimestamp=2026-10-01T00:00:00Z", "endTimestamp"],
		["pageSize=9", "pageSize"],
		["pageSize=1001", "pageSize"],
		["cursor=", "cursor"],
		["cursor=a", "cursor"],
		["cursor=a.b", "cursor"],
		["cursor=AAAA%2BBBB", "cursor"],
		[`cursor=${"A".repeat(512)}`, "cursor"],
		[`cursor=${"A".repeat(513)}`, "cursor"],
	])("%s", async (query, field) => {
		expect((await refused(`/usage-history?${query}`))[0]).toBe(field);
	});

	test("a cursor of which one character is another", async () => {
		const cursor = await nextCursor();
		for (const at of [0, 10, Math.floor(cursor.length / 2), cursor.length - 2, cursor.length - 1]) {
			const other = cursor[at] === "A" ? "B" : "A";
			expect((await refused(`/usage-history?cursor=${cursor.slice(0, at)}${other}${cursor.slice(at + 1)}`))[0]).toBe("cursor");
		}
		expect((await refused(`/usage-history?cursor=${cursor.slice(0, -1)}`))[0]).toBe("cursor");
		expect((await refused(`/usage-history?cursor=${cursor}A`))[0]).toBe("cursor");
	});

	test("a cursor of another account", async () => {
		const other = await billing.gate.newKey({ creditUsd: "1", key: { type: "ADMIN" } });
		expect(await refused(`/usage-history?cursor=${await nextCursor()}`, other.secret)).toEqual([
			"cursor",
			"cursor: is not a cursor of this account; begin again without one",
		]);
	});

	test("a cursor that is 24 hours old, and not one that is a minute younger", async () => {
		const cursor = await nextCursor();
		try {
			aheadMs = 24 * 3_600_000 - 60_000;
			expect((await billing.get(`/usage-history?cursor=${cursor}`)).status).toBe(200);
			aheadMs = 24 * 3_600_000;
			expect((await refused(`/usage-history?cursor=${cursor}`))[1]).toContain("expired");
		} finally {
			aheadMs = 0;
		}
	});

	test.each(["currency=USD", "startTimestamp=2026-01-01T00:00:00Z", "endTimestamp=2036-01-01T00:00:00Z", "pageSize=10"])(
		"%s beside a cursor",
		async (filter) => {
			const [field] = filter.split("=");
			expect((await refused(`/usage-history?cursor=${await nextCursor()}&${filter}`))[0]).toBe(field ?? "");
		},
	);
});

describe("GET /billing/movements", () => {
	test.each([
		["currency=VCU", "currency"],
		["startTimestamp=2026-02-30", "startTimestamp"],
		["startTimestamp=2026-10-02&endTimestamp=2026-10-01", "endTimestamp"],
		["sortOrder=up", "sortOrder"],
		["pageSize=9", "pageSize"],
	])("%s", async (query, field) => {
		expect((await refused(`/movements?${query}`))[0]).toBe(field);
	});

	test.each(["currency=USD", "startTimestamp=2026-01-01", "endTimestamp=2036-01-01", "sortOrder=asc", "pageSize=10"])(
		"%s beside a cursor",
		async (filter) => {
			const { secret: key, accountId } = await billing.gate.newKey({ creditUsd: "1", key: { type: "ADMIN" } });
			for (let index = 0; index < 10; index++)
				await credit(billing.gate.admin, { accountId, amount: "0.01", reference: `beside-${accountId}-${index}` });
			const { nextCursor: cursor } = await billing.read<{ nextCursor: string }>("/movements?pageSize=10", key);
			expect((await refused(`/movements?cursor=${cursor}&${filter}`, key))[0]).toBe(filter.split("=")[0] ?? "");
		},
	);
});

describe("GET /billing/usage-analytics", () => {
	test.each([
		["lookback=7", "lookback"],
		["lookback=0d", "lookback"],
		["lookback=07d", "lookback"],
		["lookback=91d", "lookback"],
		["lookback=99999999999999999999d", "lookback"],
		["lookback=1w", "lookback"],
		["startDate=2026-10-01", "endDate"],
		["endDate=2026-10-01", "startDate"],
		["startDate=2026-10-02&endDate=2026-10-01", "endDate"],
		["startDate=2026-02-29&endDate=2026-03-01", "startDate"],
		["startDate=2026-01-01&endDate=2026-04-01", "endDate"],
		["startDate=2026-01-01T00:00:00Z&endDate=2026-01-02", "startDate"],
	])("%s", async (query, field) => {
		expect((await refused(`/usage-analytics?${query}`))[0]).toBe(field);
	});

	test("ninety days are not too many", async () => {
		expect((await billing.get("/usage-analytics?startDate=2026-01-01&endDate=2026-03-31")).status).toBe(200);
		expect((await billing.get("/usage-analytics?lookback=90d")).status).toBe(200);
	});
});
