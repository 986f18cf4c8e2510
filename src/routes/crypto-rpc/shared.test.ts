import { afterEach, beforeEach, expect, test } from "bun:test";
import { type RpcGateway, request, startRpcGateway } from "../../../test/support/rpc-gateway.ts";
import type { ChainRequest } from "../../../test/support/scripted-chain.ts";
import { until } from "../../../test/support/until.ts";

let fixture: RpcGateway;
beforeEach(async () => {
	const limit = { requestsPerMinute: 1_000_000, creditsPerDay: 1_000_000_000 };
	fixture = await startRpcGateway({ config: { rpc: { limits: { paid: limit, staff: limit } } } });
});
afterEach(() => fixture.stop());

const stats = () => fixture.gate.gateway.chainCache;

/** From here on the chain's answers are not whole before the returned function is called. */
function holdAnswers(): () => void {
	const { promise, resolve } = Promise.withResolvers<void>();
	const answered = ({ items, isArray }: ChainRequest) => {
		const answers = items.map(({ id, method }) => ({ jsonrpc: "2.0", id, result: method }));
		return Buffer.from(JSON.stringify(isArray ? answers : answers[0]));
	};
	fixture.chain.always((asked) => ({ stream: () => [answered(asked)], waitAtEnd: promise }));
	return resolve;
}

test("reads that ask the same at the same time are one upstream call; each caller has its id and pays", async () => {
	const release = holdAnswers();
	const [reached, { shared }] = [fixture.reached, stats()];
	const posts = (await fixture.gate.posts()).length;
	const answers = Array.from({ length: 20 }, (_, id) =>
		fixture.rpc({ id, params: [{ to: "0xaa" }, "latest"], method: "eth_call" }),
	);
	await until(() => stats().shared === shared + 19);
	release();
	for (const [id, answer] of (await Promise.all(answers)).entries()) {
		expect(answer.headers.get("x-service-rpc-credits")).toBe("20");
		expect(await answer.json()).toEqual({ jsonrpc: "2.0", id, result: "eth_call" });
	}
	expect(fixture.reached - reached).toBe(1);
	const made = (await fixture.gate.posts()).slice(posts);
	expect(made.map(({ price }) => Number(price))).toEqual(Array.from({ length: 20 }, () => 12_500));
});

test("items of a batch that ask the same go out once, and each is answered and costs what it costs", async () => {
	const item = (id: number) => request("eth_gasPrice", [], id);
	const answer = await fixture.rpc([item(1), item(2), request("eth_getCode", ["0xaa", "latest"], 3), item(4)]);
	expect(answer.headers.get("x-service-rpc-credits")).toBe("80");
	expect(await answer.json()).toEqual([1, 2, 3, 4].map((id) => ({ jsonrpc: "2.0", id, result: "0x2a" })));
	expect(fixture.chain.requests.at(-1)?.items.map(({ method }) => method)).toEqual(["eth_gasPrice", "eth_getCode"]);
});

test("a caller that leaves does not take the answer from those who share the call", async () => {
	const release = holdAnswers();
	const [reached, { shared }] = [fixture.reached, stats()];
	const leaving = new AbortController();
	const left = fixture.rpc(request("eth_maxPriorityFeePerGas"), { signal: leaving.signal });
	await until(() => fixture.reached > reached);
	const stays = fixture.rpc(request("eth_maxPriorityFeePerGas"));
	await until(() => stats().shared > shared);
	leaving.abort();
	await expect(left).rejects.toThrow();
	release();
	expect(await (await stays).json()).toMatchObject({ result: "eth_maxPriorityFeePerGas" });
	expect(fixture.reached - reached).toBe(1);
	expect(fixture.chain.requests.at(-1)?.isAborted).toBe(false);
});

test("what is final comes from memory the second time, in batches too, and costs the same", async () => {
	fixture.chain.result("eth_blockNumber", "0x64");
	fixture.chain.result("eth_getBlockByNumber", ([tag]: string[]) => ({ number: tag === "finalized" ? "0x60" : tag }));
	const one = request("eth_getBlockByNumber", ["0x10", false]);
	// The first calls come before the final block is known.
	for (let tries = 0; stats().entries === 0 && tries < 1_000; tries++) expect((await fixture.rpc(one)).status).toBe(200);
	const reached = fixture.reached;
	const single = await fixture.rpc(one);
	expect(single.headers.get("x-service-rpc-credits")).toBe("20");
	expect(await single.text()).toBe('{"jsonrpc":"2.0","id":1,"result":{"number":"0x10"}}');
	const batch = await fixture.rpc([
		{ ...one, id: "a" },
		{ ...one, id: "b" },
	]);
	expect(batch.headers.get("x-service-rpc-credits")).toBe("40");
	expect(await batch.json()).toMatchObject([{ id: "a" }, { id: "b" }]);
	expect(fixture.reached).toBe(reached);
});
