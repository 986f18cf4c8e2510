import type { EvmNetwork } from "../networks.ts";
import type { Authorization } from "../payment.ts";
import { ChainRefused, ChainUnavailable, type JsonRpc } from "./json-rpc.ts";
import { domainSeparator } from "./typed-data.ts";
import { isTrue, wholeOf, word } from "./words.ts";

/** Thrown if the node serves another chain, or if the token on it differs. Nothing is credited from it. */
export class WrongChain extends Error {
	override readonly name = "WrongChain";
}

export interface BlockHead {
	readonly number: number;
	/** Unix seconds. */
	readonly timestamp: number;
}

/** The one transfer that an authorization made. */
export interface SeenTransfer {
	readonly transaction: string;
	readonly block: number;
	readonly logIndex: number;
}

/** What the chain shows of an authorization now. */
export type AuthorizationUse =
	| { readonly kind: "unused"; readonly head: number }
	/** It moved the value to the receiver. */
	| { readonly kind: "transferred"; readonly transfer: SeenTransfer; readonly head: number }
	/** It was cancelled, or the token's log shows a transfer other than the signed one. */
	| { readonly kind: "elsewhere"; readonly transaction: string; readonly block: number }
	/** It is used, and its log was not found. */
	| { readonly kind: "unseen" };

interface Log {
	readonly address: string;
	readonly topics: readonly string[];
	readonly data: string;
	readonly logIndex: number;
	readonly transaction: string;
}

interface Receipt {
	readonly block: number;
	readonly logs: readonly Log[];
}

/** `DOMAIN_SEPARATOR()`, `balanceOf(address)`, `authorizationState(address,bytes32)`, `isValidSignature(bytes32,bytes)`. */
const DOMAIN_SEPARATOR = "0x3644e515";
const BALANCE_OF = "0x70a08231";
const AUTHORIZATION_STATE = "0xe94a0102";
const IS_VALID_SIGNATURE = "0x1626ba7e";
/** `AuthorizationUsed(address,bytes32)`, `AuthorizationCanceled(address,bytes32)`, `Transfer(address,address,uint256)`. */
export const AUTHORIZATION_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
export const AUTHORIZATION_CANCELED = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81";
export const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

const MAX_UNITS = BigInt(Number.MAX_SAFE_INTEGER);
/** Blocks of one search for logs: nodes allow a few thousand. */
const SEARCH_BLOCKS = 2_000;
/** Most searches for one authorization: on Base a day and a half. */
const MAX_SEARCHES = 32;
/** Depth below the newest block that counts as final where a node knows no `safe` block. */
const FINAL_DEPTH = 64;

/**
 * The token of one network, read through a node. Every call throws `ChainUnavailable`, the first ones also
 * `WrongChain`.
 */
export class TokenChain {
	readonly network: EvmNetwork;
	readonly #rpc: JsonRpc;
	readonly #finalBlock: "latest" | "safe" | "finalized";
	#checked: Promise<void> | null = null;

	constructor(network: EvmNetwork, rpc: JsonRpc, finalBlock: "latest" | "safe" | "finalized") {
		this.network = network;
		this.#rpc = rpc;
		this.#finalBlock = finalBlock;
	}

	/** Checks that the node serves this chain with this token. Runs once, and again after a failure. */
	check(): Promise<void> {
		this.#checked ??= this.#check().catch((error: unknown) => {
			this.#checked = null;
			throw error;
		});
		return this.#checked;
	}

	async head(): Promise<BlockHead> {
		return this.#block("latest");
	}

	/** Returns the newest block that the chain does not revert. */
	async final(): Promise<BlockHead> {
		try {
			return await this.#block(this.#finalBlock);
		} catch (error) {
			if (!(error instanceof ChainRefused)) throw error;
			return this.#block(Math.max(0, (await this.head()).number - FINAL_DEPTH));
		}
	}

	/** Returns an address's balance for the chain's fees, in its smallest unit. */
	async feeBalance(address: string): Promise<bigint> {
		return BigInt(String(await this.#rpc.call("eth_getBalance", [address, "latest"])));
	}

	/** Returns an address's balance in base units of the token, up to 2^53-1. */
	async tokenBalance(address: string): Promise<number> {
		const units = BigInt(String(await this.#view(`${BALANCE_OF}${word(address)}`)));
		return Number(units < MAX_UNITS ? units : MAX_UNITS);
	}

	async hasCode(address: string): Promise<boolean> {
		return (await this.#rpc.call("eth_getCode", [address, "latest"])) !== "0x";
	}

	/**
	 * Returns true if a contract accepts a signature as its own (https://eips.ethereum.org/EIPS/eip-1271); false
	 * where there is none.
	 */
	async isSignedByContract(address: string, digest: Uint8Array, signature: string): Promise<boolean> {
		if (!(await this.hasCode(address))) return false;
		const digits = signature.slice(2);
		const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, "0");
		const data = `${IS_VALID_SIGNATURE}${Buffer.from(digest).toString("hex")}${word(64)}${word(digits.length / 2)}${padded}`;
		try {
			const answer = await this.#rpc.call("eth_call", [{ to: address, data }, "latest"]);
			return String(answer).startsWith(IS_VALID_SIGNATURE);
		} catch (error) {
			if (error instanceof ChainRefused && error.reverted) return false;
			throw error;
		}
	}

	/** Returns true while a transaction waits for a block. */
	async isWaiting(transaction: string): Promise<boolean> {
		const pending = await this.#rpc.call("eth_getTransactionByHash", [transaction]);
		return typeof pending === "object" && pending !== null && (pending as { blockNumber?: unknown }).blockNumber == null;
	}

	/**
	 * Returns how the chain used an authorization. `transaction` is the known one. `fromBlock` is a block below which
	 * it was unused; null if none is known: the search then goes back from the newest block.
	 */
	async use(signed: Authorization, transaction: string | null, fromBlock: number | null): Promise<AuthorizationUse> {
		const { number: head } = await this.head();
		const state = await this.#view(`${AUTHORIZATION_STATE}${word(signed.from)}${word(signed.nonce)}`);
		if (!isTrue(state)) return { kind: "unused", head };
		const known = transaction === null ? null : await this.#receipt(transaction);
		const knownUse = known === null ? null : this.#endIn(known, signed, head);
		return knownUse ?? this.#searchUse(signed, fromBlock, head);
	}

	async #check(): Promise<void> {
		const { name, chainId, asset } = this.network;
		const actual = wholeOf(await this.#rpc.call("eth_chainId", []));
		if (actual !== chainId) throw new WrongChain(`${name}: the node answers for chain ${actual}, not for chain ${chainId}`);
		const separator = await this.#view(DOMAIN_SEPARATOR).catch((error: unknown) => {
			if (error instanceof ChainRefused) return "0x";
			throw error;
		});
		if (separator === "0x") throw new WrongChain(`${name}: there is no token with signed transfers at ${asset}`);
		if (separator !== domainSeparator(this.network))
			throw new WrongChain(`${name}: the token at ${asset} is another one than ${this.network.tokenName}`);
	}

	async #block(name: number | "latest" | "safe" | "finalized"): Promise<BlockHead> {
		const at = typeof name === "number" ? `0x${name.toString(16)}` : name;
		const block = await this.#rpc.call("eth_getBlockByNumber", [at, false]);
		if (block === null) throw new ChainRefused(`eth_getBlockByNumber: no block ${name}`, false);
		const { number, timestamp } = block as Readonly<Record<string, unknown>>;
		return { number: whole(number), timestamp: whole(timestamp) };
	}

	#view(data: string): Promise<unknown> {
		return this.#rpc.call("eth_call", [{ to: this.network.asset, data }, "latest"]);
	}

	async #receipt(transaction: string): Promise<Receipt | null> {
		const receipt = (await this.#rpc.call("eth_getTransactionReceipt", [transaction])) as {
			readonly status?: unknown;
			readonly blockNumber?: unknown;
			readonly logs?: unknown;
		} | null;
		if (receipt === null || wholeOf(receipt.status) !== 1) return null;
		return { block: whole(receipt.blockNumber), logs: logsOf(receipt.logs) };
	}

	async #searchUse(signed: Authorization, fromBlock: number | null, head: number): Promise<AuthorizationUse> {
		const lowest = Math.max(0, fromBlock ?? 0);
		// The search goes upwards where the use is close above a known block, else downwards.
		const upwards = fromBlock !== null;
		let start = upwards ? lowest : Math.max(0, head - SEARCH_BLOCKS + 1);
		for (let searches = 0; searches < MAX_SEARCHES; searches++) {
			const end = Math.min(head, start + SEARCH_BLOCKS - 1);
			const use = await this.#endBetween(signed, start, end, head);
			if (use !== null) return use;
			if (upwards ? end >= head : start === 0) break;
			start = upwards ? end + 1 : Math.max(0, start - SEARCH_BLOCKS);
		}
		return { kind: "unseen" };
	}

	async #endBetween(signed: Authorization, from: number, to: number, head: number): Promise<AuthorizationUse | null> {
		const filter = {
			address: this.network.asset,
			fromBlock: `0x${from.toString(16)}`,
			toBlock: `0x${to.toString(16)}`,
			topics: [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], `0x${word(signed.from)}`, signed.nonce],
		};
		const [log] = logsOf(await this.#rpc.call("eth_getLogs", [filter]));
		const receipt = log === undefined ? null : await this.#receipt(log.transaction);
		return receipt === null ? null : this.#endIn(receipt, signed, head);
	}

	/** Returns what a transaction did with the authorization; null if it did nothing. */
	#endIn({ block, logs }: Receipt, signed: Authorization, head: number): AuthorizationUse | null {
		const tokenLogs = logs.filter(({ address }) => address === this.network.asset.toLowerCase());
		const at = tokenLogs.findIndex(
			({ topics: [event, authorizer, nonce] }) =>
				(event === AUTHORIZATION_USED || event === AUTHORIZATION_CANCELED) &&
				authorizer === `0x${word(signed.from)}` &&
				nonce === signed.nonce,
		);
		const mark = tokenLogs[at];
		if (mark === undefined) return null;
		const next = tokenLogs[at + 1];
		const moved =
			mark.topics[0] === AUTHORIZATION_USED &&
			next !== undefined &&
			next.topics[0] === TRANSFER &&
			next.topics[1] === `0x${word(signed.from)}` &&
			next.topics[2] === `0x${word(signed.to)}` &&
			next.data === `0x${word(signed.value)}`;
		if (!moved) return { kind: "elsewhere", transaction: mark.transaction, block };
		return { kind: "transferred", transfer: { transaction: mark.transaction, block, logIndex: next.logIndex }, head };
	}
}

function whole(answer: unknown): number {
	const value = wholeOf(answer);
	if (value === null) throw new ChainUnavailable("the chain's node answered with something that is not a whole number");
	return value;
}

/** Returns the logs in order. Throws `ChainUnavailable` for anything else. */
function logsOf(answer: unknown): Log[] {
	if (!Array.isArray(answer)) throw new ChainUnavailable("the chain's node answered with something that is not a list of logs");
	const logs = answer.map((log: Readonly<Record<string, unknown>>) => ({
		address: String(log.address).toLowerCase(),
		topics: Array.isArray(log.topics) ? log.topics.map((topic) => String(topic).toLowerCase()) : [],
		data: String(log.data).toLowerCase(),
		logIndex: whole(log.logIndex),
		transaction: String(log.transactionHash).toLowerCase(),
	}));
	return logs.sort((one, other) => one.logIndex - other.logIndex);
}
