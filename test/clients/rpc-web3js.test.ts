/** web3.js as it is published. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Contract, HttpProvider, Web3 } from "web3";
import { ALLOWED, COUNTER_BYTECODE } from "../support/counter-contract/index.ts";
import { CHAIN_ID, type ClientChain, RECEIVER, SENDER, SENDER_KEY, startClientChain } from "./rpc-fixture.ts";

const uint = (name: string) => ({ name, type: "uint256", internalType: "uint256" }) as const;
const ABI = [
	{ type: "error", name: "TooMuch", inputs: [uint("asked"), uint("allowed")] },
	{
		type: "event",
		name: "Added",
		anonymous: false,
		inputs: [
			{ indexed: true, internalType: "address", name: "by", type: "address" },
			{ indexed: false, ...uint("amount") },
			{ indexed: false, ...uint("sum") },
		],
	},
	{ type: "function", name: "sum", stateMutability: "view", inputs: [], outputs: [uint("")] },
	{ type: "function", name: "add", stateMutability: "nonpayable", inputs: [uint("amount")], outputs: [uint("")] },
] as const;

describe("web3.js", () => {
	let fixture: ClientChain;
	let web3: Web3;
	let counter: Contract<typeof ABI>;

	beforeAll(async () => {
		fixture = await startClientChain();
		web3 = new Web3(
			new HttpProvider(fixture.url, { providerOptions: { headers: { Authorization: `Bearer ${fixture.key.secret}` } } }),
		);
		web3.eth.accounts.wallet.add(SENDER_KEY);
		const draft = new web3.eth.Contract(ABI);
		const deployed = await draft.deploy({ data: COUNTER_BYTECODE }).send({ from: SENDER });
		counter = new web3.eth.Contract(ABI, deployed.options.address);
		counter.setProvider(web3.currentProvider);
	});
	afterAll(() => fixture.stop());

	test("reads, alone and in a batch of its own", async () => {
		expect(await web3.eth.getChainId()).toBe(BigInt(CHAIN_ID));
		expect(await web3.eth.getBalance(RECEIVER, "earliest")).toBe(0n);
		const before = await fixture.gate.posts();
		const batch = new web3.BatchRequest();
		const asked = ["eth_chainId", "eth_blockNumber"].map((method) => batch.add({ jsonrpc: "2.0", method, params: [] }));
		await batch.execute();
		expect(await asked[0]).toBe(`0x${CHAIN_ID.toString(16)}`);
		expect((await fixture.gate.posts()).length - before.length).toBe(1);
	});

	test("sends value and waits for the receipt", async () => {
		const value = web3.utils.toWei("0.5", "ether");
		const receipt = await web3.eth.sendTransaction({ from: SENDER, to: RECEIVER, value });
		expect([receipt.status, receipt.from]).toEqual([1n, SENDER.toLowerCase()]);
		expect(await web3.eth.getBalance(RECEIVER)).toBe(BigInt(value));
	});

	test("writes to a contract, estimates, and finds the event in the logs", async () => {
		expect(await counter.methods.add(7).estimateGas({ from: SENDER })).toBeGreaterThan(21_000n);
		const { blockNumber } = await counter.methods.add(7).send({ from: SENDER });
		const logs = await counter.getPastEvents("Added", { fromBlock: blockNumber, toBlock: blockNumber });
		expect(logs.map((log) => (typeof log === "string" ? log : [log.returnValues.by, log.returnValues.amount]))).toEqual([
			[SENDER, 7n],
		]);
		expect(await counter.methods.sum().call()).toBe(7n);
	});

	test("decodes why a call was reverted", async () => {
		const refused = async (amount: bigint) =>
			(await counter.methods
				.add(amount)
				.call({ from: SENDER })
				.catch((error: unknown) => error)) as {
				cause?: { message?: string; errorName?: string; errorArgs?: Record<string, unknown> };
			};
		const custom = (await refused(ALLOWED + 1n)).cause;
		expect([custom?.errorName, custom?.errorArgs?.asked, custom?.errorArgs?.allowed]).toEqual(["TooMuch", ALLOWED + 1n, ALLOWED]);
		expect((await refused(0n)).cause?.message).toContain("nothing to add");
	});
});
