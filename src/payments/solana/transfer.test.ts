import { describe, expect, test } from "bun:test";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { base58 } from "@scure/base";
import fc from "fast-check";
import { tokenAccountOf } from "./token-account.ts";
import { isSignedByPayer, messageOf, readTransfer, TOKEN_PROGRAM, UnfitTransaction } from "./transfer.ts";

const COMPUTE = "ComputeBudget111111111111111111111111111111";
const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const SYSTEM = "11111111111111111111111111111111";
const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const bytesOf = (address: string) => base58.decode(address);
const addressOf = (key: KeyObject) => base58.encode(new Uint8Array(key.export({ format: "der", type: "spki" }).subarray(12)));
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const PAYER = addressOf(publicKey);
const [FEE_PAYER, SOURCE, DESTINATION, BLOCKHASH] = Array.from({ length: 4 }, () =>
	addressOf(generateKeyPairSync("ed25519").publicKey),
) as [string, string, string, string];
/** Accounts by position: the fee payer and the payer come first. */
const ACCOUNTS = [FEE_PAYER, PAYER, SOURCE, DESTINATION, MINT, TOKEN_PROGRAM, COMPUTE, MEMO, SYSTEM];

interface Instruction {
	readonly program: string;
	readonly accounts: readonly number[];
	readonly data: readonly number[];
}

const limit: Instruction = { program: COMPUTE, accounts: [], data: [2, 1, 0, 0, 0] };
const price: Instruction = { program: COMPUTE, accounts: [], data: [3, 1, 0, 0, 0, 0, 0, 0, 0] };
const transfer: Instruction = { program: TOKEN_PROGRAM, accounts: [2, 4, 3, 1], data: [12, 0x40, 0x4b, 0x4c, 0, 0, 0, 0, 0, 6] };
const memo: Instruction = { program: MEMO, accounts: [], data: [104, 105] };
const GOOD = [limit, price, transfer, memo];

interface TransactionParts {
	readonly instructions?: readonly Instruction[];
	readonly version?: number | null;
	readonly signers?: number;
	readonly tables?: readonly number[];
	readonly behind?: readonly number[];
}

function transaction({
	instructions = GOOD,
	version = 0,
	signers = 2,
	tables = [0],
	behind = [],
}: TransactionParts = {}): string {
	const written = instructions.flatMap(({ program, accounts, data }) => [
		ACCOUNTS.indexOf(program),
		accounts.length,
		...accounts,
		data.length,
		...data,
	]);
	const message = Uint8Array.from([
		...(version === null ? [] : [0x80 | version]),
		...[signers, 0, 4],
		ACCOUNTS.length,
		...ACCOUNTS.flatMap((account) => [...bytesOf(account)]),
		...bytesOf(BLOCKHASH),
		instructions.length,
		...written,
		...(version === null ? [] : tables),
		...behind,
	]);
	const signature = sign(null, message, privateKey);
	return Buffer.concat([Uint8Array.of(2), new Uint8Array(64).fill(9), signature, message]).toString("base64");
}

test("a payment is read, with or without a version, and is known by what is signed", () => {
	for (const version of [0, null]) {
		const made = transaction({ version });
		const read = readTransfer(made);
		expect(read).toMatchObject({ feePayer: FEE_PAYER, payer: PAYER, mint: MINT, source: SOURCE, destination: DESTINATION });
		expect([read.units, read.decimals, read.blockhash]).toEqual([5_000_000n, 6, BLOCKHASH]);
		expect(read.hash).toBe(createHash("sha256").update(read.message).digest("hex"));
		expect(messageOf(made)).toEqual(read.message);
		expect(isSignedByPayer(read)).toBe(true);
		// The bytes in place of the fee payer's signature do not matter.
		const again = readTransfer(read.unsent);
		expect([again.unsent, again.hash, isSignedByPayer(again)]).toEqual([read.unsent, read.hash, true]);
	}
});

test("another signature than the payer's is none", () => {
	const forged = Buffer.from(transaction(), "base64").fill(1, 65, 129).toString("base64");
	expect(isSignedByPayer(readTransfer(forged))).toBe(false);
});

describe("a transaction that could do more than pay is refused", () => {
	const nonce: Instruction = { program: SYSTEM, accounts: [2, 3, 1], data: [4, 0, 0, 0] };
	test.each<[string, TransactionParts]>([
		["no transfer", { instructions: [limit, price, memo] }],
		["too few instructions", { instructions: [limit, price] }],
		["too many instructions", { instructions: [...GOOD, memo, memo, memo, memo] }],
		["two transfers", { instructions: [...GOOD, transfer] }],
		["a transfer of another kind", { instructions: [limit, price, { ...transfer, data: [3, ...transfer.data.slice(1, 9)] }] }],
		["a transfer that others sign too", { instructions: [limit, price, { ...transfer, accounts: [2, 4, 3, 1, 0] }] }],
		["a transfer that the fee payer signs", { instructions: [limit, price, { ...transfer, accounts: [2, 4, 3, 0] }] }],
		["another program behind it", { instructions: [...GOOD, { ...memo, program: SYSTEM }] }],
		["a nonce that makes it last", { instructions: [nonce, limit, price, transfer] }],
		["the price before the limit", { instructions: [price, limit, transfer] }],
		["three signers", { signers: 3 }],
		["another version", { version: 1 }],
		["tables of accounts", { tables: [1, ...bytesOf(SYSTEM), 0, 0] }],
		["an account that is in a table", { instructions: [limit, price, { ...transfer, accounts: [2, 4, 99, 1] }] }],
		["something behind it", { behind: [1] }],
	])("%s", (_name, made) => {
		expect(() => readTransfer(transaction(made))).toThrow(UnfitTransaction);
	});
});

test("whatever bytes come, they are read or refused", () => {
	const good = Buffer.from(transaction(), "base64");
	const changed = fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([at, value]) => Buffer.from(good).fill(value, at, at + 1));
	fc.assert(
		fc.property(fc.oneof(fc.uint8Array({ maxLength: 1_400 }), changed), (bytes) => {
			try {
				readTransfer(Buffer.from(bytes).toString("base64"));
			} catch (error) {
				expect(error).toBeInstanceOf(UnfitTransaction);
			}
		}),
		{ numRuns: 1_000 },
	);
});

test("an owner's account for a token stands where the chain's programs look for it", async () => {
	// This value was computed with another library (@solana-program/token).
	expect(await tokenAccountOf("vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg", MINT)).toBe(
		"9jrTvdU2Am3UmgSAX8EKS9wwrSufkWRbZzEukDogqpQg",
	);
	expect(await tokenAccountOf("2nsTvzEaa2gxYbTzcUAAJ2r5jk6YEnsKwd9d84mAt5qU", MINT)).toBe(
		"GXF6oe7rWoCFfmqhrktkBpczhPDrvctNd9cjCTb9kRF9",
	);
});
