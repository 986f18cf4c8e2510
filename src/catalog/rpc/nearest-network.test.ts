import { expect, test } from "bun:test";
import { join } from "node:path";
import { loadRpcCatalog } from "./load.ts";
import { nearestNetwork } from "./nearest-network.ts";

const catalog = loadRpcCatalog(join(import.meta.dir, "../../../catalog/rpc"));
const offered = [...catalog.networks.keys()];
const nearest = (name: string) => nearestNetwork(name, catalog, offered);

test.each([
	["base", "base-mainnet"],
	["BASE", "base-mainnet"],
	["mainnet-base", "base-mainnet"],
	["baseMainnet", "base-mainnet"],
	["base mainnet", "base-mainnet"],
	["eth", "ethereum-mainnet"],
	["mainnet", "ethereum-mainnet"],
	["eth-mainnet", "ethereum-mainnet"],
	["sepolia", "ethereum-sepolia"],
	["holesky", "ethereum-holesky"],
	["eth-testnet", null],
	["arbitrum-one", "arbitrum-mainnet"],
	["arb-sepolia", "arbitrum-sepolia"],
	["opt-mainnet", null],
	["matic", "polygon-mainnet"],
	["bnb", "bsc-mainnet"],
	["fuji", null],
	["avax-fuji", "avalanche-fuji"],
	["base-mainet", "base-mainnet"],
	["abse-mainnet", "base-mainnet"],
	["etherium-mainnet", "ethereum-mainnet"],
	["1", "ethereum-mainnet"],
	["0x2105", "base-mainnet"],
	["eip155:8453", "base-mainnet"],
	["eip155:999999", null],
	["999999", null],
	["bitcoin", null],
	["", null],
	["base-mainnet-archive-node", null],
	["x".repeat(10_000), null],
])("%p means %p", (name, meant) => {
	expect(nearest(name)).toBe(meant);
});

test("a network that is not offered is not named", () => {
	expect(nearest("solana")).toBeNull();
	expect(nearestNetwork("sol", catalog, [...offered, "solana-mainnet"])).toBe("solana-mainnet");
	expect(nearestNetwork("base", catalog, ["ethereum-mainnet"])).toBeNull();
});
