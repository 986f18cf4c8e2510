import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Chain } from "./chain.ts";
import { ChainError, ChainRefusedError, WrongChainError } from "./chain-errors.ts";

/** What the node answers to a method: a result, an error, or a response of its own. */
let answers: Record<string, { result: unknown } | { error: object } | (() => Response)>;
let asked: string[];
let node: ReturnType<typeof Bun.serve>;

beforeAll(() => {
	node = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const { method, id } = (await request.json()) as { method: string; id: number };
			asked.push(method);
			const answer = answers[method] ?? { error: { code: -32_601, message: "no such method" } };
			return typeof answer === "function" ? answer() : Response.json({ jsonrpc: "2.0", id, ...answer });
		},
	});
});
beforeEach(() => {
	asked = [];
	answers = { eth_chainId: { result: "0x2105" } };
});
afterAll(() => node.stop(true));

const chain = () => new Chain({ id: 8453, rpcUrl: `http://127.0.0.1:${node.port}/v2/secret-key`, timeoutMs: 5_000 });

async function fault(promise: Promise<unknown>): Promise<ChainError> {
	const error = await promise.then(
		() => null,
		(thrown: unknown) => thrown,
	);
	if (!(error instanceof ChainError)) throw new Error(`not a fault of the chain: ${error}`);
	return error;
}

test("which chain it is, is asked once before all else, and again where the answer was wrong", async () => {
	const one = chain();
	answers.eth_getCode = { result: "0x60" };
	expect([await one.hasCode("0x1", "latest"), await one.hasCode("0x1", 5)]).toEqual([true, true]);
	expect(asked).toEqual(["eth_chainId", "eth_getCode", "eth_getCode"]);
	answers.eth_chainId = { result: "0x1" };
	const other = chain();
	expect(await fault(other.hasCode("0x1", "latest"))).toBeInstanceOf(WrongChainError);
	expect(asked.slice(3)).toEqual(["eth_chainId"]);
	answers.eth_chainId = { result: "0x2105" };
	expect(await other.hasCode("0x1", "latest")).toBe(true);
});

test("a block is read, and one that is not there is null", async () => {
	answers.eth_getBlockByNumber = { result: { number: "0x10", hash: "0xab", timestamp: "0x65e00000" } };
	expect(await chain().block(16)).toEqual({ number: 16, hash: "0xab", timestamp: 0x65e0_0000 });
	answers.eth_getBlockByNumber = { result: null };
	expect(await chain().block(17)).toBeNull();
});

test("a revert, a refusal and a node that cannot answer now are told apart", async () => {
	const call = async (error: object) => {
		answers.eth_call = { error };
		const thrown = await fault(chain().call({ to: "0x1", data: "0x" }, "latest"));
		return thrown instanceof ChainRefusedError ? (thrown.reverted ? "reverted" : "refused") : "not now";
	};
	expect(await call({ code: 3, message: "execution reverted: no", data: "0x08c379a0" })).toBe("reverted");
	expect(await call({ code: -32_000, message: "execution reverted" })).toBe("reverted");
	expect(await call({ code: -32_000, message: "missing trie node" })).toBe("refused");
	expect(await call({ code: -32_602, message: "bad params" })).toBe("refused");
	expect(await call({ code: -32_603, message: "internal error" })).toBe("not now");
	expect(await call({ code: 429, message: "slow down" })).toBe("not now");
});

test("answers that are none are faults", async () => {
	for (const result of [null, 1, "text", "0xabc", { a: 1 }, "0x".padEnd(40, "f")]) {
		answers.eth_chainId = { result };
		expect(await fault(chain().checkId())).toBeInstanceOf(ChainError);
	}
	answers.eth_chainId = { result: "0x2105" };
	for (const result of [1, null, "0xzz", ["0x"]]) {
		answers.eth_call = { result };
		expect(await fault(chain().call({ data: "0x" }, "latest"))).toBeInstanceOf(ChainError);
	}
	for (const result of [{}, { number: "0x1" }, { number: "0x1", hash: "0xab", timestamp: "soon" }, "0x1"]) {
		answers.eth_getBlockByNumber = { result };
		expect(await fault(chain().block(1))).toBeInstanceOf(ChainError);
	}
});

test("no fault tells the node's address, or a secret of it, even where the node does", async () => {
	answers.eth_chainId = () => new Response("<html>secret-key is no key", { status: 401 });
	const refused = await fault(chain().checkId());
	answers.eth_chainId = () => new Response("not json");
	const garbled = await fault(chain().checkId());
	const nobody = new Chain({ id: 1, rpcUrl: "http://127.0.0.1:9/v2/secret-key", timeoutMs: 5_000 });
	const away = await fault(nobody.checkId());
	for (const { message } of [refused, garbled, away]) {
		expect(message).toStartWith("eth_chainId: ");
		expect(message).not.toContain("127.0.0.1");
		expect(message).not.toContain("secret-key");
	}
});

test("nothing is sent on to another address", async () => {
	answers.eth_getCode = () => {
		answers.eth_getCode = { result: "0x60" };
		return new Response(null, { status: 307, headers: { location: "/elsewhere" } });
	};
	await fault(chain().hasCode("0x1", "latest"));
	expect(asked).toEqual(["eth_chainId", "eth_getCode"]);
});
