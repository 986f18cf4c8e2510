import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RpcGateway, request, startRpcGateway } from "../../../test/support/rpc-gateway.ts";

let fixture: RpcGateway;
beforeAll(async () => {
	const limits = {
		paid: { requestsPerMinute: 3, creditsPerDay: 10_000_000 },
		staff: { requestsPerMinute: 1_000, creditsPerDay: 100 },
	};
	fixture = await startRpcGateway({ config: { rpc: { limits } } });
});
afterAll(() => fixture.stop());

function limitHeaders(answer: Response): Record<string, number> {
	return Object.fromEntries(
		["limit", "remaining", "reset"].map((name) => [name, Number(answer.headers.get(`x-ratelimit-${name}`))]),
	);
}

test("requests a minute are one window for all keys and networks of an account; a batch is one request", async () => {
	const first = await fixture.gate.newKey({ creditUsd: "5" });
	const batch = Array.from({ length: 10 }, (_, id) => request("eth_gasPrice", [], id));
	for (let index = 0; index < 3; index++) expect((await fixture.rpc(batch, { key: first.secret })).status).toBe(200);
	const answer = await fixture.rpc(request("eth_gasPrice"), { key: first.secret });
	expect(answer.status).toBe(429);
	expect(await answer.json()).toEqual({
		error: "Rate limit exceeded",
		code: "RATE_LIMIT_EXCEEDED",
		customMessage: "Crypto RPC limit of 3 requests per minute reached",
	});
	const { limit, remaining, reset = 0 } = limitHeaders(answer);
	expect({ limit, remaining }).toEqual({ limit: 3, remaining: 0 });
	expect(reset).toBeGreaterThan(Date.now() / 1000);
	expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
	expect(answer.headers.get("x-ratelimit-limit-requests")).toBeNull();
	const other = await fixture.rpc(request("eth_gasPrice"), { key: first.secret, network: "base-mainnet" });
	expect(other.status).toBe(429);
});

test("credits of 24 hours are refused by the worst case, and told in credits; the log names network and kind", async () => {
	const staff = await fixture.gate.newKey({ creditUsd: "5", changes: { tier: "staff" } });
	for (let index = 0; index < 5; index++)
		expect((await fixture.rpc(request("eth_gasPrice"), { key: staff.secret })).status).toBe(200);
	const answer = await fixture.rpc(request("eth_gasPrice"), { key: staff.secret });
	expect(answer.status).toBe(429);
	expect(await answer.json()).toMatchObject({ customMessage: "Crypto RPC limit of 100 credits per 24 hours reached" });
	expect(limitHeaders(answer)).toMatchObject({ limit: 100, remaining: 0 });
	const log = await fetch(`${fixture.gate.url}/api/v1/api_keys/rate_limits/log`, {
		headers: { authorization: `Bearer ${staff.secret}` },
	});
	const { data } = (await log.json()) as { data: { modelId: string; rateLimitType: string }[] };
	expect(data).toContainEqual(expect.objectContaining({ modelId: "crypto-rpc/ethereum-mainnet", rateLimitType: "RPD" }));
});

test("a batch that alone passes the day's credits is refused for good, not for a second", async () => {
	const staff = await fixture.gate.newKey({ creditUsd: "5", changes: { tier: "staff" } });
	const batch = Array.from({ length: 6 }, (_, id) => request("eth_gasPrice", [], id));
	const answer = await fixture.rpc(batch, { key: staff.secret });
	expect([answer.status, answer.headers.get("retry-after")]).toEqual([400, null]);
	expect(await answer.json()).toMatchObject({
		code: "INVALID_REQUEST",
		error: "This request may cost 120 credits, and an account has 100 in 24 hours: send fewer calls at once",
	});
	expect((await fixture.rpc(batch.slice(0, 5), { key: staff.secret })).status).toBe(200);
});
