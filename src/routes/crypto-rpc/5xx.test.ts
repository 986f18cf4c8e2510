import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type RpcGateway, request, startRpcGateway } from "../../../test/support/rpc-gateway.ts";

let fixture: RpcGateway;
beforeAll(async () => {
	fixture = await startRpcGateway({ config: { timeouts: { rpcMs: 500 } } });
});
afterAll(() => fixture.stop());
beforeEach(() => fixture.chain.always({}));

test.each([
	["502 with a page of HTML", { status: 502, raw: "<html>bad gateway</html>" }],
	["200 with a page of HTML", { status: 200, raw: "<html>welcome</html>" }],
	["429", { status: 429, raw: "slow down" }],
	["an empty 500", { status: 500, raw: "" }],
	["an empty 200", { status: 200, raw: "" }],
	["a connection that is reset", { reset: true }],
	["a body that is cut off", { closeMidBody: true }],
] as const)("502 where the only upstream answers with %s; nothing is charged", async (_name, behaviour) => {
	fixture.chain.always(behaviour);
	const before = (await fixture.gate.posts()).length;
	const answer = await fixture.rpc(request("eth_gasPrice"));
	expect(answer.status).toBe(502);
	expect(await answer.json()).toMatchObject({ code: "RPC_UPSTREAM_FAILED" });
	expect(await fixture.gate.posts()).toHaveLength(before);
});

test("503 for a network without an upstream says what to configure", async () => {
	const answer = await fixture.rpc(request("eth_gasPrice"), { network: "base-mainnet" });
	expect(answer.status).toBe(503);
	expect(answer.headers.get("retry-after")).not.toBeNull();
	const { error, code } = (await answer.json()) as { error: string; code: string };
	expect(code).toBe("RPC_NETWORK_OFFLINE");
	expect(error).toContain("TURNPIKE_RPC_BASE_MAINNET");
});

test("504 where no upstream answers in time; nothing is charged", async () => {
	fixture.chain.always({ hang: true });
	const before = (await fixture.gate.posts()).length;
	const answer = await fixture.rpc(request("eth_gasPrice"));
	expect(answer.status).toBe(504);
	expect(await answer.json()).toMatchObject({ code: "REQUEST_TIMEOUT" });
	expect(await fixture.gate.posts()).toHaveLength(before);
	expect(fixture.gate.gateway.budgets.holdsOpen).toBe(0);
});
