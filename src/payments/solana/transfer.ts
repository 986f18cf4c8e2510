/**
 * Payments of Solana: transactions that transfer a token, signed by the payer but not yet by the fee payer. The wire
 * form: https://solana.com/docs/core/transactions; the parts of a payment: the specification of x402's scheme `exact`
 * for Solana.
 */
import { createHash } from "node:crypto";
import { base58 } from "@scure/base";
import { isSignedBySolanaKey } from "../../schema/index.ts";

export const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const COMPUTE_BUDGET_PROGRAM = "ComputeBudget111111111111111111111111111111";
/** Programs that may follow the transfer: a memo, and what wallets add to guard their owner. */
const HARMLESS_PROGRAMS: ReadonlySet<string> = new Set([
	"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
	"L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95",
]);

/** Thrown for a transaction that cannot be a payment. The message may go to the caller. */
export class UnfitTransaction extends Error {
	override readonly name = "UnfitTransaction";
}

/** One transfer of a token, as its payer signed it. Addresses in base58. */
export interface SolanaTransfer {
	/** Pays the fee; its signature is the name of the transaction. */
	readonly feePayer: string;
	/** The owner of the tokens, who signed. */
	readonly payer: string;
	readonly mint: string;
	/** The token accounts that the units leave and reach. */
	readonly source: string;
	readonly destination: string;
	/** Base units. */
	readonly units: bigint;
	readonly decimals: number;
	/** Hash of a block: only some 150 later blocks accept the transaction. */
	readonly blockhash: string;
	/** The signed bytes. */
	readonly message: Uint8Array;
	/** SHA-256 of the message in hex: the chain accepts it once. */
	readonly hash: string;
	/** Accounts in the order in which a node's balances refer to them. */
	readonly accounts: readonly string[];
	/** Index of the transfer among the instructions. */
	readonly instruction: number;
	readonly signature: Uint8Array;
	/** The transaction in base64; the fee payer's signature is empty. */
	readonly unsent: string;
}

/** Longest transaction that the network carries, in bytes. */
const MAX_BYTES = 1_232;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
/** Limit and price of computing, the transfer, and what wallets add. */
const MIN_INSTRUCTIONS = 3;
const MAX_INSTRUCTIONS = 7;
const SET_COMPUTE_LIMIT = 2;
const SET_COMPUTE_PRICE = 3;
const TRANSFER_CHECKED = 12;
const TRANSFER_AT = 2;

/** Parses a transaction that is one transfer and nothing else. Throws `UnfitTransaction`. */
export function readTransfer(base64: string): SolanaTransfer {
	const bytes = new Uint8Array(Buffer.from(base64, "base64"));
	if (bytes.length > MAX_BYTES) throw new UnfitTransaction(`expected ${MAX_BYTES} bytes at most`);
	const wire = new Reader(bytes);
	// One signature of the fee payer, one of the payer.
	if (wire.length() !== 2) throw new UnfitTransaction("expected two signers: who pays the fee, and the payer");
	wire.bytes(SIGNATURE_BYTES);
	const signature = wire.bytes(SIGNATURE_BYTES);
	const message = wire.rest();
	const { accounts, blockhash, instructions } = readMessage(message);
	const [feePayer = "", payer = ""] = accounts;
	const transfer = transferOf(instructions);
	const [source = "", mint = "", destination = "", authority = ""] = transfer.accounts;
	if (authority !== payer || feePayer === payer)
		throw new UnfitTransaction("expected the payer to sign the transfer, and another one to pay the fee");
	const unsent = Buffer.from(bytes);
	unsent.fill(0, 1, 1 + SIGNATURE_BYTES);
	return {
		feePayer,
		payer,
		mint,
		source,
		destination,
		units: Buffer.from(transfer.data).readBigUInt64LE(1),
		decimals: transfer.data[9] ?? 0,
		blockhash,
		message,
		hash: createHash("sha256").update(message).digest("hex"),
		accounts,
		instruction: TRANSFER_AT,
		signature,
		unsent: unsent.toString("base64"),
	};
}

/** Returns true if the payer signed the message. */
export function isSignedByPayer({ payer, message, signature }: SolanaTransfer): boolean {
	return isSignedBySolanaKey(payer, message, signature);
}

/** Returns the message of any transaction in base64; null if it is none. */
export function messageOf(base64: string): Uint8Array | null {
	try {
		const wire = new Reader(new Uint8Array(Buffer.from(base64, "base64")));
		wire.bytes(wire.length() * SIGNATURE_BYTES);
		return wire.rest();
	} catch (error) {
		if (error instanceof UnfitTransaction) return null;
		throw error;
	}
}

interface Instruction {
	readonly program: string;
	readonly accounts: readonly string[];
	readonly data: Uint8Array;
}

interface Message {
	readonly accounts: readonly string[];
	readonly blockhash: string;
	readonly instructions: readonly Instruction[];
}

/** Parses a message of version 0, or of the legacy form. */
function readMessage(message: Uint8Array): Message {
	const wire = new Reader(message);
	const first = wire.byte();
	const versioned = first >= 0x80;
	if (versioned && first !== 0x80) throw new UnfitTransaction("expected version 0, or none");
	if ((versioned ? wire.byte() : first) !== 2) throw new UnfitTransaction("expected two signers");
	wire.bytes(2);
	const accounts = wire.list(() => base58.encode(wire.bytes(KEY_BYTES)));
	const blockhash = base58.encode(wire.bytes(KEY_BYTES));
	const named = (index: number) => {
		const account = accounts[index];
		if (account === undefined) throw new UnfitTransaction("expected accounts that it lists, and no table of them");
		return account;
	};
	const instructions = wire.list(() => ({
		program: named(wire.byte()),
		accounts: wire.list(() => named(wire.byte())),
		data: wire.bytes(wire.length()),
	}));
	if (versioned && wire.length() !== 0) throw new UnfitTransaction("expected no tables of accounts");
	if (wire.rest().length > 0) throw new UnfitTransaction("expected nothing behind the message");
	return { accounts, blockhash, instructions };
}

/**
 * Returns the one transfer among the instructions. No other instruction may move a token, or make the transaction
 * durable.
 */
function transferOf(instructions: readonly Instruction[]): Instruction {
	const [limit, price, transfer, ...others] = instructions;
	if (limit === undefined || price === undefined || transfer === undefined || instructions.length > MAX_INSTRUCTIONS)
		throw new UnfitTransaction(`expected ${MIN_INSTRUCTIONS} to ${MAX_INSTRUCTIONS} instructions`);
	if (limit.program !== COMPUTE_BUDGET_PROGRAM || limit.data[0] !== SET_COMPUTE_LIMIT)
		throw new UnfitTransaction("expected the limit of computing units first");
	if (price.program !== COMPUTE_BUDGET_PROGRAM || price.data[0] !== SET_COMPUTE_PRICE)
		throw new UnfitTransaction("expected the price of computing units behind their limit");
	const { program, accounts, data } = transfer;
	if (program !== TOKEN_PROGRAM || data[0] !== TRANSFER_CHECKED || data.length !== 10 || accounts.length !== 4)
		throw new UnfitTransaction("expected a TransferChecked of the token program as the third instruction");
	if (!others.every((other) => HARMLESS_PROGRAMS.has(other.program)))
		throw new UnfitTransaction("expected nothing but notes and guards behind the transfer");
	return transfer;
}

/** Reads consecutive fields. Throws `UnfitTransaction` where the bytes end too soon. */
class Reader {
	readonly #bytes: Uint8Array;
	#at = 0;

	constructor(bytes: Uint8Array) {
		this.#bytes = bytes;
	}

	byte(): number {
		return this.bytes(1)[0] ?? 0;
	}

	bytes(count: number): Uint8Array {
		const end = this.#at + count;
		if (end > this.#bytes.length) throw new UnfitTransaction("it ends too soon");
		const part = this.#bytes.subarray(this.#at, end);
		this.#at = end;
		return part;
	}

	/** Reads a number of at most 16 bits, 7 in each byte. */
	length(): number {
		let value = 0;
		for (let shift = 0; shift < 21; shift += 7) {
			const part = this.byte();
			value |= (part & 0x7f) << shift;
			if (part < 0x80) return value;
		}
		throw new UnfitTransaction("a length is no number of 16 bits");
	}

	list<T>(read: () => T): T[] {
		return Array.from({ length: this.length() }, read);
	}

	rest(): Uint8Array {
		return this.bytes(this.#bytes.length - this.#at);
	}
}
