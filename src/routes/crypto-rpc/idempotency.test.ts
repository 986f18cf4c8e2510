import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type RpcGateway, request, startRpcGateway } from "../../../test/support/rpc-gateway.ts";

const plenty = { requestsPerMinute: 1_000_000, creditsPerDay: 1_000_000_000 };
const MANY = { paid: plenty, staff: plenty };

let fixture: RpcGateway;
beforeAll(async () => {
	fixture = await startRpcGateway({ config: { timeouts: { rpcMs: 1_500 }, rpc: { limits: MANY } } });
});
afterAll(() => fixture.stop());
beforeEach(() => fixture.chain.always({}));

let keys = 0;
const keyed = (key = `key-${++keys}`) => ({ headers: { "idempotency-key": key } });
const RAW = "0x02f86b0180843b9aca00843b9aca0082520894d8da6bf26964af9d7eed9e03e53415d37aa9604501";

test("the same request again gets the same answer, costs nothing and reaches no upstream; its id is new", async () => {
	const with1 = keyed();
	const first = await fixture.rpc(request("eth_gasPrice"), with1);
	const [reached, posts] = [fixture.reached, (await fixture.gate.posts()).length];
	const again = await fixture.rpc('{"params":[],"method":"eth_gasPrice","id":1,"jsonrpc":"2.0"}', with1);
	expect(again.status).toBe(200);
	expect(again.headers.get("idempotent-replayed")).toBe("true");
	expect(again.headers.get("x-service-rpc-credits")).toBe("0");
	expect(again.headers.get("x-service-rpc-cost-usd")).toBe("0.00000000");
	expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
	expect(await again.text()).toBe(await first.text());
	expect(first.headers.get("idempotent-replayed")).toBeNull();
	expect([fixture.reached, (await fixture.gate.posts()).length]).toEqual([reached, posts]);
});

test("another body, or another network, under the same key is a 400", async () => {
	const with1 = keyed();
	await fixture.rpc(request("eth_gasPrice"), with1);
	for (const answer of [
		await fixture.rpc(request("eth_gasPrice", [], 2), with1),
		await fixture.rpc(request("eth_gasPrice"), { ...with1, network: "ethereum-sepolia" }),
	]) {
		expect(answer.status).toBe(400);
		expect(await answer.json()).toMatchObject({
			error: "Idempotency-Key was used with a different body",
			code: "IDEMPOTENCY_KEY_REUSED",
		});
	}
});

test("while one runs the same key is a 409; one upstream call, one charge", async () => {
	fixture.chain.next({ delayMs: 200 });
	const with1 = keyed();
	const before = fixture.reached;
	const answers = await Promise.all(Array.from({ length: 8 }, () => fixture.rpc(request("eth_gasPrice"), with1)));
	const statuses = answers.map((answer) => answer.status).sort();
	expect(statuses).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
	const busy = answers.find((answer) => answer.status === 409);
	expect(busy?.headers.get("retry-after")).toBe("1");
	expect(await busy?.json()).toMatchObject({ code: "IDEMPOTENCY_IN_PROGRESS" });
	expect(fixture.reached - before).toBe(1);
});

test("a failure is not kept: the next request with the key runs", async () => {
	fixture.chain.always({ status: 502, raw: "<html>bad gateway</html>" });
	const with1 = keyed();
	expect((await fixture.rpc(request("eth_gasPrice"), with1)).status).toBe(502);
	fixture.chain.always({});
	const again = await fixture.rpc(request("eth_gasPrice"), with1);
	expect(again.status).toBe(200);
	expect(again.headers.get("idempotent-replayed")).toBeNull();
});

test("a caller that leaves finds the answer under its key", async () => {
	fixture.chain.next({ delayMs: 300 });
	const with1 = keyed();
	const leaving = new AbortController();
	const before = fixture.reached;
	const left = fixture.rpc(request("eth_gasPrice"), { ...with1, signal: leaving.signal }).catch(() => "left");
	while (fixture.reached === before) await Bun.sleep(5);
	leaving.abort();
	expect(await left).toBe("left");
	let answer = await fixture.rpc(request("eth_gasPrice"), with1);
	while (answer.status === 409) answer = await fixture.rpc(request("eth_gasPrice"), with1);
	expect(answer.headers.get("idempotent-replayed")).toBe("true");
	expect(fixture.reached - before).toBe(1);
});

describe("a send that timed out and that nobody shows yet", () => {
	const ALREADY = { code: -32000, message: "already known" };
	/** Takes the first one in silence; of the same bytes again it says that it has them. */
	const slowToShow = () => {
		const taken = new Set<unknown>();
		fixture.chain.always(({ items, isArray }) => {
			const sends = items.filter(({ method }) => method === "eth_sendRawTransaction");
			const hang = sends.some(({ params }) => !taken.has(String(params)));
			for (const { params } of sends) taken.add(String(params));
			if (hang) return { hang };
			const answers = items.map(({ id, method }) => ({
				jsonrpc: "2.0",
				id,
				...(method === "eth_sendRawTransaction" ? { error: ALREADY } : { result: null }),
			}));
			return { raw: JSON.stringify(isArray ? answers : answers[0]) };
		});
	};

	test.each([false, true])("is a success where the node has it when it is sent again (in a batch: %p)", async (batch) => {
		slowToShow();
		const with1 = keyed();
		const send = request("eth_sendRawTransaction", [RAW]);
		const body = batch ? [request("eth_gasPrice", [], 0), send] : send;
		const { transactionHashes } = (await (await fixture.rpc(body, with1)).json()) as { transactionHashes: string[] };
		const again = await fixture.rpc(body, with1);
		expect(again.headers.get("x-service-rpc-credits")).toBe(batch ? "40" : "20");
		const answer = { jsonrpc: "2.0", id: 1, result: transactionHashes[0] };
		expect(await again.json()).toEqual(batch ? [{ jsonrpc: "2.0", id: 0, result: null }, answer] : answer);
	});

	test("stays the node's error for who did not send it under this key", async () => {
		slowToShow();
		const send = request("eth_sendRawTransaction", [RAW]);
		expect((await fixture.rpc(send, keyed())).status).toBe(504);
		for (const other of [keyed(), {}]) {
			const answer = await fixture.rpc(send, other);
			expect([await answer.json(), answer.headers.get("x-service-rpc-credits")]).toEqual([
				{ jsonrpc: "2.0", id: 1, error: ALREADY },
				"5",
			]);
		}
	});
});

test("a send that timed out is looked up before it is sent again", async () => {
	let known = false;
	fixture.chain.always(({ items }) => {
		const [item] = items;
		if (item?.method === "eth_sendRawTransaction") {
			known = true;
			return { hang: true };
		}
		const found = { jsonrpc: "2.0", id: item?.id, result: known ? { hash: "0x01" } : null };
		return { raw: JSON.stringify(found) };
	});
	const with1 = keyed();
	const body = request("eth_sendRawTransaction", [RAW]);
	const unknown = await fixture.rpc(body, with1);
	expect(unknown.status).toBe(504);
	const refusal = (await unknown.json()) as { error: string; transactionHashes: string[] };
	expect(refusal.error).toContain("outcome unknown; send the same bytes again");
	expect(refusal.transactionHashes).toEqual([expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
	const sends = () => fixture.chain.requests.filter(({ items }) => items[0]?.method === "eth_sendRawTransaction").length;
	const before = sends();
	const again = await fixture.rpc(body, with1);
	expect(again.status).toBe(200);
	expect(await again.json()).toEqual({ jsonrpc: "2.0", id: 1, result: refusal.transactionHashes[0] });
	expect(sends()).toBe(before);
	const third = await fixture.rpc(body, with1);
	expect(third.headers.get("idempotent-replayed")).toBe("true");
});
