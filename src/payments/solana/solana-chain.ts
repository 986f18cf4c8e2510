import { isRecord } from "../../schema/is-record.ts";
import type { TopUp } from "../../store/admin/top-ups/top-up-row.ts";
import { ChainRefused, ChainUnavailable, type JsonRpc } from "../chain/json-rpc.ts";
import type { PaymentChain, PaymentTerm, PaymentUse } from "../chain/payment-chain.ts";
import { type SeenTransfer, WrongChain } from "../chain/token-chain.ts";
import { type SolanaNetwork, TOKEN_DECIMALS } from "../networks.ts";
import type { Signed } from "../payment.ts";
import { tokenAccountOf } from "./token-account.ts";
import { isSignedByPayer, messageOf, readTransfer, type SolanaTransfer, TOKEN_PROGRAM } from "./transfer.ts";

export type Commitment = "confirmed" | "finalized";

interface Landed {
	readonly transaction: string;
	readonly slot: number;
	/** null: it was accepted, and failed. */
	readonly moved: ((account: number) => Movement) | null;
	readonly message: Uint8Array;
}

/** What a transaction did to a token account. */
interface Movement {
	readonly mint: unknown;
	readonly owner: unknown;
	readonly units: bigint;
}

interface Named {
	readonly transaction: string;
	readonly slot: number;
	readonly memo: string | null;
}

/** A payment is searched from this many slots before its arrival: it may have been sent before. */
const SLOTS_BEFORE = 1_000;
/** Signatures that a node lists in one page, and the maximum number of pages. */
const NAMES = 1_000;
const MAX_PAGES = 5;
/** Most transactions that are read for one payment. */
const MAX_READ_TRANSACTIONS = 50;
/** A payment cannot expire sooner, since blocks are no faster. */
const SHORTEST_LIFE_MS = 30_000;
/** Offset of the decimals in a mint's data. */
const DECIMALS_AT = 44;
/** Codes of a node's refusals (https://solana.com/docs/rpc). */
const NO_SUCH_ACCOUNT = -32_602;
const UNSUPPORTED_VERSION = -32_015;
/** Marks a transaction of a version that no payment has. */
const OTHER_VERSION = Symbol("another version");
/**
 * Final blocks that must follow the last one that accepts a payment before it counts as ended: a node may list
 * transactions a little late.
 */
const LATE_BLOCKS = 32;
/** Blocks are final after some 15 seconds, so a node is not called for each of them. */
const LOOK_EVERY_MS = 1_000;
const MAX_UNITS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Payments by transactions of their payers: Solana. The chain accepts a transaction once, by its signed message. It
 * is found by its name, the fee payer's signature, or among the transactions of the account that it takes the units
 * from.
 */
export class SolanaChain implements PaymentChain {
	readonly network: SolanaNetwork;
	readonly confirmations = 0;
	readonly pollEveryMs = LOOK_EVERY_MS;
	readonly payTo: string;
	readonly #rpc: JsonRpc;
	readonly #commitment: Commitment;
	#checked: Promise<void> | null = null;

	constructor(network: SolanaNetwork, payTo: string, rpc: JsonRpc, commitment: Commitment) {
		this.network = network;
		this.payTo = payTo;
		this.#rpc = rpc;
		this.#commitment = commitment;
	}

	check(): Promise<void> {
		this.#checked ??= this.#check().catch((error: unknown) => {
			this.#checked = null;
			throw error;
		});
		return this.#checked;
	}

	/** Returns the newest slot at the requested commitment. */
	async slot(): Promise<number> {
		return wholeNumber(await this.#rpc.call("getSlot", [{ commitment: this.#commitment }]));
	}

	/** Returns true if the receiver has an account for the token: without one nobody can pay it. */
	async canReceive(): Promise<boolean> {
		const account = await this.#account(await tokenAccountOf(this.payTo, this.network.asset));
		return account !== null && account.owner === TOKEN_PROGRAM;
	}

	use(signed: Signed, transaction: string | null, fromBlock: number | null): Promise<PaymentUse> {
		return this.#find(transferOf(signed), transaction, fromBlock, this.#commitment, 0);
	}

	async isSignedByPayer(signed: Signed): Promise<boolean> {
		return isSignedByPayer(transferOf(signed));
	}

	async term(signed: Signed): Promise<PaymentTerm | null> {
		const { blockhash } = transferOf(signed);
		const validity = fieldsOf(await this.#rpc.call("isBlockhashValid", [blockhash, { commitment: "confirmed" }]));
		if (validity.value !== true) return null;
		const minContextSlot = wholeNumber(fieldsOf(validity.context).slot);
		// The payment's block is no newer than the newest one, and neither is the end of its life.
		const newest = fieldsOf(await this.#rpc.call("getLatestBlockhash", [{ commitment: "confirmed", minContextSlot }]));
		const earliestSlot = Math.max(0, minContextSlot - SLOTS_BEFORE);
		const validBefore = wholeNumber(fieldsOf(newest.value).lastValidBlockHeight);
		return { fromBlock: earliestSlot, earliestBlock: earliestSlot, searchFrom: earliestSlot, validBefore };
	}

	async wasSent(signed: Signed, { fromBlock }: PaymentTerm): Promise<boolean> {
		return (await this.#find(transferOf(signed), null, fromBlock, "confirmed", 0)).kind !== "unused";
	}

	async endOf(topUp: TopUp, use: PaymentUse, nowMs: number): Promise<string | null> {
		if (use.kind === "elsewhere") return (await this.#isFinal(use.transaction)) ? "transaction_failed" : null;
		if (use.kind !== "unused" || nowMs < topUp.createdAtMs + SHORTEST_LIFE_MS) return null;
		const now = fieldsOf(await this.#rpc.call("getEpochInfo", [{ commitment: "finalized" }]));
		if (wholeNumber(now.blockHeight) <= topUp.validBefore + LATE_BLOCKS) return null;
		// No later block accepts it. A node that knows all blocks decides whether one has.
		const transfer = readTransfer(transactionIn(topUp.proof));
		const finalUse = await this.#find(transfer, topUp.transaction, topUp.fromBlock, "finalized", wholeNumber(now.absoluteSlot));
		return finalUse.kind === "unused" ? "transaction_expired" : null;
	}

	/** The final blocks may still accept it, or have accepted it, as long as they know the block that it names. */
	async isBehindEnd(signed: Signed): Promise<boolean> {
		const answer = await this.#rpc.call("isBlockhashValid", [transferOf(signed).blockhash, { commitment: "finalized" }]);
		return fieldsOf(answer).value === true;
	}

	isFinal({ transaction }: SeenTransfer): Promise<boolean> {
		return this.#isFinal(transaction);
	}

	async isWaiting(transaction: string): Promise<boolean> {
		const answer = fieldsOf(await this.#rpc.call("getSignatureStatuses", [[transaction], { searchTransactionHistory: true }]));
		return listOf(answer.value)[0] !== null;
	}

	async balanceOf(payer: string): Promise<number> {
		const account = await tokenAccountOf(payer, this.network.asset);
		try {
			const answer = fieldsOf(await this.#rpc.call("getTokenAccountBalance", [account, { commitment: "confirmed" }]));
			const units = unitsOf(fieldsOf(answer.value).amount);
			return Number(units < MAX_UNITS ? units : MAX_UNITS);
		} catch (error) {
			if (error instanceof ChainRefused && error.code === NO_SUCH_ACCOUNT) return 0;
			throw error;
		}
	}

	async #isFinal(transaction: string): Promise<boolean> {
		return (await this.#landed(transaction, "finalized")) !== null;
	}

	async #find(
		transfer: SolanaTransfer,
		knownTransaction: string | null,
		fromSlot: number | null,
		commitment: Commitment,
		minContextSlot: number,
	): Promise<PaymentUse> {
		const landed = knownTransaction === null ? null : await this.#landed(knownTransaction, commitment);
		if (landed !== null && isSameMessage(landed, transfer)) return this.#endIn(landed, transfer);
		// A transaction that is still being sent needs no search. For a final verdict nothing is assumed to be known.
		const isBeingSent = knownTransaction !== null && landed === null && minContextSlot === 0;
		if (isBeingSent && (await this.isWaiting(knownTransaction))) return { kind: "unused" };
		let readCount = 0;
		let complete = true;
		let before: string | undefined;
		for (let page = 0; page < MAX_PAGES; page++) {
			const names = await this.#names(transfer.source, commitment, before, minContextSlot);
			const inTerm = names.filter(({ slot }) => slot >= (fromSlot ?? 0));
			// A payment's memo is listed with its name: one with a memo of its own is found at once.
			for (const { transaction } of inTerm.toSorted((one, other) => likeness(other, transfer) - likeness(one, transfer))) {
				if (readCount++ >= MAX_READ_TRANSACTIONS) return { kind: "unseen" };
				const transactionThere = await this.#landed(transaction, commitment);
				if (transactionThere !== null && isSameMessage(transactionThere, transfer))
					return this.#endIn(transactionThere, transfer);
				// The node lists it without its content: it may be the payment.
				complete &&= transactionThere !== null;
			}
			if (inTerm.length < names.length || names.length < NAMES) return { kind: complete ? "unused" : "unseen" };
			before = names.at(-1)?.transaction;
		}
		return { kind: "unseen" };
	}

	/** Lists transactions, newest first. */
	async #names(account: string, commitment: Commitment, before: string | undefined, minContextSlot: number): Promise<Named[]> {
		const options = { limit: NAMES, commitment, minContextSlot, ...(before === undefined ? {} : { before }) };
		return listOf(await this.#rpc.call("getSignaturesForAddress", [account, options])).map((entry) => {
			const { signature, slot, memo } = fieldsOf(entry);
			return { transaction: String(signature), slot: wholeNumber(slot), memo: typeof memo === "string" ? memo : null };
		});
	}

	/** Returns what a transaction did; null while the cluster lacks that commitment for it, or knows none. */
	async #landed(transaction: string, commitment: Commitment): Promise<Landed | null> {
		const options = { commitment, encoding: "base64", maxSupportedTransactionVersion: 0 };
		const answer = await this.#rpc.call("getTransaction", [transaction, options]).catch((error: unknown) => {
			if (error instanceof ChainRefused && error.code === UNSUPPORTED_VERSION) return OTHER_VERSION;
			throw error;
		});
		if (answer === null) return null;
		if (answer === OTHER_VERSION) return { transaction, slot: 0, moved: null, message: new Uint8Array() };
		const { slot, transaction: wire, meta } = fieldsOf(answer);
		const message = messageOf(String(listOf(wire)[0]));
		if (message === null) throw new ChainUnavailable("the chain's node answered with something that is not a transaction");
		const { err, preTokenBalances, postTokenBalances } = fieldsOf(meta);
		const moved = (account: number) => movementOf(listOf(preTokenBalances), listOf(postTokenBalances), account);
		return { transaction, slot: wholeNumber(slot), moved: err === null ? moved : null, message };
	}

	#endIn({ transaction, slot: block, moved }: Landed, transfer: SolanaTransfer): PaymentUse {
		if (moved === null) return { kind: "elsewhere", transaction, block };
		const { asset } = this.network;
		const received = moved(transfer.accounts.indexOf(transfer.destination));
		// The balances show what the instruction did: nothing else in a payment moves units.
		const asSigned = received.mint === asset && received.owner === this.payTo && received.units === transfer.units;
		if (!asSigned) return { kind: "unseen" };
		return { kind: "transferred", transfer: { transaction, block, logIndex: transfer.instruction }, head: block };
	}

	async #check(): Promise<void> {
		const { name, id, asset } = this.network;
		const genesis = await this.#rpc.call("getGenesisHash", []);
		if (typeof genesis !== "string" || `solana:${genesis.slice(0, id.length - "solana:".length)}` !== id)
			throw new WrongChain(`${name}: the node answers for another cluster`);
		const mint = await this.#account(asset);
		if (mint === null || mint.owner !== TOKEN_PROGRAM || mint.data[DECIMALS_AT] !== TOKEN_DECIMALS)
			throw new WrongChain(`${name}: there is no token of ${TOKEN_DECIMALS} decimals at ${asset}`);
	}

	async #account(address: string): Promise<{ readonly owner: unknown; readonly data: Uint8Array } | null> {
		const options = { encoding: "base64", commitment: "confirmed" };
		const { value } = fieldsOf(await this.#rpc.call("getAccountInfo", [address, options]));
		if (value === null) return null;
		const { owner, data } = fieldsOf(value);
		return { owner, data: Buffer.from(String(listOf(data)[0]), "base64") };
	}
}

function transferOf(signed: Signed): SolanaTransfer {
	if (signed.kind !== "transaction") throw new RangeError("no transaction");
	return readTransfer(signed.transaction);
}

function transactionIn(proof: string): string {
	return (JSON.parse(proof) as { readonly transaction: string }).transaction;
}

function isSameMessage({ message }: Landed, transfer: SolanaTransfer): boolean {
	return Buffer.compare(message, transfer.message) === 0;
}

/** Returns 1 where a transaction has the memo of the payment. */
function likeness({ memo }: Named, { message }: SolanaTransfer): number {
	const note = memo?.slice(memo.indexOf("] ") + 2) ?? "";
	return note !== "" && Buffer.from(message).includes(note) ? 1 : 0;
}

function movementOf(before: readonly unknown[], after: readonly unknown[], account: number): Movement {
	const of = (balances: readonly unknown[]) => balances.map(fieldsOf).find(({ accountIndex }) => accountIndex === account);
	const [old, now] = [of(before), of(after)];
	const held = (entry: Fields | undefined) => (entry === undefined ? 0n : unitsOf(fieldsOf(entry.uiTokenAmount).amount));
	return { mint: now?.mint, owner: now?.owner, units: held(now) - held(old) };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
	if (isRecord(value)) return value;
	throw new ChainUnavailable("the chain's node answered with something that is not an object");
}

function listOf(value: unknown): readonly unknown[] {
	if (Array.isArray(value)) return value;
	throw new ChainUnavailable("the chain's node answered with something that is not a list");
}

function wholeNumber(value: unknown): number {
	if (Number.isSafeInteger(value)) return value as number;
	throw new ChainUnavailable("the chain's node answered with something that is not a whole number");
}

function unitsOf(value: unknown): bigint {
	if (typeof value === "string" && /^\d{1,20}$/.test(value)) return BigInt(value);
	throw new ChainUnavailable("the chain's node answered with something that is not an amount");
}
