import { describe, expect, test } from "bun:test";
import { Transaction, Wallet } from "ethers";
import { type Hex, keccak256, type TransactionSerializable } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { rawTransactionOf, transactionHashes } from "./transaction-hash.ts";

const KEY: Hex = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const account = privateKeyToAccount(KEY);
const wallet = new Wallet(KEY);
const TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const common = { chainId: 8453, nonce: 7, to: TO, gas: 21_000n, value: 5n, data: `0x${"ab".repeat(300)}` } as const;

async function ofViem(transaction: TransactionSerializable): Promise<void> {
	const raw = await account.signTransaction(transaction);
	expect(await transactionHashes(raw)).toEqual({ rawHash: keccak256(raw), txHash: Transaction.from(raw).hash });
}

describe("the hash of a signed transaction", () => {
	test("is that of its bytes for legacy transactions and types 1, 2 and 4, as ethers computes it", async () => {
		await ofViem({ ...common, type: "legacy", gasPrice: 1n });
		await ofViem({ ...common, type: "legacy", gasPrice: 1n, chainId: undefined });
		await ofViem({
			...common,
			type: "eip2930",
			gasPrice: 1n,
			accessList: [{ address: TO, storageKeys: [`0x${"01".repeat(32)}`] }],
		});
		await ofViem({ ...common, ...fees, type: "eip1559" });
		await ofViem({ ...common, ...fees, type: "eip1559", to: null, data: `0x${"60".repeat(100_000)}` });
		const authorization = await account.signAuthorization({ contractAddress: TO, chainId: 8453, nonce: 8 });
		await ofViem({ ...common, ...fees, type: "eip7702", authorizationList: [authorization] });
	});

	test("of one with blobs is that of the transaction alone, however many blobs are around it", async () => {
		for (const count of [1, 3]) {
			const blobs = Array.from({ length: count }, (_, index) => ({
				data: `0x${(index + 1).toString(16).padStart(2, "0").repeat(131_072)}`,
				commitment: `0x${"c1".repeat(48)}`,
				proof: `0x${"b2".repeat(48)}`,
			}));
			const raw = await wallet.signTransaction({
				...{ type: 3, chainId: 1, nonce: 1, to: TO, gasLimit: 21_000, value: 1, data: "0x1234", ...fees },
				...{ maxFeePerBlobGas: 1, blobVersionedHashes: blobs.map((_, index) => `0x01${"0".repeat(61)}${index}`), blobs },
			});
			expect(raw.length).toBeGreaterThan(count * 262_144);
			const signed = Transaction.from(raw);
			const hashes = await transactionHashes(raw);
			expect(hashes).toEqual({ rawHash: keccak256(raw as Hex), txHash: signed.hash });
			expect(hashes?.txHash).not.toBe(hashes?.rawHash);
			signed.blobs = null;
			expect(await transactionHashes(signed.serialized)).toEqual({ rawHash: signed.hash as string, txHash: signed.hash });
		}
	});

	test("of one with blobs that viem wrapped is the hash of what it serialises without them", async () => {
		const bytes: Hex = `0x${"01".repeat(131_072)}`;
		const hex = (byte: string): Hex => `0x${byte.repeat(48)}`;
		const blobVersionedHashes: Hex[] = [`0x01${"00".repeat(31)}`];
		const transaction = { ...common, ...fees, type: "eip4844", maxFeePerBlobGas: 1n, blobVersionedHashes } as const;
		const alone = await account.signTransaction(transaction);
		const wrapped = await account.signTransaction({
			...transaction,
			sidecars: [{ blob: bytes, commitment: hex("c1"), proof: hex("b2") }],
		});
		expect(wrapped.length).toBeGreaterThan(262_144);
		expect(await transactionHashes(wrapped)).toEqual({ rawHash: keccak256(wrapped), txHash: keccak256(alone) });
	});

	test("is not known for other types, for broken wrappings and for no bytes at all", async () => {
		for (const raw of [
			"0x",
			"0x00",
			"0x05c0",
			"0x7ef8",
			"0x71c0",
			"0x03",
			"0x0380",
			"0x03f9ffff",
			"0x03c2f8",
			"0x03ffffffffffffffffff",
			"0x03c2c2",
			"0x03c0",
			"0x03c1c0ff",
		])
			expect([raw, (await transactionHashes(raw))?.txHash]).toEqual([raw, null]);
		expect((await transactionHashes("0x"))?.rawHash).toBe("0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
	});

	test("does not ask for lower case, and is none of what is no hex", async () => {
		const raw = await account.signTransaction({ ...common, ...fees, type: "eip1559" });
		expect(await transactionHashes(raw.toUpperCase())).toEqual(await transactionHashes(raw));
		for (const text of ["", "0", "0x0", "0xg0", raw.slice(2), `${raw} `, `${raw}0`, "0x\n00"])
			expect(await transactionHashes(text)).toBeNull();
	});

	test("lets others run while megabytes are hashed", async () => {
		let turns = 0;
		const timer = setInterval(() => turns++, 0);
		const hashes = await transactionHashes(`0x02${"ab".repeat(2_400_000)}`);
		clearInterval(timer);
		expect(hashes?.txHash).toStartWith("0x");
		expect(turns).toBeGreaterThan(1);
	});
});

test("the raw transaction is the first parameter, where it is a string", () => {
	const of = (params: string) => rawTransactionOf(Buffer.from(params));
	expect(of('[ "0x02" , {}]')).toBe("0x02");
	expect(of('["\\u0030x02"]')).toBe("0x02");
	for (const params of ["[]", "[null]", '[{"a":"0x02"}]', "[2]", '[["0x02"]]']) expect(of(params)).toBeNull();
});
