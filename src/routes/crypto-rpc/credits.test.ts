import { expect, test } from "bun:test";
import { join } from "node:path";
import { creditPrice, loadRpcCatalog } from "../../catalog/rpc/index.ts";
import type { RpcMethod, RpcNetwork } from "../../catalog/rpc/types.ts";
import { batchCredits, costText, itemCredits, worstCredits } from "./credits.ts";

const catalog = loadRpcCatalog(join(import.meta.dir, "../../../catalog/rpc"));
const network = (slug: string) => catalog.networks.get(slug) as RpcNetwork;
const method = (name: string) => (catalog.resolve(name) as { method: RpcMethod }).method;
const value = Buffer.from("1");

test("an item costs the network's base times its tier, and one with an error five", () => {
	const [base, zksync] = [network("base-mainnet"), network("zksync-mainnet")];
	expect(itemCredits(base, method("eth_call"), "result")).toBe(20);
	expect(itemCredits(zksync, method("txpool_content"), "result-stream")).toBe(120);
	for (const kind of ["error", "error-stream", "missing"] as const) expect(itemCredits(zksync, method("eth_call"), kind)).toBe(5);
});

test("a batch costs the sum of its items, and at worst the sum of their tiers", () => {
	const methods = ["eth_call", "debug_traceCall", "trace_replayTransaction", "eth_chainId"].map(method);
	expect(worstCredits(network("zksync-sepolia"), methods)).toBe(30 + 60 + 120 + 30);
	expect(
		batchCredits(network("zksync-sepolia"), methods, [
			{ kind: "result", value },
			{ kind: "error", value, code: -32000 },
			{ kind: "missing" },
			{ kind: "result", value },
		]),
	).toBe(30 + 5 + 5 + 30);
});

test("a cost has eight decimals, rounded half up", () => {
	const price = creditPrice(0.000000625);
	expect(price as number).toBe(625_000);
	expect(costText(5, price)).toBe("0.00000313");
	expect(costText(20, price)).toBe("0.00001250");
	expect(costText(25, price)).toBe("0.00001563");
	expect(costText(0, price)).toBe("0.00000000");
	expect(costText(12_000, creditPrice(1_000))).toBe("12000000.00000000");
	expect(costText(1, creditPrice(0.000000004999))).toBe("0.00000000");
	expect(costText(1, creditPrice(0.000000005))).toBe("0.00000001");
});
