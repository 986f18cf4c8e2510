/** What a key may spend by UTC day, UTC month and for good, with a clock that is set. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, startKeysGateway } from "../../../test/support/keys-gateway.ts";
import { ManualClock } from "../../telemetry/clock.ts";

const clock = new ManualClock("2023-01-01T00:00:00Z");
const USD_OUT = "402 API_KEY_USD_SPEND_LIMIT_EXCEEDED";
let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway({ clock, creditUsd: "100000" });
});
afterAll(() => keys.stop());
/** Minute windows are on the other clock. */
afterEach(() => clock.advance(60_000));

const limited = (limitPeriod: string, cents = 10) => keys.create({ limitPeriod, consumptionLimit: { usd: cents / 100 } });
const usedNow = async (id: string) => (await keys.show(id)).currentPeriodUsage?.usd;
const weekNow = async (id: string) => (await keys.show(id)).usage?.trailingSevenDays.usd;

test.each([
	["EPOCH", "2023-05-10T23:59:59.999Z", "2023-05-11T00:00:00.000Z"],
	["EPOCH", "2023-12-31T23:59:59.999Z", "2024-01-01T00:00:00.000Z"],
	["EPOCH", "2024-02-28T23:59:59.999Z", "2024-02-29T00:00:00.000Z"],
	["EPOCH", "2024-02-29T23:59:59.999Z", "2024-03-01T00:00:00.000Z"],
	["MONTH", "2023-02-28T23:59:59.999Z", "2023-03-01T00:00:00.000Z"],
	["MONTH", "2024-02-29T23:59:59.999Z", "2024-03-01T00:00:00.000Z"],
	["MONTH", "2023-04-30T23:59:59.999Z", "2023-05-01T00:00:00.000Z"],
	["MONTH", "2023-12-31T23:59:59.999Z", "2024-01-01T00:00:00.000Z"],
	["MONTH", "2100-02-28T23:59:59.999Z", "2100-03-01T00:00:00.000Z"],
])("a limit by %s that is used up at %s is whole again at %s", async (limitPeriod, last, next) => {
	clock.setWall(last);
	const { id, apiKey } = await limited(limitPeriod);
	expect(await keys.spend(apiKey, 10)).toBe("200");
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
	expect([await usedNow(id), await weekNow(id)]).toEqual(["0.1000", "0.1000"]);
	clock.setWall(next);
	expect(await usedNow(id)).toBe("0.0000");
	expect(await keys.spend(apiKey, 7)).toBe("200");
	expect(await keys.spend(apiKey, 4)).toBe(USD_OUT);
	expect([await usedNow(id), await weekNow(id)]).toEqual(["0.0700", "0.1700"]);
});

test.each([
	["2024-02-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z"],
	["2023-02-01T00:00:00.000Z", "2023-02-28T23:59:59.999Z"],
	["2023-01-01T00:00:00.000Z", "2023-01-31T23:59:59.999Z"],
])("a limit by MONTH that is used up at %s still is at %s", async (first, last) => {
	clock.setWall(first);
	const { id, apiKey } = await limited("MONTH");
	expect(await keys.spend(apiKey, 10)).toBe("200");
	clock.setWall(last);
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
	expect(await usedNow(id)).toBe("0.1000");
});

test("a limit by LIFETIME never begins anew", async () => {
	clock.setWall("2023-06-01T12:00:00Z");
	const { id, apiKey } = await limited("LIFETIME");
	expect(await keys.spend(apiKey, 9)).toBe("200");
	for (const later of ["2023-06-02T00:00:00Z", "2023-07-01T00:00:00Z", "2024-02-29T12:00:00Z", "2050-01-01T00:00:00Z"]) {
		clock.setWall(later);
		expect(await keys.spend(apiKey, 2)).toBe(USD_OUT);
		expect(await usedNow(id)).toBe("0.0900");
	}
	expect(await keys.spend(apiKey, 1)).toBe("200");
});

test("another period looks back at what was spent in its own window", async () => {
	clock.setWall("2024-02-10T12:00:00Z");
	const { id, apiKey } = await limited("EPOCH");
	expect(await keys.spend(apiKey, 10)).toBe("200");
	clock.setWall("2024-02-29T12:00:00Z");
	expect(await keys.spend(apiKey, 4)).toBe("200");
	await keys.patch(id, { limitPeriod: "MONTH" });
	expect(await usedNow(id)).toBe("0.1400");
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
	await keys.patch(id, { limitPeriod: "EPOCH" });
	expect(await usedNow(id)).toBe("0.0400");
	expect(await keys.spend(apiKey, 6)).toBe("200");
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
	await keys.patch(id, { limitPeriod: "LIFETIME", consumptionLimit: { usd: 0.21 } });
	expect(await keys.spend(apiKey, 1)).toBe("200");
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
	clock.setWall("2024-03-01T00:00:00Z");
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
	await keys.patch(id, { limitPeriod: "MONTH" });
	expect(await usedNow(id)).toBe("0.0000");
	expect(await keys.spend(apiKey, 21)).toBe("200");
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
});

test("a limit that is set late counts what was spent before it", async () => {
	clock.setWall("2024-06-15T08:00:00Z");
	const { id, apiKey } = await keys.create();
	expect(await keys.spend(apiKey, 30)).toBe("200");
	expect(await usedNow(id)).toBeUndefined();
	await keys.patch(id, { consumptionLimit: { usd: 0.3 } });
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
	expect(await usedNow(id)).toBe("0.3000");
	await keys.patch(id, { consumptionLimit: { usd: 0.05 } });
	expect(await keys.spend(apiKey, 1)).toBe(USD_OUT);
	await keys.patch(id, { consumptionLimit: { usd: null } });
	expect(await keys.spend(apiKey, 1)).toBe("200");
});

test("diem has its limit beside that of USD, and spending goes on in USD", async () => {
	clock.setWall("2024-02-28T20:00:00Z");
	const { accountId, secret } = await keys.gate.newKey({ creditUsd: "50", key: { type: "ADMIN" } });
	await keys.stake(accountId, Math.floor(clock.wallMs() / 86_400_000), 5);
	const { apiKey, id } = await keys.create({ consumptionLimit: { diem: 0.03, usd: 0.05 } }, secret);
	const used = async () => {
		const answer = await keys.as(secret, "GET", `/api_keys/${id}`);
		return ((await answer.json()) as { data: { currentPeriodUsage: object } }).data.currentPeriodUsage;
	};
	expect(await keys.spend(apiKey, 5)).toBe("200");
	expect(await used()).toEqual({ diem: "0.0300", usd: "0.0200" });
	expect(await keys.spend(apiKey, 4)).toBe(USD_OUT);
	expect(await keys.spend(apiKey, 3)).toBe("200");
	expect(await used()).toEqual({ diem: "0.0300", usd: "0.0500" });
	clock.setWall("2024-02-29T00:00:00Z");
	expect(await keys.spend(apiKey, 3)).toBe("200");
	expect(await used()).toEqual({ diem: "0.0300", usd: "0.0000" });
});

test("usage trails over seven UTC days", async () => {
	clock.setWall("2024-02-26T23:59:59.999Z");
	const { id, apiKey } = await keys.create();
	expect(await keys.spend(apiKey, 1)).toBe("200");
	clock.setWall("2024-02-29T12:00:00Z");
	expect(await keys.spend(apiKey, 2)).toBe("200");
	clock.setWall("2024-03-03T23:59:59.999Z");
	expect(await weekNow(id)).toBe("0.0300");
	clock.setWall("2024-03-04T00:00:00Z");
	expect(await weekNow(id)).toBe("0.0200");
	clock.setWall("2024-03-07T00:00:00Z");
	expect(await weekNow(id)).toBe("0.0000");
});

test("an expiry is that of the clock, to the millisecond", async () => {
	clock.setWall("2024-02-28T23:59:59.998Z");
	const { apiKey } = await keys.create({ expiresAt: "2024-02-29" });
	clock.setWall("2024-02-28T23:59:59.999Z");
	expect(await keys.spend(apiKey, 1)).toBe("200");
	clock.setWall("2024-02-29T00:00:00Z");
	expect(await keys.spend(apiKey, 1)).toBe("401 AUTHENTICATION_FAILED");
	const late = await keys.gate.call("POST", "/api_keys", { apiKeyType: "INFERENCE", description: "", expiresAt: "2024-02-29" });
	expect(late.status).toBe(400);
});

test("an expired key is out of the list and still found by its id, and a later expiry brings it back", async () => {
	clock.setWall("2024-02-28T23:59:59Z");
	const { id, apiKey } = await keys.create({ expiresAt: "2024-02-29" });
	const isListed = async () => (await keys.list()).data.some((key) => key.id === id);
	expect(await isListed()).toBe(true);
	clock.setWall("2024-02-29T00:00:00Z");
	expect(await isListed()).toBe(false);
	expect((await keys.show(id)).expiresAt).toBe("2024-02-29T00:00:00.000Z");
	await keys.patch(id, { expiresAt: "2024-03-01" });
	expect(await keys.spend(apiKey, 1)).toBe("200");
	clock.setWall("2024-03-01T00:00:00Z");
	expect(await keys.spend(apiKey, 1)).toBe("401 AUTHENTICATION_FAILED");
	await keys.patch(id, { expiresAt: "" });
	expect(await keys.spend(apiKey, 1)).toBe("200");
	expect(await isListed()).toBe(true);
});

test("the books of all these days are right", async () => {
	const { ok, findings } = await keys.gate.audit();
	expect({ ok, findings }).toEqual({ ok: true, findings: [] });
});
