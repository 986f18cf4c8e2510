import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type RpcGateway, request, startRpcGateway } from "../../../test/support/rpc-gateway.ts";

let fixture: RpcGateway;
beforeAll(async () => {
	fixture = await startRpcGateway();
});
afterAll(() => fixture.stop());
beforeEach(() => fixture.chain.always({}));

/** Charges of the account so far, in nano-USD. */
async function charged(): Promise<number> {
	const posts = await fixture.gate.posts();
	return posts.reduce((sum, post) => sum + Number(post.price), 0);
}

test("lists the networks, and which of them work, to anybody", async () => {
	const answer = await fetch(`${fixture.gate.url}/api/v1/crypto/rpc/networks`);
	expect(answer.status).toBe(200);
	expect(answer.headers.get("cache-control")).toBe("max-age=10");
	const { networks, online } = (await answer.json()) as { networks: string[]; online: string[] };
	expect(networks).toHaveLength(23);
	expect(networks).toEqual(networks.toSorted());
	expect(online).toEqual(["ethereum-mainnet"]);
});

test.each(["application/json-rpc", "Application/JSON-RPC; charset=utf-8", "application/jsonrequest", "application/vnd.api+json"])(
	"takes a call as %s",
	async (type) => {
		fixture.chain.result("eth_gasPrice", "0x1");
		expect((await fixture.rpc('{"id":1,"method":"eth_gasPrice"}', { headers: { "content-type": type } })).status).toBe(200);
	},
);

test("answers a single call with the caller's id byte for byte, and says what it cost", async () => {
	fixture.chain.result("eth_gasPrice", "0x3b9aca00");
	const before = await charged();
	const answer = await fixture.rpc('{"id":18446744073709551616.50,"method":"eth_gasPrice"}');
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-type")).toBe("application/json");
	expect(answer.headers.get("x-service-rpc-credits")).toBe("20");
	expect(answer.headers.get("x-service-rpc-cost-usd")).toBe("0.00001250");
	expect(answer.headers.get("x-request-id")).toMatch(/^[0-9A-Za-z]{32}$/);
	expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
	expect(answer.headers.get("x-ratelimit-limit-requests")).toBeNull();
	expect(await answer.text()).toBe('{"jsonrpc":"2.0","id":18446744073709551616.50,"result":"0x3b9aca00"}');
	expect((await charged()) - before).toBe(12_500);
});

test("an absent id of a single call comes back as null", async () => {
	const answer = await fixture.rpc({ method: "eth_gasPrice" });
	expect(await answer.json()).toMatchObject({ id: null });
});

test("answers a batch in the order of the request, twins of ids included, in one upstream request", async () => {
	fixture.chain.result("eth_getBalance", (params: unknown) => (params as string[])[0]);
	const before = fixture.reached;
	const items = ["0x01", "0x02", "0x03"].map((address) => request("eth_getBalance", [address, "latest"], "same"));
	const answer = await fixture.rpc(items);
	expect(answer.headers.get("x-service-rpc-credits")).toBe("60");
	expect(await answer.json()).toEqual(["0x01", "0x02", "0x03"].map((result) => ({ jsonrpc: "2.0", id: "same", result })));
	expect(fixture.reached - before).toBe(1);
	expect(fixture.chain.requests.at(-1)?.isArray).toBe(true);
});

test("an item with an error costs 5 credits, by itself or in a batch, and its error passes untouched", async () => {
	const error = { code: 3, message: "execution reverted: no", data: "0x08c379a0" };
	fixture.chain.always({
		answer: ({ items, isArray }) => {
			const all = items.map(({ id, method }) => ({
				jsonrpc: "2.0",
				id,
				...(method === "eth_call" ? { error } : { result: "0x1" }),
			}));
			return isArray ? all : all[0];
		},
	});
	const before = await charged();
	const single = await fixture.rpc(request("eth_call", [{}, "latest"]));
	expect(single.headers.get("x-service-rpc-credits")).toBe("5");
	expect(single.headers.get("x-service-rpc-cost-usd")).toBe("0.00000313");
	expect(await single.json()).toEqual({ jsonrpc: "2.0", id: 1, error });
	const batch = await fixture.rpc([request("eth_call", [{}, "latest"], "a"), request("eth_getCode", ["0x01", "latest"], "b")]);
	expect(batch.headers.get("x-service-rpc-credits")).toBe("25");
	expect((await charged()) - before).toBe(3_125 + 15_625);
});

test("tiers multiply the base credits", async () => {
	const advanced = await fixture.rpc(request("debug_traceTransaction", ["0x01"]));
	expect(advanced.headers.get("x-service-rpc-credits")).toBe("40");
	const large = await fixture.rpc(request("trace_replayTransaction", ["0x01", ["trace"]]));
	expect(large.headers.get("x-service-rpc-credits")).toBe("80");
});

test("an item that the upstream leaves out is filled in, and costs 5", async () => {
	fixture.chain.always({
		answer: ({ items }) => items.slice(0, 1).map(({ id }) => ({ jsonrpc: "2.0", id, result: "0x1" })),
	});
	const answer = await fixture.rpc([request("eth_gasPrice", [], 1), request("eth_feeHistory", ["0x1", "latest", []], 2)]);
	expect(answer.status).toBe(200);
	expect(answer.headers.get("x-service-rpc-credits")).toBe("25");
	const [first, second] = (await answer.json()) as { error?: { code: number }; result?: string }[];
	expect(first?.result).toBe("0x1");
	expect(second?.error?.code).toBe(-32603);
});

test("unknown members are dropped, params go through byte for byte", async () => {
	await fixture.rpc(
		'{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[ {"to":"0x01" , "gas":1e3}, "latest" ],"extra":{"a":1}}',
	);
	const { text = "" } = fixture.chain.requests.at(-1) ?? {};
	expect(text).toContain('"params":[ {"to":"0x01" , "gas":1e3}, "latest" ]');
	expect(text).not.toContain("extra");
});

test("a body that begins with white space or a byte order mark is taken", async () => {
	expect((await fixture.rpc(`\n\t ${JSON.stringify(request("eth_gasPrice"))}`)).status).toBe(200);
	expect((await fixture.rpc(`\uFEFF${JSON.stringify(request("eth_gasPrice"))}`)).status).toBe(200);
});

const PIECES = 40;

/** A result of 5 MB in pieces, ending with `end`. */
function bigAnswer(end: string): void {
	fixture.chain.always(({ items }) => ({
		stream: function* () {
			yield Buffer.from(`{"jsonrpc":"2.0","id":${items[0]?.id},"result":[`);
			for (let index = 0; index < PIECES; index++) yield Buffer.from(`"${"ab".repeat(65_536)}",`);
			yield Buffer.from(end);
		},
	}));
}

test("a big answer passes in pieces, is charged before its last byte, and adds up", async () => {
	bigAnswer('"end"]}');
	const before = fixture.reached;
	const answer = await fixture.rpc('{"id":"big","method":"eth_getLogs","params":[{"fromBlock":"latest"}]}');
	expect(answer.headers.get("x-service-rpc-credits")).toBe("20");
	const text = await answer.text();
	expect(text.startsWith('{"jsonrpc":"2.0","id":"big","result":["abab')).toBe(true);
	expect(text.endsWith('"end"]}')).toBe(true);
	expect((JSON.parse(text) as { result: string[] }).result).toHaveLength(PIECES + 1);
	expect(fixture.reached).toBe(before + 1);
	const [post] = (await fixture.gate.posts()).filter((row) => row.request_id === answer.headers.get("x-request-id"));
	expect(Number(post?.price)).toBe(12_500);
});

test("a batch of big answers passes in pieces, and adds up", async () => {
	const piece = Buffer.alloc(1 << 20, 0x61);
	fixture.chain.always(({ items }) => ({
		stream: function* () {
			for (const [index, { id }] of items.entries()) {
				yield Buffer.from(`${index === 0 ? "[" : ","}{"jsonrpc":"2.0","id":${id},"result":"`);
				for (let count = 0; count < 12; count++) yield piece;
				yield Buffer.from('"}');
			}
			yield Buffer.from("]");
		},
	}));
	const item = (id: number) => `{"id":${id},"method":"eth_getLogs","params":[{"fromBlock":"latest","n":${id}}]}`;
	const answer = await fixture.rpc(`[${item(1)},${item(2)},${item(3)}]`, { headers: { "idempotency-key": "long-batch" } });
	expect(answer.headers.get("x-service-rpc-credits")).toBe("60");
	const items = (await answer.json()) as { id: number; result: string }[];
	expect(items.map(({ id, result }) => [id, result.length])).toEqual([1, 2, 3].map((id) => [id, 12 << 20]));
	// Too long to be kept: the key is free again.
	fixture.chain.always({});
	const again = await fixture.rpc(`[${item(1)},${item(2)},${item(3)}]`, { headers: { "idempotency-key": "long-batch" } });
	expect(again.status).toBe(200);
	expect(again.headers.get("idempotent-replayed")).toBeNull();
});

test("a big answer that breaks off is a reset connection, and costs nothing", async () => {
	bigAnswer('"cut');
	const before = await charged();
	const answer = await fixture.rpc(request("eth_getLogs", [{ fromBlock: "latest" }]));
	const read = await answer.text().then(
		() => "whole",
		() => "cut",
	);
	expect(read).toBe("cut");
	expect(await charged()).toBe(before);
	expect((await fixture.gate.audit()).ok).toBe(true);
});

test("what goes wrong leaves no hold behind", async () => {
	expect(fixture.gate.gateway.budgets.holdsOpen).toBe(0);
	expect((await fixture.gate.audit()).ok).toBe(true);
});
