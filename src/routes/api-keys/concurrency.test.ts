import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, startKeysGateway, verdict } from "../../../test/support/keys-gateway.ts";

let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway();
});
afterAll(() => keys.stop());

const times = <T>(count: number, make: (index: number) => Promise<T>) =>
	Promise.all(Array.from({ length: count }, (_, index) => make(index)));

test("a hundred keys made at once are a hundred different keys that all work", async () => {
	const { secret } = await keys.gate.newKey({ creditUsd: "10", key: { type: "ADMIN" } });
	const made = await times(100, (index) => keys.create({ description: `${index}` }, secret));
	expect(new Set(made.map((key) => key.id)).size).toBe(100);
	expect(new Set(made.map((key) => key.apiKey)).size).toBe(100);
	expect(await times(100, (index) => keys.spend(made[index]?.apiKey ?? "", 1))).toEqual(Array(100).fill("200"));
	const answer = await keys.as(secret, "GET", "/api_keys");
	const { data } = (await answer.json()) as { data: { description: string; lastUsedAt: string | null }[] };
	expect(data).toHaveLength(101);
	expect(data.every((key) => key.lastUsedAt !== null)).toBe(true);
});

test("of a hundred requests for the last ten places ten are served", async () => {
	const { secret, accountId, id } = await keys.gate.newKey({ key: { type: "ADMIN" } });
	const row = await keys.gate.admin.db.selectFrom("keys").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
	const more = Array.from({ length: 489 }, (_, index) => ({
		...row,
		id: crypto.randomUUID(),
		hash: `seed-${accountId}-${index}`,
	}));
	for (let from = 0; from < more.length; from += 200)
		await keys.gate.admin.db
			.insertInto("keys")
			.values(more.slice(from, from + 200))
			.execute();
	const body = { apiKeyType: "INFERENCE", description: "" };
	const outcomes = await times(100, () => verdict(keys.as(secret, "POST", "/api_keys", body)));
	expect(outcomes.filter((outcome) => outcome === "200")).toHaveLength(10);
	expect(outcomes.filter((outcome) => outcome === "400 INVALID_REQUEST")).toHaveLength(90);
});

test("changes of different members at once are all kept, and of one member one of them", async () => {
	const { id } = await keys.create();
	await times(60, (index) => {
		if (index % 4 === 0) return keys.patch(id, { consumptionLimit: { usd: index } });
		if (index % 4 === 1) return keys.patch(id, { consumptionLimit: { diem: index, vcu: index } });
		if (index % 4 === 2) return keys.patch(id, { restrictions: { models: [`m${index}`] } });
		return keys.patch(id, { description: `d${index}` });
	});
	const { consumptionLimits, description, restrictions } = await keys.show(id);
	expect((consumptionLimits.usd ?? -1) % 4).toBe(0);
	expect((consumptionLimits.diem ?? -1) % 4).toBe(1);
	expect(consumptionLimits.vcu).toBe(consumptionLimits.diem);
	expect(description).toMatch(/^d\d+$/);
	expect(restrictions?.models?.[0]).toMatch(/^m\d+$/);
});

test("of many who end one key one does, and no request of the key is served after that", async () => {
	const { id, apiKey } = await keys.create();
	let ended = false;
	const late: string[] = [];
	const spending = times(8, async () => {
		for (let count = 0; count < 12; count++) {
			const afterTheEnd = ended;
			const outcome = await keys.spend(apiKey, 1);
			if (afterTheEnd) late.push(outcome);
		}
	});
	const outcomes = await times(10, async () => {
		const outcome = await verdict(keys.gate.call("DELETE", `/api_keys?id=${id}`));
		if (outcome === "200") ended = true;
		return outcome;
	});
	await spending;
	late.push(await keys.spend(apiKey, 1));
	expect(outcomes.filter((outcome) => outcome === "200")).toHaveLength(1);
	expect(outcomes.filter((outcome) => outcome === "404 NOT_FOUND")).toHaveLength(9);
	expect(new Set(late)).toEqual(new Set(["401 AUTHENTICATION_FAILED"]));
});

test("a limit that changes under a crowd is never passed", async () => {
	const { id, apiKey } = await keys.create({ consumptionLimit: { usd: 0.1 } });
	const first = await times(40, () => keys.spend(apiKey, 1));
	await keys.patch(id, { consumptionLimit: { usd: 0.25 } });
	const second = await times(40, () => keys.spend(apiKey, 1));
	expect(first.filter((outcome) => outcome === "200")).toHaveLength(10);
	expect(second.filter((outcome) => outcome === "200")).toHaveLength(15);
	expect((await keys.show(id)).currentPeriodUsage?.usd).toBe("0.2500");
});

test("the books are right after all that", async () => {
	const { ok, findings } = await keys.gate.audit();
	expect({ ok, findings }).toEqual({ ok: true, findings: [] });
});
