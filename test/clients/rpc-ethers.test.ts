/** ethers 6 as it is published, with its defaults: it gathers calls into batches. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Contract, ContractFactory, FetchRequest, isError, JsonRpcProvider, parseEther, type Signer, Wallet } from "ethers";
import { ALLOWED, COUNTER_ABI, COUNTER_BYTECODE } from "../support/counter-contract/index.ts";
import { CHAIN_ID, type ClientChain, RECEIVER, SENDER, SENDER_KEY, startClientChain } from "./rpc-fixture.ts";

describe("ethers 6", () => {
	let fixture: ClientChain;
	let provider: JsonRpcProvider;
	let signer: Signer;
	let counter: Contract;

	beforeAll(async () => {
		fixture = await startClientChain();
		const request = new FetchRequest(fixture.url);
		request.setHeader("Authorization", `Bearer ${fixture.key.secret}`);
		// Without its own memory of a quarter of a second: there a second transaction would get the first one's nonce.
		provider = new JsonRpcProvider(request, undefined, { polling: true, pollingInterval: 100, cacheTimeout: -1 });
		signer = new Wallet(SENDER_KEY, provider);
		const deployed = await new ContractFactory(COUNTER_ABI, COUNTER_BYTECODE, signer).deploy();
		await deployed.waitForDeployment();
		counter = new Contract(await deployed.getAddress(), COUNTER_ABI, signer);
	});
	afterAll(async () => {
		provider.destroy();
		await fixture.stop();
	});

	test("finds out the network, and reads", async () => {
		expect((await provider.getNetwork()).chainId).toBe(BigInt(CHAIN_ID));
		expect(await provider.getBalance(RECEIVER, "earliest")).toBe(0n);
		expect((await provider.getBlock(0))?.hash).toMatch(/^0x[0-9a-f]{64}$/);
		expect(await provider.getTransactionReceipt(`0x${"0".repeat(64)}`)).toBeNull();
	});

	test("calls at the same time are one request, and are paid one by one", async () => {
		const before = await fixture.gate.posts();
		const credits = await fixture.credits();
		const numbers = Array.from({ length: 20 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, "0")}`);
		expect(await Promise.all(numbers.map((address) => provider.getCode(address)))).toHaveLength(20);
		expect((await fixture.gate.posts()).length - before.length).toBe(1);
		// Beside them ethers asks for the chain's id.
		expect((await fixture.credits()) - credits).toBe(21 * 20);
	});

	test("sends value and waits for the receipt", async () => {
		const sent = await signer.sendTransaction({ to: RECEIVER, value: parseEther("0.5") });
		const receipt = await sent.wait();
		expect([receipt?.status, receipt?.hash, receipt?.from]).toEqual([1, sent.hash, SENDER]);
		expect(await provider.getBalance(RECEIVER, receipt?.blockNumber)).toBe(parseEther("0.5"));
	});

	test("writes to a contract, estimates, and finds the event in the logs", async () => {
		const gas = await counter.getFunction("add").estimateGas(7);
		expect(gas).toBeGreaterThan(21_000n);
		const receipt = await (await counter.getFunction("add")(7)).wait();
		const logs = await counter.queryFilter("Added", receipt.blockNumber, receipt.blockNumber);
		expect(logs.map((log) => ("args" in log ? [log.args.by, log.args.amount] : null))).toEqual([[SENDER, 7n]]);
		expect(await counter.getFunction("sum")()).toBeGreaterThanOrEqual(7n);
	});

	test("decodes why a call was reverted", async () => {
		const custom = await counter
			.getFunction("add")
			.staticCall(ALLOWED + 1n)
			.catch((error: unknown) => error);
		if (!isError(custom, "CALL_EXCEPTION")) throw custom;
		expect([custom.revert?.name, Array.from(custom.revert?.args ?? [])]).toEqual(["TooMuch", [ALLOWED + 1n, ALLOWED]]);
		const text = await counter
			.getFunction("add")
			.estimateGas(0)
			.catch((error: unknown) => error);
		if (!isError(text, "CALL_EXCEPTION")) throw text;
		expect(text.reason).toBe("nothing to add");
	});

	test("hears events by polling", async () => {
		const heard = Promise.withResolvers<unknown[]>();
		await counter.on("Added", (by: string, amount: bigint) => heard.resolve([by, amount]));
		let done = false;
		void heard.promise.finally(() => {
			done = true;
		});
		// The listener begins at the block that it sees first: until it has seen one, what happens goes unheard.
		while (!done) {
			await (await counter.getFunction("add")(11)).wait();
			await Bun.sleep(20);
		}
		expect(await heard.promise).toEqual([SENDER, 11n]);
		await counter.removeAllListeners();
	});

	test("hears of filters that it needs the option for polling", async () => {
		const request = new FetchRequest(fixture.url);
		request.setHeader("Authorization", `Bearer ${fixture.key.secret}`);
		const plain = new JsonRpcProvider(request, CHAIN_ID, { staticNetwork: true });
		const refused = await plain.send("eth_newBlockFilter", []).catch((error: unknown) => error);
		plain.destroy();
		expect(String(refused)).toContain("400");
		expect(JSON.stringify(refused)).toContain("polling: true");
	});
});
