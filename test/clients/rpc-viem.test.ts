/** viem as it is published, its transport told to gather calls into batches. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
	BaseError,
	ContractFunctionRevertedError,
	createPublicClient,
	createWalletClient,
	type GetContractReturnType,
	getContract,
	type Hex,
	http,
	parseAbi,
	parseEther,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { ALLOWED, COUNTER_BYTECODE } from "../support/counter-contract/index.ts";
import { type ClientChain, RECEIVER, SENDER, SENDER_KEY, startClientChain } from "./rpc-fixture.ts";

const ABI = parseAbi([
	"error TooMuch(uint256 asked, uint256 allowed)",
	"event Added(address indexed by, uint256 amount, uint256 sum)",
	"function sum() view returns (uint256)",
	"function add(uint256 amount) returns (uint256)",
]);

function clientsOf(fixture: ClientChain) {
	const fetchOptions = { headers: { Authorization: `Bearer ${fixture.key.secret}` } };
	const transport = http(fixture.url, { batch: { batchSize: 100 }, fetchOptions, retryCount: 0 });
	const publicClient = createPublicClient({ chain: base, transport, pollingInterval: 100 });
	// A filter is refused with the whole batch that it is in: who listens asks for one thing at a time.
	const listener = createPublicClient({ chain: base, transport: http(fixture.url, { fetchOptions }), pollingInterval: 100 });
	const wallet = createWalletClient({ account: privateKeyToAccount(SENDER_KEY), chain: base, transport });
	return { publicClient, listener, wallet };
}

describe("viem", () => {
	let fixture: ClientChain;
	let clients: ReturnType<typeof clientsOf>;
	let address: Hex;
	let counter: GetContractReturnType<typeof ABI, ReturnType<typeof clientsOf>["publicClient"]>;

	const add = async (amount: bigint) => {
		const hash = await clients.wallet.writeContract({ address, abi: ABI, functionName: "add", args: [amount] });
		return clients.publicClient.waitForTransactionReceipt({ hash });
	};

	beforeAll(async () => {
		fixture = await startClientChain();
		clients = clientsOf(fixture);
		const hash = await clients.wallet.deployContract({ abi: ABI, bytecode: COUNTER_BYTECODE, args: [] });
		const { contractAddress } = await clients.publicClient.waitForTransactionReceipt({ hash });
		if (contractAddress == null) throw new Error("no contract was made");
		address = contractAddress;
		counter = getContract({ address, abi: ABI, client: clients.publicClient });
	});
	afterAll(() => fixture.stop());

	test("asks 250 things in one moment, in batches that fit", async () => {
		const addresses = Array.from({ length: 250 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, "0")}` as Hex);
		const balances = await Promise.all(addresses.map((of) => clients.publicClient.getBalance({ address: of })));
		expect(balances).toHaveLength(250);
	});

	test("reads", async () => {
		const { publicClient } = clients;
		expect(await publicClient.getChainId()).toBe(base.id);
		expect((await publicClient.getBlock({ blockNumber: 0n })).number).toBe(0n);
		expect(await publicClient.getCode({ address: RECEIVER })).toBeUndefined();
		expect(await counter.read.sum()).toBe(0n);
	});

	test("calls at the same time are one request, and are paid one by one", async () => {
		const before = await fixture.gate.posts();
		const credits = await fixture.credits();
		const addresses = Array.from({ length: 20 }, (_, index): Hex => `0x${(index + 1).toString(16).padStart(40, "0")}`);
		await Promise.all(addresses.map((one) => clients.publicClient.getBalance({ address: one })));
		expect((await fixture.gate.posts()).length - before.length).toBe(1);
		expect((await fixture.credits()) - credits).toBe(400);
	});

	test("sends value and waits for the receipt", async () => {
		const before = await clients.publicClient.getBalance({ address: RECEIVER });
		const hash = await clients.wallet.sendTransaction({ to: RECEIVER, value: parseEther("0.5") });
		const receipt = await clients.publicClient.waitForTransactionReceipt({ hash });
		expect([receipt.status, receipt.transactionHash]).toEqual(["success", hash]);
		expect((await clients.publicClient.getBalance({ address: RECEIVER })) - before).toBe(parseEther("0.5"));
	});

	test("writes to a contract, estimates, and finds the event in the logs", async () => {
		const call = { address, abi: ABI, functionName: "add", args: [7n], account: SENDER } as const;
		expect(await clients.publicClient.estimateContractGas(call)).toBeGreaterThan(21_000n);
		const { blockNumber } = await add(7n);
		const logs = await counter.getEvents.Added({ by: SENDER }, { fromBlock: blockNumber, toBlock: blockNumber });
		expect(logs.map(({ args }) => [args.by, args.amount])).toEqual([[SENDER, 7n]]);
	});

	test("decodes why a call was reverted", async () => {
		const refused = async (amount: bigint) => {
			const error = await clients.publicClient
				.simulateContract({ address, abi: ABI, functionName: "add", args: [amount], account: SENDER })
				.catch((thrown: unknown) => thrown);
			const cause = error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null;
			if (!(cause instanceof ContractFunctionRevertedError)) throw error;
			return cause;
		};
		const custom = await refused(ALLOWED + 1n);
		expect([custom.data?.errorName, custom.data?.args]).toEqual(["TooMuch", [ALLOWED + 1n, ALLOWED]]);
		expect((await refused(0n)).reason).toBe("nothing to add");
	});

	test("hears events: filters are refused, and it turns to the logs by itself", async () => {
		const heard = Promise.withResolvers<unknown[]>();
		const stop = clients.listener.watchContractEvent({
			address,
			abi: ABI,
			eventName: "Added",
			onLogs: ([log]) => heard.resolve([log?.args.by, log?.args.amount]),
			onError: heard.reject,
		});
		// The watcher begins at the block that it sees first: until it has seen one, what happens goes unheard.
		let done = false;
		void heard.promise.finally(() => {
			done = true;
		});
		while (!done) {
			await add(11n);
			await Bun.sleep(20);
		}
		expect(await heard.promise).toEqual([SENDER, 11n]);
		stop();
	});
});
