/**
 * Several networks at once: real nodes with the chain ids of some, and nodes of Starknet and zkSync that answer as the
 * public specifications of their protocols say.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "../support/anvil.ts";
import { request, rpcUpstream } from "../support/rpc-gateway.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";

const CHAIN_IDS = { "arbitrum-mainnet": 42_161, "linea-sepolia": 59_141, "optimism-mainnet": 10, "polygon-amoy": 80_002 };
const ETH = "0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7";

/** A block with its transactions' hashes, as starknet_getBlockWithTxHashes answers (starknet_api_openrpc.json). */
const STARKNET_BLOCK = {
	status: "ACCEPTED_ON_L1",
	block_hash: "0x47c3637b57c2b079b93c61539950c17e868a28f46cdef28f88521067f21e943",
	parent_hash: "0x0",
	block_number: 0,
	new_root: "0x21870ba80540e7831fb21c591ee93481f5ae1bb71ff85a86ddd465be4eddee6",
	timestamp: 1_637_069_048,
	sequencer_address: "0x0",
	l1_gas_price: { price_in_fri: "0x0", price_in_wei: "0x0" },
	starknet_version: "",
	transactions: ["0xe0a2e45a80bb827967e096bcf58874f6c01c191e0a0530624cba66a508ae75"],
};

/** Of zks_getBlockDetails: the documentation of the zks namespace. */
const ZKS_BLOCK = { number: 1, l1BatchNumber: 1, timestamp: 1_676_384_542, l1TxCount: 0, l2TxCount: 1, status: "verified" };

describe("networks", () => {
	const anvils: Anvil[] = [];
	let starknet: ScriptedChain;
	let zksync: ScriptedChain;
	let gate: RunningGateway;

	const ask = async (network: string, body: unknown) => {
		const answer = await gate.call("POST", `/crypto/rpc/${network}`, body);
		const { status, headers } = answer;
		return {
			status,
			credits: Number(headers.get("x-service-rpc-credits")),
			body: (await answer.json()) as Record<string, unknown>,
		};
	};

	beforeAll(async () => {
		anvils.push(...(await Promise.all(Object.values(CHAIN_IDS).map((chainId) => startAnvil({ chainId })))));
		starknet = await startScriptedChain("0x534e5f4d41494e");
		zksync = await startScriptedChain("0x144");
		const real = Object.keys(CHAIN_IDS).map((slug, index) => [slug, anvils[index]?.url ?? ""]);
		const all = [
			...real,
			["starknet-mainnet", starknet.url],
			["zksync-mainnet", zksync.url],
			["base-mainnet", anvils[0]?.url ?? ""],
		];
		const networks = Object.fromEntries(
			all.map(([slug = "", url = ""]) => [slug, { enabled: true, upstreams: [rpcUpstream(url)] }]),
		);
		gate = await startGateway({ config: { rpc: { networks } } });
	});
	afterAll(async () => {
		await gate.stop();
		await Promise.all([...anvils.map((anvil) => anvil.kill()), starknet.stop(), zksync.stop()]);
	});

	test("each is served by its own nodes, and one whose node is of another chain is offline", async () => {
		for (const [slug, chainId] of Object.entries(CHAIN_IDS)) {
			const { status, credits, body } = await ask(slug, request("eth_chainId"));
			expect([slug, status, credits, body.result]).toEqual([slug, 200, 20, `0x${chainId.toString(16)}`]);
		}
		expect(await ask("base-mainnet", request("eth_chainId"))).toMatchObject({
			status: 503,
			body: { code: "RPC_NETWORK_OFFLINE" },
		});
		const { online } = (await (await gate.call("GET", "/crypto/rpc/networks")).json()) as { online: string[] };
		expect(online).toEqual([...Object.keys(CHAIN_IDS), "starknet-mainnet", "zksync-mainnet"].toSorted());
	});

	test("a method of another family of the same machine is the node's to refuse, and costs what an error costs", async () => {
		const { status, credits, body } = await ask("polygon-amoy", request("zks_L1BatchNumber"));
		expect([status, credits, (body.error as { code: number }).code]).toEqual([200, 5, -32_601]);
	});

	test("Starknet: parameters by name and by position, errors of its own, and no method of the EVM", async () => {
		starknet.result("starknet_getBlockWithTxHashes", STARKNET_BLOCK);
		starknet.result("starknet_call", ["0x0", "0x0"]);
		const named = await ask("starknet-mainnet", {
			...request("starknet_getBlockWithTxHashes"),
			params: { block_id: { block_number: 0 } },
		});
		expect([named.credits, named.body.result]).toEqual([20, STARKNET_BLOCK]);
		const call = { contract_address: ETH, entry_point_selector: "0x2e4263", calldata: [] };
		const placed = await ask("starknet-mainnet", request("starknet_call", [call, "latest"]));
		expect(placed.body.result).toEqual(["0x0", "0x0"]);
		expect(starknet.requests.at(-1)?.items[0]?.params).toEqual([call, "latest"]);

		const error = { code: 20, message: "Contract not found" };
		starknet.next({ answer: ({ items: [item] }) => ({ jsonrpc: "2.0", id: item?.id, error }) });
		const failed = await ask("starknet-mainnet", request("starknet_getNonce", ["latest", "0x1"]));
		expect([failed.credits, failed.body.error]).toEqual([5, error]);

		const reached = starknet.requests.length;
		for (const method of ["eth_blockNumber", "starknet_subscribeNewHeads", "zks_L1ChainId"])
			expect(await ask("starknet-mainnet", request(method))).toMatchObject({ status: 400 });
		expect(starknet.requests).toHaveLength(reached);
	});

	test("a send of Starknet goes out once and is audited with the hash that its answer tells", async () => {
		const hash = `0x${"5".repeat(63)}`;
		starknet.result("starknet_addInvokeTransaction", { transaction_hash: hash });
		const invoke = { type: "INVOKE", version: "0x3", sender_address: ETH, calldata: [], signature: [], nonce: "0x0" };
		const before = starknet.requests.length;
		const sent = await ask("starknet-mainnet", {
			...request("starknet_addInvokeTransaction"),
			params: { invoke_transaction: invoke },
		});
		expect(sent.body.result).toEqual({ transaction_hash: hash });
		expect(starknet.requests.length - before).toBe(1);
		await gate.openedStore.store.settled();
		const rows = await gate.admin.db.selectFrom("rpc_sends").selectAll().execute();
		expect(rows).toEqual([
			expect.objectContaining({
				network: "starknet-mainnet",
				method: "starknet_addInvokeTransaction",
				tx_hash: hash,
				outcome: "accepted",
			}),
		]);
	});

	test("zkSync: its own methods beside those of the EVM, at its own price, in one batch", async () => {
		zksync.result("zks_getBlockDetails", ZKS_BLOCK);
		zksync.result("zks_estimateFee", {
			gas_limit: "0x1",
			gas_per_pubdata_limit: "0x2",
			max_fee_per_gas: "0x3",
			max_priority_fee_per_gas: "0x0",
		});
		const before = zksync.requests.length;
		const batch = [
			request("zks_getBlockDetails", [1], "a"),
			request("zks_estimateFee", [{}], "b"),
			request("eth_gasPrice", [], "c"),
		];
		const answer = await gate.call("POST", "/crypto/rpc/zksync-mainnet", batch);
		expect(answer.headers.get("x-service-rpc-credits")).toBe("90");
		const items = (await answer.json()) as { id: string; result: unknown }[];
		expect(items.map(({ id }) => id)).toEqual(["a", "b", "c"]);
		expect(items[0]?.result).toEqual(ZKS_BLOCK);
		expect(zksync.requests.length - before).toBe(1);
	});

	test("the books are clean after all of it", async () => {
		expect(gate.gateway.budgets.holdsOpen).toBe(0);
		expect((await gate.audit()).ok).toBe(true);
	});
});
