import { expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CatalogError } from "../catalog-error.ts";
import { loadRpcCatalog } from "./index.ts";
import type { RpcMethod, RpcRefusal } from "./types.ts";

const DIR = join(import.meta.dir, "../../../catalog/rpc");
const catalog = loadRpcCatalog(DIR);

function method(name: string): RpcMethod {
	const found = catalog.resolve(name);
	if (!("method" in found)) throw new Error(`${name} is refused: ${found.refusal.text}`);
	return found.method;
}

function refusal(name: string): RpcRefusal {
	const found = catalog.resolve(name);
	if (!("refusal" in found)) throw new Error(`${name} is forwarded`);
	return found.refusal;
}

const STANDARD = `eth_call eth_getBalance eth_blockNumber eth_sendRawTransaction eth_getLogs eth_getTransactionReceipt
	eth_estimateGas net_version web3_clientVersion eth_chainId eth_sendUserOperation eth_estimateUserOperationGas
	eth_gasPrice eth_feeHistory eth_getTransactionCount eth_syncing eth_protocolVersion eth_maxPriorityFeePerGas
	eth_blobBaseFee eth_baseFee eth_getCode eth_getStorageAt eth_getProof eth_createAccessList eth_getBlockByNumber
	eth_getBlockByHash eth_getHeaderByNumber eth_getHeaderByHash eth_getBlockTransactionCountByNumber
	eth_getBlockTransactionCountByHash eth_getUncleCountByBlockNumber eth_getUncleCountByBlockHash
	eth_getUncleByBlockNumberAndIndex eth_getUncleByBlockHashAndIndex eth_getTransactionByHash
	eth_getTransactionByBlockHashAndIndex eth_getTransactionByBlockNumberAndIndex eth_getRawTransactionByHash
	eth_getRawTransactionByBlockHashAndIndex eth_getRawTransactionByBlockNumberAndIndex eth_getBlockReceipts
	net_listening net_peerCount web3_sha3 eth_getUserOperationByHash eth_getUserOperationReceipt
	eth_supportedEntryPoints eth_getTransactionReceiptsByBlock eth_getRootHash
	zks_estimateFee zks_L1ChainId zks_somethingNew linea_estimateGas linea_getProof bor_getAuthor bor_getRootHash
	starknet_specVersion starknet_chainId starknet_blockNumber starknet_blockHashAndNumber starknet_syncing
	starknet_getBlockWithTxHashes starknet_getBlockWithTxs starknet_getBlockWithReceipts starknet_getStateUpdate
	starknet_getBlockTransactionCount starknet_getTransactionByBlockIdAndIndex starknet_traceBlockTransactions
	starknet_getStorageAt starknet_getNonce starknet_getClass starknet_getClassHashAt starknet_getClassAt starknet_call
	starknet_getStorageProof starknet_getEvents starknet_getCompiledCasm starknet_getTransactionByHash
	starknet_getTransactionReceipt starknet_traceTransaction starknet_getTransactionStatus starknet_getMessagesStatus
	starknet_estimateFee starknet_estimateMessageFee starknet_simulateTransactions starknet_addInvokeTransaction
	starknet_addDeclareTransaction starknet_addDeployAccountTransaction starknet_somethingNew`.split(/\s+/);

const ADVANCED = `trace_block trace_call trace_transaction trace_callMany trace_rawTransaction trace_get trace_filter
	debug_traceCall debug_traceTransaction debug_traceBlockByHash debug_traceBlockByNumber debug_traceBlock
	debug_getRawBlock debug_getRawHeader debug_getRawReceipts debug_getRawTransaction debug_storageRangeAt
	eth_simulateV1 txpool_inspect txpool_status arbtrace_block arbtrace_call arbtrace_callMany arbtrace_transaction
	arbtrace_get arbtrace_filter arbtrace_somethingNew`.split(/\s+/);

const LARGE = `trace_replayBlockTransactions trace_replayTransaction txpool_content txpool_contentFrom
	arbtrace_replayBlockTransactions arbtrace_replayTransaction arbtrace_replaySomethingNew`.split(/\s+/);

const BLOCKED: Record<RpcRefusal["reason"], readonly string[]> = {
	websocket_only: ["eth_subscribe", "eth_unsubscribe", "starknet_subscribeNewHeads", "starknet_unsubscribe", "accountSubscribe"],
	stateful_filter: [
		...["eth_newFilter", "eth_getFilterChanges", "eth_getFilterLogs"],
		...["eth_uninstallFilter", "eth_newBlockFilter", "eth_newPendingTransactionFilter"],
	],
	key_or_miner: [
		...["eth_sign", "eth_accounts", "eth_mining", "eth_hashrate", "eth_getWork", "eth_submitWork", "eth_submitHashrate"],
		...["eth_sendTransaction", "eth_signTransaction", "eth_signTypedData", "eth_signTypedData_v4", "eth_coinbase"],
		...["eth_requestAccounts", "personal_sign", "personal_unlockAccount", "wallet_addEthereumChain", "miner_start"],
	],
	not_allowlisted: [
		...["admin_peers", "engine_newPayloadV4", "clique_propose", "db_putString", "shh_post", "les_serverInfo", "rpc_modules"],
		...["hardhat_reset", "anvil_mine", "evm_revert", "debug_setHead", "debug_chaindbCompact", "debug_freezeClient"],
		...["eth_sendRawTransactionSync", "eth_sendRawTransactionConditional", "eth_sendPrivateTransaction"],
		...["eth_sendBundle", "eth_callBundle", "eth_", "eth_getbalance", "ETH_CALL", " eth_call", "eth_call ", "eth_call\0"],
		...["zks_", "starknet_", "zks_a b", "zks_\ud800", "zks_é", `zks_${"a".repeat(128)}`, "", "toString", "__proto__"],
		...["trace_unknown", "txpool_unknown", "parity_pendingTransactions", "rpc.discover", "net_peers"],
	],
	wrong_family: [],
};

test.each(STANDARD)("%s costs the base credits", (name) => {
	expect(method(name)).toMatchObject({ name, multiplier: 1, vm: name.startsWith("starknet_") ? "starknet" : "evm" });
});

test.each(ADVANCED)("%s costs twice the base credits", (name) => {
	expect(method(name)).toMatchObject({ name, multiplier: 2, vm: "evm" });
});

test.each(LARGE)("%s costs four times the base credits", (name) => {
	expect(method(name)).toMatchObject({ name, multiplier: 4, vm: "evm" });
});

for (const [reason, names] of Object.entries(BLOCKED))
	test.each(names)(`%j is refused as ${reason}`, (name) => {
		expect(refusal(name).reason).toBe(reason as RpcRefusal["reason"]);
	});

test("every method of the data is forwarded and every blocked name is not", () => {
	const data = JSON.parse(readFileSync(join(DIR, "methods.json"), "utf8"));
	for (const { name, vm } of data.methods) expect(method(name).vm).toBe(vm);
	for (const { names = [], prefixes = [] } of data.blocked)
		for (const name of [...names, ...prefixes.map((prefix: string) => `${prefix}X`)]) expect(refusal(name).text).not.toBe("");
	for (const { name, known = [] } of data.prefixes) for (const one of known) expect(method(one).name).toStartWith(name);
});

test("a filter's refusal says what an ethers provider has to be told", () => {
	expect(refusal("eth_newFilter").hint).toContain("new JsonRpcProvider(url, network, {polling: true})");
});

test("what broadcasts is known as a send, by whatever prefix it comes", () => {
	expect(method("eth_sendRawTransaction")).toMatchObject({ send: "raw-transaction", sendHashAt: null });
	expect(method("eth_sendUserOperation")).toMatchObject({ send: "other", sendHashAt: null });
	expect(method("zks_sendRawTransactionWithDetailedOutput")).toMatchObject({ send: "other", sendHashAt: "transactionHash" });
	for (const name of ["starknet_addInvokeTransaction", "starknet_addSomethingNew"])
		expect(method(name)).toMatchObject({ send: "other", sendHashAt: "transaction_hash" });
	for (const name of [...STANDARD, ...ADVANCED, ...LARGE]) {
		const { send, cache } = method(name);
		expect(send !== null).toBe(/_(send|add)/.test(name));
		if (send !== null) expect(cache.kind).toBe("never");
	}
});

test("a call's blocks and the block of what was found by hash are known by their places", () => {
	expect(method("eth_getBalance")).toMatchObject({ cache: { kind: "by-block" }, blocks: [{ position: 1, name: null }] });
	expect(method("eth_getLogs").blocks).toEqual([{ position: 0, name: null, members: ["fromBlock", "toBlock"] }]);
	expect(method("starknet_call").blocks).toEqual([{ position: 1, name: "block_id", members: null }]);
	expect(method("eth_getBlockByHash").cache).toEqual({ kind: "by-hash", blockNumberAt: "number" });
	expect(method("debug_traceTransaction").cache).toEqual({ kind: "by-hash", blockNumberAt: null });
	expect(method("starknet_specVersion").cache).toEqual({ kind: "constant", maxAgeSeconds: 3600 });
	for (const name of [...STANDARD, ...ADVANCED, ...LARGE])
		if (method(name).cache.kind === "by-block") expect(method(name).blocks).not.toBeEmpty();
});

test("traces are slow and need an upstream that traces", () => {
	expect(method("arbtrace_block")).toMatchObject({ slow: true, capability: "trace" });
	expect(method("debug_traceCall")).toMatchObject({ slow: true, capability: "debug" });
	expect(method("txpool_status")).toMatchObject({ slow: false, capability: "txpool" });
	expect(method("eth_call")).toMatchObject({ slow: false, capability: null });
});

test("23 networks are there, in order, and four more where they are switched on", () => {
	const slugs = [...catalog.networks.keys()];
	expect(slugs).toHaveLength(23);
	expect(slugs).toEqual(slugs.toSorted());
	expect([...catalog.optionalNetworks.keys()]).toEqual([
		"robinhood-mainnet",
		"robinhood-testnet",
		"solana-devnet",
		"solana-mainnet",
	]);
	expect(catalog.networks.get("base-mainnet")).toEqual({
		slug: "base-mainnet",
		family: "base",
		vm: "evm",
		kind: "mainnet",
		chainIdHex: "0x2105",
		baseCredits: 20,
	});
	expect(catalog.networks.get("zksync-sepolia")?.baseCredits).toBe(30);
	expect(catalog.networks.get("starknet-mainnet")).toMatchObject({ vm: "starknet", chainIdHex: "0x534e5f4d41494e" });
});

test("a fault in the data is told with its file and path", () => {
	const dir = mkdtempSync(join(tmpdir(), "rpc-catalog-"));
	try {
		cpSync(DIR, dir, { recursive: true });
		const file = join(dir, "methods.json");
		const data = JSON.parse(readFileSync(file, "utf8"));
		const faultOf = (change: (copy: typeof data) => void): CatalogError => {
			const copy = structuredClone(data);
			change(copy);
			writeFileSync(file, JSON.stringify(copy));
			try {
				loadRpcCatalog(dir).resolve("eth_call");
			} catch (fault) {
				if (fault instanceof CatalogError) return fault;
			}
			throw new Error("no fault was found");
		};
		expect(faultOf((copy) => (copy.methods[3].tier = "huge")).path).toBe("methods[3].tier");
		expect(faultOf((copy) => (copy.methods[0].cach = "never")).path).toBe("methods[0].cach");
		expect(faultOf((copy) => copy.methods.push(copy.methods[0])).message).toContain("is there twice");
		expect(faultOf((copy) => copy.blocked[0].names.push("eth_call")).message).toContain("is there twice");
		expect(() => loadRpcCatalog(join(dir, "elsewhere"))).toThrow("cannot be read");
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
});
